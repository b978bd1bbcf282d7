"""Yelp reviews, labeled with one to five stars.

Yelp Review Full of Zhang et al. 2015 (class, text, no header), five classes. A second form has the
header `text,label1,label2`, with `Review Stars: 4.0` in `label2`. In that form a file `dev.csv`
without a `train.csv` is used for training, and dev is cut from it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.formats import MIN_DF, read_class_csv, review_words
from assay.data.locate import data_path, folder_with, require_file
from assay.data.rows import csv_header, read_csv_rows
from assay.errors import UserError

STARS = ("1", "2", "3", "4", "5")
HEADER = ["text", "label1", "label2"]
_STARS = re.compile(r"Review Stars: ([1-5])\.0")


def _with_header(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    for number, (text, label) in enumerate(read_csv_rows(path, ("text", "label2")), 1):
        stars = _STARS.fullmatch(label.strip())
        if stars is None:
            raise UserError(
                f"{path}, review {number}: label2 is '{label[:60]}', not 'Review Stars: N.0' with "
                "N from 1 to 5: correct the label."
            )
        yield stars[1], review_words(text)


def _reviews(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    if csv_header(path) == HEADER:
        return _with_header(path)
    return read_class_csv(path, STARS, texts=1)


def read(request: Request) -> Iterator[Raw]:
    """Yield the reviews of both files; dev is cut from train."""
    for split, names in (("train", ("train.csv", "dev.csv")), ("test", ("test.csv",))):
        path = require_file(data_path(request), *names)
        if split not in path.name:
            request.notes.append(f"yelp: {path.name} is used for training")
        for number, (stars, tokens) in enumerate(_reviews(path), 1):
            yield Raw(f"{split}-{number}", tokens, stars, split)


SOURCE = Source(
    name="yelp",
    title="Yelp reviews: 1 to 5 stars (Zhang et al. 2015)",
    task="classification",
    size="650,000 train, 50,000 test",
    licence="Yelp's terms: academic, non-commercial use",
    reads="yelp_review_full_csv/train.csv and test.csv: class, text; or text,label1,label2",
    get="Get yelp_review_full_csv.tar.gz (Zhang et al. 2015) and unpack it in DATA.",
    read=read,
    locate=folder_with(
        ("train.csv", "dev.csv"), "test.csv", folders=("yelp_review_full_csv", "yelp")
    ),
    classes=STARS,
    min_df=MIN_DF,
)
