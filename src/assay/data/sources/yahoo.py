"""Yahoo Answers: questions labeled with their topic.

Ten topics, Zhang et al. 2015: a CSV of class, title, question and best answer, which are joined. If
the full corpus is not available, two small forms are read, and a note says so:
`yahoo_test1000_10class.txt` (`label text` per line, labels from 0; assay makes the splits) and,
with `topics=2`, `yahoo_2class_train.csv` and `yahoo_2class_test.csv` (text, label name; no header).
"""

from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import find_file, read_lines
from assay.data.formats import MIN_DF, class_name, read_class_csv, review_words
from assay.data.locate import data_path, first_of, folder_with, require_file
from assay.data.rows import read_csv_rows
from assay.errors import UserError

TOPICS = (
    "Society & Culture",
    "Science & Mathematics",
    "Health",
    "Education & Reference",
    "Computers & Internet",
    "Sports",
    "Business & Finance",
    "Entertainment & Music",
    "Family & Relationships",
    "Politics & Government",
)
OPTIONS = {"topics": "10"}
SAMPLE = "yahoo_test1000_10class.txt"
_LABEL_NAMES = {"society_culture": TOPICS[0], "science_mathematics": TOPICS[1]}
_FOLDERS = ("yahoo_answers_csv", "yahoo")


def _two_topics(path: Path, split: str) -> Iterator[Raw]:
    for number, row in enumerate(read_csv_rows(path), 1):
        if len(row) != 2 or row[1].strip() not in _LABEL_NAMES:
            raise UserError(
                f"{path}, row {number}: {len(row)} columns ending in '{row[-1][:60]}', but a text "
                f"and {' or '.join(_LABEL_NAMES)} are expected: correct the row."
            )
        yield Raw(f"{split}-{number}", review_words(row[0]), _LABEL_NAMES[row[1].strip()], split)


def _sample(path: Path) -> Iterator[Raw]:
    for number, line in enumerate(read_lines(path), 1):
        label, _, text = line.partition(" ")
        where = f"{path}, line {number}"
        if not (label.isascii() and label.isdecimal() and len(label) == 1):
            raise UserError(
                f"{where}: '{line[:60]}' does not begin with a label from 0 to 9: use the original "
                "file."
            )
        topic = class_name(str(int(label) + 1), TOPICS, where)
        yield Raw(f"sample-{number}", review_words(text), topic)


def _ten_topics(folder: Path, request: Request) -> Iterator[Raw]:
    if find_file(folder, "train.csv") is None and (sample := find_file(folder, SAMPLE)):
        request.notes.append(f"yahoo: {sample.name} is a sample without splits, so assay split it")
        yield from _sample(sample)
        return
    for split in ("train", "test"):
        path = require_file(folder, f"{split}.csv")
        for number, (topic, tokens) in enumerate(read_class_csv(path, TOPICS, texts=3), 1):
            yield Raw(f"{split}-{number}", tokens, topic, split)


def read(request: Request) -> Iterator[Raw]:
    """Yield the questions with their answers, of ten topics or of two."""
    folder = data_path(request)
    topics = request.options.get("topics", OPTIONS["topics"])
    if topics == "10":
        yield from _ten_topics(folder, request)
    elif topics == "2":
        for split in ("train", "test"):
            yield from _two_topics(require_file(folder, f"yahoo_2class_{split}.csv"), split)
    else:
        raise UserError(f"topics={topics} is not possible: give topics=10 or topics=2.")


SOURCE = Source(
    name="yahoo",
    title="Yahoo Answers: topic of a question (Zhang et al. 2015)",
    task="classification",
    size="1,400,000 train, 60,000 test",
    licence="Yahoo Webscope L6; research use",
    reads="yahoo_answers_csv/train.csv and test.csv: class, title, question, answer; or a sample",
    get="Get yahoo_answers_csv.tar.gz (Zhang et al. 2015) and unpack it in DATA.",
    read=read,
    locate=first_of(
        folder_with("train.csv", "test.csv", folders=_FOLDERS),
        folder_with((SAMPLE, "yahoo_2class_train.csv"), folders=_FOLDERS),
    ),
    options=OPTIONS,
    min_df=MIN_DF,
)
