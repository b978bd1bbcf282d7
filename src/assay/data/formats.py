"""File formats that several corpora share: class CSV files and lists of JSON objects.

The review and topic files of Zhang et al. 2015 are CSV files without a header: a class number from
1, then one or more text columns. Line breaks inside a text are written as a backslash and an n. The
text columns are joined by a blank, split into English words and lower-cased. Serrano & Smith keep
words that occur five times. Here a word is kept if five documents contain it (`min_df` 5), as in
every other corpus.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.data.files import BYTE_ORDER_MARK, decode, open_decompressed, refuse_lone_surrogates
from assay.data.rows import read_csv_rows, read_json_lines
from assay.data.text import words
from assay.errors import UserError

MIN_DF = 5


def review_words(text: str) -> tuple[str, ...]:
    """Lower-cased words; written-out line breaks count as blanks."""
    return words(text.replace("\\n", " ").replace("<br />", " "))


def read_class_csv(
    path: Path, classes: Sequence[str], texts: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (class name, words) per row; `texts` is the number of columns after the class."""
    for number, row in enumerate(read_csv_rows(path), 1):
        if len(row) != texts + 1:
            raise UserError(
                f"{path}, row {number}: {len(row)} columns, but a class and {texts} text "
                f"column{'s' if texts > 1 else ''} are expected: check that it is the right file."
            )
        yield class_name(row[0], classes, f"{path}, row {number}"), review_words(" ".join(row[1:]))


def class_name(given: str, classes: Sequence[str], where: str) -> str:
    """The name of a class that is given by its number, counted from 1."""
    numbers = {str(number): name for number, name in enumerate(classes, 1)}
    if given.strip() not in numbers:
        raise UserError(
            f"{where}: the class '{given[:60]}' is not a number from 1 to {len(classes)}: "
            "correct the label, or check that it is the right file (without a header)."
        )
    return numbers[given.strip()]


def read_json_list(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON list `[{...}, {...}]`, or of a file with one object per line."""
    with open_decompressed(path) as stream:
        text = decode(stream.read().removeprefix(BYTE_ORDER_MARK), "utf-8", str(path))
    if text.lstrip().startswith("{"):
        yield from read_json_lines(path)
        return
    for number, record in enumerate(_json_list(text, path), 1):
        where = f"{path}, object {number}"
        if not isinstance(record, dict):
            raise UserError(f"{where} is not a JSON object: write a list [{{...}}, {{...}}].")
        refuse_lone_surrogates(record, where)
        yield record


def _json_list(text: str, path: Path) -> list[Any]:
    if not text.strip():
        raise UserError(f"{path} is empty: put the data in it, or pass another file.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as fault:  # also a number of thousands of digits
        raise UserError(
            f"{path} is not JSON, or it is truncated ({fault}): download it again, or write a list "
            "of objects [{...}, {...}] or one object per line."
        ) from fault
    if not isinstance(value, list) or not value:
        raise UserError(
            f"{path} is not a list of JSON objects: write [{{...}}, {{...}}] or one object per "
            "line."
        )
    return value
