"""How many stars does an Amazon review give?

Amazon Review Full of Zhang et al. 2015, five classes. Title and text are joined.
"""

from collections.abc import Iterator

from assay.data.corpus import Raw, Request, Source
from assay.data.formats import MIN_DF, read_class_csv
from assay.data.locate import data_path, folder_with, require_file

STARS = ("1", "2", "3", "4", "5")


def read(request: Request) -> Iterator[Raw]:
    """The reviews of the two files; dev is cut from train."""
    for split in ("train", "test"):
        path = require_file(data_path(request), f"{split}.csv")
        for number, (stars, tokens) in enumerate(read_class_csv(path, STARS, texts=2), 1):
            yield Raw(f"{split}-{number}", tokens, stars, split)


SOURCE = Source(
    name="amazon",
    title="stars of Amazon reviews",
    task="classification",
    size="3,000,000 / 650,000 reviews",
    licence="the reviewers' text; research use with citation (Zhang et al. 2015)",
    reads="amazon_review_full_csv/train.csv and test.csv: class, title, text, no header",
    get="Fetch amazon_review_full_csv (Zhang et al. 2015) and unpack it in the data folder.",
    read=read,
    locate=folder_with("train.csv", "test.csv", folders=("amazon_review_full_csv", "amazon")),
    classes=STARS,
    min_df=MIN_DF,
)
