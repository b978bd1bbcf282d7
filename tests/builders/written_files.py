"""Small files in the exact published formats, with invented content."""

import csv
import gzip
import io
import json
from pathlib import Path

STARS = ("1", "2", "3", "4", "5")
STORY = (
    "1 Mary went to the kitchen.\n2 Mary got the milk there.\n3 Mary moved to the office.\n"
    "4 Where is the milk? \toffice\t2 3\n"
)
READERS = (
    "babi1",
    "babi2",
    "babi3",
    "snli",
    "cnn",
    "yelp",
    "amazon",
    "yahoo",
    "imdb10",
    "diabetes",
    "anemia",
)
NOTE_HEADER = [
    "ROW_ID",
    "SUBJECT_ID",
    "HADM_ID",
    "CHARTDATE",
    "CHARTTIME",
    "STORETIME",
    "CATEGORY",
    "DESCRIPTION",
    "CGID",
    "ISERROR",
    "TEXT",
]
CODE_HEADER = ["ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE"]


def csv_text(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return out.getvalue()


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def pack(folder: Path) -> None:
    """Replace every file by its gzip version."""
    for path in sorted(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def note(hadm: str, text: str, **other: str) -> list[str]:
    """A row of NOTEEVENTS: by default a discharge report."""
    given = {"SUBJECT_ID": f"9{hadm}", "CHARTDATE": "2101-01-01", "DESCRIPTION": "Report"}
    row = given | {"HADM_ID": hadm, "CATEGORY": "Discharge summary", "TEXT": text} | other
    return [row.get(column, "") for column in NOTE_HEADER]


def _babi(task: int) -> dict[str, str]:
    kinds = {1: "single-supporting-fact", 2: "two-supporting-facts", 3: "three-supporting-facts"}
    stem = f"qa{task}_{kinds[task]}"
    return {f"{stem}_train.txt": STORY * 20, f"{stem}_test.txt": STORY * 4}


def _snli() -> str:
    labels = ("contradiction", "entailment", "neutral")
    texts = {"sentence1": "Two dogs run.", "sentence2": "A dog has 4 legs."}
    return "".join(json.dumps({"gold_label": label, **texts}) + "\n" for label in labels * 5)


def _cnn() -> str:
    one = "@placeholder won the cup\n@entity{}\n@entity1 beat @entity2 by far\n\n"
    return "".join(one.format(1 + i % 2) for i in range(10))


def _reviews(texts: int) -> str:
    columns = ["a fine thing", "and cheap\\nindeed"][:texts]
    return csv_text([[stars, *columns] for stars in STARS * 20])


def _topics() -> str:
    return csv_text([[str(c), "why", "is it so", "because"] for c in list(range(1, 11)) * 10])


def _imdb10() -> str:
    ratings = [str(1 + i % 10) for i in range(300)]
    return json.dumps([{"rating": r, "review": "a long film .", "title": "X"} for r in ratings])


def _mimic() -> dict[str, str]:
    text = "Admission Date: [**2101-10-20**]\nthe patient was well and went home"
    kinds = ["25000", "2851", "4019", "28521"] * 20
    codes = [[str(i), "1", str(100 + i), "1", code] for i, code in enumerate(kinds)]
    return {
        "NOTEEVENTS.csv": csv_text([NOTE_HEADER, *(note(row[2], text) for row in codes)]),
        "DIAGNOSES_ICD.csv": csv_text([CODE_HEADER, *codes]),
    }


def good_files(corpus: str) -> dict[str, str]:
    """File name -> content of a small valid corpus."""
    builders = {
        "babi1": lambda: _babi(1),
        "babi2": lambda: _babi(2),
        "babi3": lambda: _babi(3),
        "snli": lambda: {f"snli_1.0_{split}.jsonl": _snli() for split in ("train", "dev", "test")},
        "cnn": lambda: {f"{split}.txt": _cnn() for split in ("train", "dev", "test")},
        "yelp": lambda: {f"{split}.csv": _reviews(1) for split in ("train", "test")},
        "amazon": lambda: {f"{split}.csv": _reviews(2) for split in ("train", "test")},
        "yahoo": lambda: {f"{split}.csv": _topics() for split in ("train", "test")},
        "imdb10": lambda: {"imdb10.json": _imdb10()},
        "diabetes": _mimic,
        "anemia": _mimic,
    }
    return builders[corpus]()
