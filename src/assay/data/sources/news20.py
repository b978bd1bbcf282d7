"""20 Newsgroups (bydate): is a post about baseball or about hockey? Two of the twenty groups.

Headers, footers and quotes are removed by scikit-learn's rules, as in the paper. The posts are then
split at random, not by date.
"""

import re
from collections.abc import Iterator

from assay.data.archives import read_texts
from assay.data.corpus import Raw, Request, Source
from assay.data.locate import archive_or_folder, data_path
from assay.data.text import mask_numbers, words

_POST = re.compile(r"(?:^|.*/)20news-bydate-(?:train|test)/rec\.sport\.(baseball|hockey)/(\d+)$")
ARCHIVES = ("20news-bydate_rec.sport.tar", "20news-bydate.tar")
FOLDERS = ("", "20news", "20news-bydate", "20news/20news-bydate")


def read(request: Request) -> Iterator[Raw]:
    """Yield the posts of both groups."""
    posts = read_texts(data_path(request), "latin-1", lambda name: _POST.match(name) is not None)
    # Sorted by name, so that an archive and its unpacked folder give the same corpus.
    for name, text in sorted(posts):
        match = _POST.match(name)
        assert match is not None  # other names were filtered out
        group, number = match.groups()
        tokens = mask_numbers(words(_body(text)))
        yield Raw(f"{group}/{number}", tokens, group)


def _body(text: str) -> str:
    from sklearn.datasets._twenty_newsgroups import (  # imported here: it is slow to load
        strip_newsgroup_footer,
        strip_newsgroup_header,
        strip_newsgroup_quoting,
    )

    without_header: str = strip_newsgroup_header(text)
    body: str = strip_newsgroup_quoting(strip_newsgroup_footer(without_header))
    return body


SOURCE = Source(
    name="20news",
    title="20 Newsgroups: baseball or hockey (Lang 1995)",
    task="classification",
    size="1,993 posts",
    licence="none stated; public Usenet posts of 1993",
    reads="the 20news-bydate folder or tar archive (rec.sport.baseball and rec.sport.hockey)",
    get="Get 20news-bydate.tar.gz at qwone.com/~jason/20Newsgroups and put it into DATA/20news.",
    read=read,
    locate=archive_or_folder("20news-bydate-train", ARCHIVES, FOLDERS),
    classes=("baseball", "hockey"),
    min_df=2,
    longer_than=6,
    shorter_than=500,
    test_fraction=0.2,
    dev_fraction=0.2,
    split_seed=13478,
)
