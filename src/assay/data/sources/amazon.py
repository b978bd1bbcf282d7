"""Amazon reviews, labeled with one to five stars.

Amazon Review Full of Zhang et al. 2015, five classes. Title and text are joined.
"""

from collections.abc import Iterator

from assay.data.corpus import Raw, Request, Source
from assay.data.formats import MIN_DF, read_class_csv
from assay.data.locate import data_path, folder_with, require_file

STARS = ("1", "2", "3", "4", "5")


def read(request: Request) -> Iterator[Raw]:
    """Yield the reviews of both files; dev is cut from train."""
    for split in ("train", "test"):
        path = require_file(data_path(request), f"{split}.csv")
        for number, (stars, tokens) in enumerate(read_class_csv(path, STARS, texts=2), 1):
            yield Raw(f"{split}-{number}", tokens, stars, split)


SOURCE = Source(
    name="amazon",
    title="Amazon reviews: 1 to 5 stars (Zhang et al. 2015)",
    task="classification",
    size="3,000,000 train, 650,000 test",
    licence="the reviewers' text; research use with citation (Zhang et al. 2015)",
    reads="amazon_review_full_csv/train.csv and test.csv: class, title, text, no header",
    get="Get amazon_review_full_csv.tar.gz (Zhang et al. 2015) and unpack it in DATA.",
    read=read,
    locate=folder_with("train.csv", "test.csv", folders=("amazon_review_full_csv", "amazon")),
    classes=STARS,
    min_df=MIN_DF,
)
