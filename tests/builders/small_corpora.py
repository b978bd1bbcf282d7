"""Small files in the exact format of the classification corpora."""

import io
import json
import random
import string
import tarfile
from collections.abc import Mapping
from pathlib import Path

FILLER = "it was a long day"
GOOD, BAD = f"a fine and joyful thing {FILLER}", f"a dull and broken thing {FILLER}"
ROWS = 20  # documents per class and file: enough for every class in every split


def number(i: int) -> str:
    """A long word that differs for each document, so that no two are near-duplicates."""
    return "".join(random.Random(i).choices(string.ascii_lowercase, k=60))


def good_and_bad() -> list[tuple[str, str]]:
    """(kind, text) of the documents of one file, all different."""
    return [
        (kind, f"{text} {number(2 * i + odd)}")
        for i in range(ROWS)
        for odd, (kind, text) in enumerate((("good", GOOD), ("bad", BAD)))
    ]


def write_tar(path: Path, members: Mapping[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def write_members(folder: Path, members: Mapping[str, bytes]) -> Path:
    for name, content in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def tree(label: int, text: str) -> str:
    words = text.split()
    inner = f"(2 {words[-1]})"
    for word in reversed(words[1:-1]):
        inner = f"(2 (2 {word}) {inner})"
    return f"({label} (2 {words[0]}) {inner})"


def sst(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        lines = [tree({"good": 4, "bad": 0}[kind], text) for kind, text in good_and_bad()]
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def imdb_members() -> dict[str, bytes]:
    return {
        f"aclImdb/{split}/{kind}/{i}_{rating}.txt": f"{text}<br /><br />{number(i)}".encode()
        for split in ("train", "test")
        for kind, rating, text in (("pos", 9, GOOD), ("neg", 2, BAD))
        for i in range(ROWS)
    }


def news_members() -> dict[str, bytes]:
    header = "From: someone@example.org\nSubject: match\n\n"
    return {
        f"20news-bydate-{split}/rec.sport.{group}/{base + i}": (
            f"{header}{text} {number(i)} caf\xe9\nmore of the game was played by all of them\n"
        ).encode("latin-1")
        for split, base in (("train", 100), ("test", 500))
        for group, text in (("baseball", GOOD), ("hockey", BAD))
        for i in range(ROWS)
    }


def agnews(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        rows = [
            f'"{topic}","Title {number(i)}","Item ""{i}"" {text}"'
            for i in range(ROWS)
            for topic, text in ((1, GOOD), (3, BAD), (2, FILLER))
        ]
        (folder / f"{split}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def ade(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    effect = "in a child.|rash|7|11|aspirin|20|27"
    positive = [f"{i}|Severe rash {number(i)} after use of aspirin {effect}" for i in range(ROWS)]
    rest = "was well after some days of rest."
    negative = [f"{i} NEG The child {number(i)} {rest}" for i in range(ROWS)]
    (folder / "DRUG-AE.rel").write_text("\n".join(positive) + "\n", encoding="utf-8")
    (folder / "ADE-NEG.txt").write_text("\n".join(negative) + "\n", encoding="utf-8")
    return folder


def rows() -> list[dict[str, str]]:
    return [{"text": text, "label": str(int(kind == "good"))} for kind, text in good_and_bad()]


def csv_text(records: list[dict[str, str]], delimiter: str = ",") -> str:
    lines = [delimiter.join(records[0])]
    lines += [delimiter.join(record.values()) for record in records]
    return "\n".join(lines) + "\n"


def json_text(records: list[dict[str, str]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def write_corpus(name: str, folder: Path) -> Path:
    """Write a small valid corpus into the folder; returns the path to pass as `data`."""
    if name == "sst":
        return sst(folder / "sst")
    if name == "agnews":
        return agnews(folder / "ag_news")
    if name == "adr":
        return ade(folder / "ade_corpus_v2")
    folder.mkdir(parents=True, exist_ok=True)
    if name == "imdb":
        return write_tar(folder / "aclImdb_v1.tar.gz", imdb_members())
    if name == "20news":
        return write_tar(folder / "20news-bydate.tar.gz", news_members())
    path = folder / "mine.csv"
    path.write_text(csv_text(rows()), encoding="utf-8")
    return path
