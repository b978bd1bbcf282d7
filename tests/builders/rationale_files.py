"""Small files in the exact formats of the corpora with rationales."""

import json
from pathlib import Path

from tests.builders.small_corpora import number, write_members, write_tar
from tests.builders.written_files import csv_text, write

SPLITS = ("train", "dev", "test")


def pronoun(folder: Path) -> Path:
    lines = [
        f"M\tIn {number(i)} he lost his way .\nF\t{number(i)} and she by herself" for i in range(4)
    ]
    return write(folder, {f"{split}.txt": "\n".join(lines) + "\n" for split in SPLITS})


def sst_wiki(folder: Path) -> Path:
    texts = [f"1\tA Fine film {number(i)} .\n0\tdull {number(i)} A river ." for i in range(4)]
    files = {f"{split}.txt": "\n".join(texts) + "\n" for split in SPLITS}
    marks = "1 1 1 0 0\n1 0 0 0 0\n" * 4
    return write(folder, files | {f"{split}.txt.block": marks for split in SPLITS})


PARTS = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
HEADER = ["Input.label", "Input.text", "Answer.Q1Answer", "Answer.html_output"]


def review(name: str, label: str, *spans: tuple[int, int]) -> str:
    evidence = [{"docid": name, "start_token": start, "end_token": end} for start, end in spans]
    return json.dumps({"annotation_id": name, "classification": label, "evidences": [evidence]})


def movies(folder: Path, *, archive: bool = True) -> Path:
    texts: dict[str, bytes] = {}
    files: dict[str, str] = {}
    for split, file in PARTS.items():
        lines = []
        for i in range(4):
            good, bad = f"posR_{split}{i}.txt", f"negR_{split}{i}.txt"
            texts[f"docs/{good}"] = f"a fine film {number(i)} .\nso it is\n".encode()
            texts[f"docs/{bad}"] = f"dull {number(i)} from end to end\n".encode()
            lines += [review(good, "POS", (1, 3), (6, 8), (7, 7)), review(bad, "NEG")]
        files[file] = "\n".join(lines) + "\n"
    write(folder, files)
    if archive:
        write_tar(folder / "docs.tar.gz", texts)
    else:
        write_members(folder, texts)
    return folder


def spans(text: str, highlighted: set[str]) -> str:
    parts = [
        f'<span class="active">{w}</span>' if w in highlighted else f"<span>{w}</span>"
        for w in text.split()
    ]
    return " ".join([*parts, "<span></span>"])


def maps(folder: Path) -> Path:
    rows = []
    for i in range(12):
        text = f"Loved  the food, {number(i)} truly."
        for marked in ({"Loved", "food,"}, {"Loved", "food,", "the"}, {"Loved", "truly."}):
            rows.append(["1", text, "yes", spans(text, marked)])
        text = f"Never {number(100 + i)} again &amp; again!"
        for marked in ({"Never"}, {"Never", "again!"}):
            rows.append(["0", text.replace("&amp;", "&"), "no", spans(text, marked)])
    half = len(rows) // 2
    files = {
        "ham_part1_50words.csv": csv_text([HEADER, *rows[:half]]),
        "ham_part7.csv": csv_text([HEADER, *rows[half:]]),
    }
    return write(folder, files)
