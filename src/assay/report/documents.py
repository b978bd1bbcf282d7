"""Which documents show best where attention and leave-one-out part ways, without any script?

Each stands under the model's weights and, as in Jain & Wallace's figure 1, under the furthest
weights that keep its prediction, both predictions beside them; then under leave-one-out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from markupsafe import escape

from assay.report.adversary import NAME as ADVERSARY
from assay.report.adversary import PAPER_EPS, eps_group
from assay.report.numbers import number
from assay.report.record import RunRecord
from assay.report.replayed import probability_under
from assay.report.words import in_figure, shown

MOST_DOCUMENTS = 5
MOST_ITEMS = 400  # a longer document is shown through a window
FEWEST_ITEMS = 6  # below this τ takes few values and reaches -1 by chance
LEVELS = 10  # steps of the heat map's colour
BYTES_FOR_ALL = 300_000  # of the page's 3 MB; the script of the figures takes 0.9
BYTES_PER_ITEM = 60  # the markup around one item
HEATS = {
    "attention": "attention",
    ADVERSARY: f"other weights, prediction within {PAPER_EPS[0]:g}",
    "leave_one_out": "leave-one-out",
}
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
    hue: str  # of attention or of its rivals
    items: tuple[Item, ...]
    largest: float
    outcome: str  # what the model predicts from these weights


@dataclass(frozen=True)
class Document:
    id: str
    prediction: str
    probability: float | None
    label: str
    tau: float | None
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
    if record.measured("agreement", DISAGREEMENT)["value"].is_null().all():
        return None
    if "leave_one_out" not in record.instances.columns:
        return None
    table = described(record)
    defined = table.filter(pl.col("tau").is_not_null(), pl.col("leave_one_out").is_not_null())
    long = defined.filter(pl.col("tokens").list.len() >= FEWEST_ITEMS)
    chosen = long if len(long) else defined
    ranked = chosen.sort("tau", "id").head(MOST_DOCUMENTS)
    drawn = [document(row, record.classes) for row in ranked.iter_rows(named=True)]
    kept = _within_budget(drawn)
    return Selection(
        documents=tuple(kept),
        considered=len(table),
        undefined=len(table) - len(defined),
        short=len(defined) - len(chosen),
        too_large=len(drawn) - len(kept),
    )


def described(record: RunRecord) -> pl.DataFrame:
    """The documents with their τ, and how far other weights go (`jsd`) and move them (`moved`)."""
    group = eps_group(PAPER_EPS[0])
    measured = {
        "tau": record.measured("agreement", DISAGREEMENT),
        "jsd": record.measured(ADVERSARY, "max_jsd", group),
        "moved": record.measured(ADVERSARY, "adversary_tvd", group),
    }
    return record.instances.with_columns(
        [values["value"].alias(name) for name, values in measured.items()]
    )


def document(row: dict[str, Any], classes: tuple[str, ...]) -> Document:
    """One row of `described`, ready to be drawn."""
    start = window(row["attention"])
    stop = min(start + MOST_ITEMS, len(row["tokens"]))
    place = classes.index(row["prediction"])
    return Document(
        id=shown(row["id"]),
        prediction=row["prediction"],
        probability=_recorded(row, place),
        label=row["label"],
        tau=row["tau"],
        query=" ".join(shown(word) for word in (row.get("query") or [])[:MOST_ITEMS]),
        heats=tuple(_heats(row, place, slice(start, stop))),
        first=start + 1,
        last=stop,
        length=len(row["tokens"]),
    )


def _heats(row: dict[str, Any], place: int, part: slice) -> Iterator[Heat]:
    yield _heat("attention", row, part, outcome=_predicts(row, _recorded(row, place)))
    if row.get(ADVERSARY) is not None:
        said = _predicts(row, probability_under(row, ADVERSARY, place))
        moved = f"TVD {number(row['moved'])}, JSD {number(row['jsd'])}"
        yield _heat(ADVERSARY, row, part, outcome=f"{said}, {moved}" if said else moved)
    if row.get("leave_one_out") is not None:
        yield _heat("leave_one_out", row, part, outcome="")


def _recorded(row: dict[str, Any], place: int) -> float | None:
    probabilities = row["probabilities"] or []
    return probabilities[place] if place < len(probabilities) else None


def _predicts(row: dict[str, Any], probability: float | None) -> str:
    return "" if probability is None else f"{in_figure(row['prediction'])} {number(probability)}"


def window(attention: Sequence[float], most: int = MOST_ITEMS) -> int:
    """Where the `most` neighbouring items begin that hold the most attention."""
    if len(attention) <= most:
        return 0
    total = np.concatenate([[0.0], np.cumsum(attention)])
    return int(np.argmax(total[most:] - total[:-most]))


def _heat(score: str, row: dict[str, Any], part: slice, outcome: str) -> Heat:
    """Levels are shares of the whole document's largest value, shown or not."""
    values = row[score]
    largest = max(values, default=0.0)
    scale = LEVELS / largest if largest > 0 else 0.0
    items = tuple(
        Item(shown(token), value, max(0, round(value * scale)))
        for token, value in zip(row["tokens"][part], values[part], strict=True)
    )
    hue = "attention" if score == "attention" else "rival"
    return Heat(HEATS[score], hue, items, largest, outcome)


def _within_budget(documents: list[Document]) -> list[Document]:
    """As many of the first documents as fit; a later, smaller one never jumps the queue."""
    sizes = np.cumsum([_bytes(document) for document in documents])
    return documents[: int(np.searchsorted(sizes, BYTES_FOR_ALL, side="right"))]


def _bytes(document: Document) -> int:
    items = [item for heat in document.heats for item in heat.items]
    texts = [document.query, *(item.text for item in items)]
    return sum(len(escape(text).encode()) for text in texts) + BYTES_PER_ITEM * len(items)
