"""Which rating does a film review give: 1 to 4 or 7 to 10?

The same files as `imdb`, whose names end in the rating: `ID_RATING.txt`. Eight classes, for
aclImdb holds no review rated 5 or 6. Words and punctuation marks are kept, so that sentences can
be told apart; words as in `class_csv`: lower-cased, `min_df` 5. This is another corpus than
`imdb10`: its numbers do not belong beside those published of that one without saying so.
"""

import re
from collections.abc import Iterator

from assay.archives import texts_below
from assay.corpora.class_csv import MIN_DF, review_words
from assay.corpora.imdb import ARCHIVES, BREAK, FOLDERS
from assay.corpora.needed import folder_of
from assay.corpora.places import archive_or_folder
from assay.corpora.source import Raw, Request, Source

RATINGS = ("1", "2", "3", "4", "7", "8", "9", "10")
_REVIEW = re.compile(r"(?:^|.*/)(train|test)/(?:pos|neg)/(\d+)_(\d+)\.txt$")


def read(request: Request) -> Iterator[Raw]:
    """Every rated review; the split is the files' own."""
    path = folder_of(request)
    request.said.append(f"imdb_ratings: read from {path.name}")
    texts = texts_below(path, "utf-8", lambda name: _REVIEW.match(name) is not None)
    # By name: an archive and its unpacked folder then give the same corpus.
    for name, text in sorted(texts):
        found = _REVIEW.match(name)
        assert found is not None  # only such names are wanted
        split, number, rating = found.groups()
        # Numbers start anew in `pos` and `neg`; the rating tells them apart.
        yield Raw(f"{split}/{number}_{rating}", review_words(BREAK.sub(" ", text)), rating, split)


SOURCE = Source(
    name="imdb_ratings",
    title="IMDb film reviews, ratings 1 to 4 and 7 to 10 (Maas et al. 2011)",
    task="classification",
    size="25,000 / 25,000 reviews",
    licence="research use with citation (Stanford AI Lab)",
    reads="the aclImdb folder or tar archive: the rating is in each file's name",
    get="Get aclImdb_v1.tar.gz at ai.stanford.edu/~amaas/data/sentiment; put it into DATA/imdb.",
    read=read,
    locate=archive_or_folder("train/pos", ARCHIVES, FOLDERS),
    classes=RATINGS,
    min_df=MIN_DF,
    dev_fraction=0.1,
)
