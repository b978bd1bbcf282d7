"""What does the document view read, and how many documents fit into the page?"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.report import chosen, packed
from assay.report.record import RunRecord

MOST_DOCUMENTS = 500  # a list that a reader can still search
LARGEST_SHARE = 10  # a document that alone would take a tenth of the room is not shown


@dataclass(frozen=True)
class Block:
    """The JSON for the page, and an account of what is not in it."""

    text: str
    shown: int
    considered: int
    too_long: int  # each alone would take too much of the room

    @property
    def left_out(self) -> int:
        return self.considered - self.shown


def block(record: RunRecord, room: int) -> Block:
    """As many documents as fit into `room` bytes, in the order of `chosen`.

    It ends with the first that does not fit: later, shorter ones do not jump the queue.
    """
    heading = packed.heading(record)
    room -= len(_text({**heading, "documents": []}).encode())
    longest, too_long = room // LARGEST_SHARE, 0
    taken: list[Any] = []
    for document in _candidates(record, heading):
        size = len(_text(document).encode()) + 1  # the comma
        if size > longest:
            too_long += 1
        elif size > room or len(taken) == MOST_DOCUMENTS:
            break
        else:
            taken.append(document)
            room -= size
    text = _text({**heading, "documents": taken})
    return Block(text, len(taken), len(record.instances), too_long)


def _candidates(record: RunRecord, heading: dict[str, Any]) -> Iterator[Any]:
    table = chosen.sortable(record)
    for place in chosen.order(record):
        yield packed.packed(table.row(place, named=True), heading, record.classes)


def _text(content: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
