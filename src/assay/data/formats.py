"""What do the review and topic files of Zhang et al. 2015 hold?

CSV without a header: a class number from 1, then one or more text columns. Line breaks inside
a text are spelt as a backslash and an n. The text columns are joined by a blank, split into
English words and lower-cased. Serrano & Smith keep words that occur five times; we keep words
that five documents hold (`min_df` 5), as everywhere in this package.

How does one read a list of JSON objects without holding all of it?

Objects are decoded one by one from a window over the text; JSON lines are accepted as well.
"""

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.data.files import opened, read_csv_rows
from assay.data.text import words
from assay.errors import UserError

MIN_DF = 5


def review_words(text: str) -> tuple[str, ...]:
    """Lower-cased words; spelt-out line breaks are blanks."""
    return words(text.replace("\\n", " ").replace("<br />", " "))


def read_class_csv(
    path: Path, classes: Sequence[str], texts: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(class name, words) per row; `texts` is the number of columns after the class."""
    for number, row in enumerate(read_csv_rows(path), 1):
        if len(row) != texts + 1:
            raise UserError(
                f"{path}, row {number}: {len(row)} columns where a class and {texts} text "
                f"column{'s' if texts > 1 else ''} are expected: check that it is the right file."
            )
        yield class_name(row[0], classes, f"{path}, row {number}"), review_words(" ".join(row[1:]))


def class_name(given: str, classes: Sequence[str], where: str) -> str:
    """The name of a class given by its number from 1."""
    numbers = {str(number): name for number, name in enumerate(classes, 1)}
    if given.strip() not in numbers:
        raise UserError(
            f"{where}: the class '{given[:60]}' is not a number from 1 to {len(classes)}: "
            "mend the label, or check that it is the right file (without a header)."
        )
    return numbers[given.strip()]


_CHUNK = 1 << 20
_LONGEST_OBJECT = 1 << 26  # characters; what is not closed by then never will be
_BETWEEN = re.compile(r"[\s,]*")
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")


def _chunks(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    with opened(path) as stream:
        try:
            while data := stream.read(_CHUNK):
                yield decoder.decode(data)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as fault:
            raise UserError(f"{path} is not UTF-8 text ({fault.reason}): convert it.") from fault


def _whole_objects(window: str) -> Iterator[tuple[dict[str, Any], int]]:
    """The objects that the window holds whole, each with the place where it ends."""
    decoder, place = json.JSONDecoder(), 0
    while window.startswith("{", place := _skip(window, place)):
        try:
            record, end = decoder.raw_decode(window, place)
        except (json.JSONDecodeError, RecursionError):
            return  # it may go on in the next chunk
        yield record, end
        place = end


def _skip(window: str, place: int) -> int:
    between = _BETWEEN.match(window, place)
    return between.end() if between else place


def read_json_list(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of `[{...}, {...}]`, or of one object per line."""
    window, number, closing = "", 0, ""
    for chunk in _chunks(path):
        window += chunk
        if number == 0 and not closing and window.lstrip().startswith("["):
            window, closing = window.lstrip()[1:], "]"
        read_to = 0
        for record, end in _whole_objects(window):
            number, read_to = number + 1, end
            _refuse_half_characters(record, f"{path}, object {number}")
            yield record
        window = window[_skip(window, read_to) :]
        if len(window) > _LONGEST_OBJECT:
            break
    if window.strip() != closing or number == 0:
        raise UserError(
            f"{path}: no whole JSON object after the first {number}: it must be a list of objects "
            "such as [{...}, {...}], or one object per line; fetch or write it again."
        )


def _refuse_half_characters(record: dict[str, Any], where: str) -> None:
    # An escape such as \ud800 alone is valid JSON but no character, and cannot be written again.
    if any(isinstance(text, str) and _HALF_CHARACTER.search(text) for text in record.values()):
        raise UserError(f"{where} holds half of a character pair: mend that escape.")
