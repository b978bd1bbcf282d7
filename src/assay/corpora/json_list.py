"""How does one read a list of JSON objects without holding all of it?

Objects are decoded one by one from a window over the text; JSON lines are accepted as well.
"""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import UserError
from assay.files import opened

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
