"""Does a newsgroup post speak of baseball or of hockey? Two groups of 20 Newsgroups (bydate).

Headers, footers and quotes are removed by scikit-learn's own rules, as in the paper; the
posts are then split anew, not by date.
"""

import re
from collections.abc import Iterator

from assay.data.corpus import Raw, Request, Source
from assay.data.files import read_texts
from assay.data.locate import archive_or_folder, data_path
from assay.data.text import mask_numbers, words

_POST = re.compile(r"(?:^|.*/)20news-bydate-(?:train|test)/rec\.sport\.(baseball|hockey)/(\d+)$")
ARCHIVES = ("20news-bydate_rec.sport.tar", "20news-bydate.tar")
FOLDERS = ("", "20news", "20news-bydate", "20news/20news-bydate")


def read(request: Request) -> Iterator[Raw]:
    posts = read_texts(data_path(request), "latin-1", lambda name: _POST.match(name) is not None)
    # By name: an archive and its unpacked folder then give the same corpus.
    for name, text in sorted(posts):
        found = _POST.match(name)
        assert found is not None  # only such names are wanted
        group, number = found.groups()
        tokens = mask_numbers(words(_body(text)))
        yield Raw(f"{group}/{number}", tokens, group)


def _body(text: str) -> str:
    from sklearn.datasets._twenty_newsgroups import (  # imported when met: it is slow to load
        strip_newsgroup_footer,
        strip_newsgroup_header,
        strip_newsgroup_quoting,
    )

    without_header: str = strip_newsgroup_header(text)
    body: str = strip_newsgroup_quoting(strip_newsgroup_footer(without_header))
    return body


SOURCE = Source(
    name="20news",
    title="20 Newsgroups, baseball or hockey (Lang 1995)",
    task="classification",
    size="1,993",
    licence="none stated; public Usenet posts of 1993",
    reads="the 20news-bydate folder or tar archive (rec.sport.baseball and rec.sport.hockey)",
    get="Get 20news-bydate.tar.gz at qwone.com/~jason/20Newsgroups; put it into DATA/20news.",
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
