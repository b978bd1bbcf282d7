"""Which documents show best where attention and leave-one-out part ways, and how are they drawn?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from markupsafe import escape

from assay.report.record import RunRecord
from assay.report.words import shown

MOST_DOCUMENTS = 20
MOST_ITEMS = 400  # a longer document is shown through a window
FEWEST_ITEMS = 6  # below this τ takes few values and reaches -1 by chance
LEVELS = 10  # steps of the heat map's colour
BYTES_FOR_ALL = 2_000_000  # of the page's 3 MB
BYTES_PER_ITEM = 60  # the markup around one item
DISAGREEMENT = "tau_attention_leave_one_out"


@dataclass(frozen=True)
class Item:
    text: str
    value: float
    level: int  # 0 to LEVELS, as a share of the document's largest value


@dataclass(frozen=True)
class Heat:
    """One score over the items of one document."""

    name: str
    items: tuple[Item, ...]
    largest: float


@dataclass(frozen=True)
class Document:
    id: str
    prediction: str
    probability: float | None
    label: str
    tau: float
    query: str
    heats: tuple[Heat, ...]
    first: int  # counted from one
    last: int
    length: int


@dataclass(frozen=True)
class Selection:
    """The documents shown, and an account of those that are not."""

    documents: tuple[Document, ...]
    considered: int
    undefined: int  # without τ
    short: int
    too_large: int  # left out so that the page stays small


def select(record: RunRecord) -> Selection | None:
    """The documents with the lowest τ; None where leave-one-out was not measured."""
    measured = record.measured("agreement", DISAGREEMENT)
    if measured.is_empty() or "leave_one_out" not in record.instances.columns:
        return None
    table = record.instances.join(measured.select("id", tau="value"), on="id")
    defined = table.filter(pl.col("tau").is_not_null(), pl.col("leave_one_out").is_not_null())
    long = defined.filter(pl.col("tokens").list.len() >= FEWEST_ITEMS)
    chosen = long if len(long) else defined
    ranked = chosen.sort("tau", "id").head(MOST_DOCUMENTS)
    drawn = [_document(row, record.classes) for row in ranked.iter_rows(named=True)]
    kept = _within_budget(drawn)
    return Selection(
        documents=tuple(kept),
        considered=len(table),
        undefined=len(table) - len(defined),
        short=len(defined) - len(chosen),
        too_large=len(drawn) - len(kept),
    )


def _document(row: dict[str, Any], classes: tuple[str, ...]) -> Document:
    start = window(row["attention"])
    stop = min(start + MOST_ITEMS, len(row["tokens"]))
    place = classes.index(row["prediction"])
    probabilities = row["probabilities"] or []
    names = {"attention": "attention", "leave-one-out": "leave_one_out"}
    return Document(
        id=shown(row["id"]),
        prediction=row["prediction"],
        probability=probabilities[place] if place < len(probabilities) else None,
        label=row["label"],
        tau=row["tau"],
        query=" ".join(shown(word) for word in (row.get("query") or [])[:MOST_ITEMS]),
        heats=tuple(
            _heat(said, row["tokens"], row[column], slice(start, stop))
            for said, column in names.items()
        ),
        first=start + 1,
        last=stop,
        length=len(row["tokens"]),
    )


def window(attention: Sequence[float], most: int = MOST_ITEMS) -> int:
    """Where the `most` neighbouring items begin that hold the most attention."""
    if len(attention) <= most:
        return 0
    total = np.concatenate([[0.0], np.cumsum(attention)])
    return int(np.argmax(total[most:] - total[:-most]))


def _heat(name: str, tokens: list[str], values: list[float], part: slice) -> Heat:
    """Levels are shares of the whole document's largest value, shown or not."""
    largest = max(values, default=0.0)
    scale = LEVELS / largest if largest > 0 else 0.0
    items = tuple(
        Item(shown(token), value, max(0, round(value * scale)))
        for token, value in zip(tokens[part], values[part], strict=True)
    )
    return Heat(name, items, largest)


def _within_budget(documents: list[Document]) -> list[Document]:
    """As many of the first documents as fit; a later, smaller one never jumps the queue."""
    sizes = np.cumsum([_bytes(document) for document in documents])
    return documents[: int(np.searchsorted(sizes, BYTES_FOR_ALL, side="right"))]


def _bytes(document: Document) -> int:
    items = [item for heat in document.heats for item in heat.items]
    texts = [document.query, *(item.text for item in items)]
    return sum(len(escape(text).encode()) for text in texts) + BYTES_PER_ITEM * len(items)
