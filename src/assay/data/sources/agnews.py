"""AG News: is a news item about the world or about business? Two of the four topics.

The original files hold class, title and description; only the description is used. In the file
`train_subset.csv` title and description are joined in one field; then both are used in train and
test.
"""

from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.locate import data_path, folder_with, require_file
from assay.data.rows import read_csv_rows
from assay.data.text import mask_numbers, words
from assay.errors import UserError

TOPICS = {"1": "World", "2": "Sports", "3": "Business", "4": "Sci/Tech"}
CLASSES = ("World", "Business")
FIELDS = 3
JOINED = "train_subset.csv"


def read(request: Request) -> Iterator[Raw]:
    """Yield the news items of both files; dev is cut from train."""
    folder = data_path(request)
    train = require_file(folder, "train.csv", JOINED)
    test = require_file(folder, "test.csv")
    joined = train.name.startswith(JOINED)
    if joined:
        request.notes.append(
            f"agnews: {train.name} holds title and description in one field, so both are used "
            "in train and in test"
        )
    yield from _items(train, "train", *((1, 2) if joined else (2, 3)), request)
    yield from _items(test, "test", *((1, 3) if joined else (2, 3)), request)


def _items(path: Path, split: str, start: int, end: int, request: Request) -> Iterator[Raw]:
    """Documents whose text is the fields from `start` up to `end`."""
    for number, row in enumerate(read_csv_rows(path), 1):
        if number == 1 and not row[0].strip().isdigit():
            request.notes.append(f"agnews: the first row of {path.name} was taken for a header")
            continue
        if len(row) != FIELDS or row[0] not in TOPICS:
            raise UserError(
                f"{path}, row {number}: expected a class from 1 to 4 and two further fields, "
                f"found {len(row)} fields with the class '{row[0]}': use the original files."
            )
        topic = TOPICS[row[0]]
        if topic not in CLASSES:
            request.dropped["another topic than World and Business"] += 1
            continue
        tokens = mask_numbers(words(" ".join(row[start:end])))
        yield Raw(f"{split}-{number}", tokens, topic, split)


SOURCE = Source(
    name="agnews",
    title="AG News: World or Business (Zhang et al. 2015)",
    task="classification",
    size="60,000 train, 3,800 test",
    licence="research and other non-commercial use",
    reads="train.csv (or train_subset.csv) and test.csv: class, title, description, no header",
    get="Get ag_news_csv.tar.gz (Zhang et al. 2015, github.com/zhangxiangxiao/Crepe) and put "
    "train.csv and test.csv into DATA/ag_news.",
    read=read,
    locate=folder_with(
        ("train.csv", JOINED), "test.csv", folders=("ag_news", "agnews", "ag_news_csv")
    ),
    classes=CLASSES,
    min_df=5,
)
