"""Documents as static heat maps: the worst cases for readers without script, and one example.

Each document is shown under the model's weights and, as in Jain & Wallace's figure 1, under the
furthest alternative weights that keep its prediction, with both predictions, then under
leave-one-out. `select` takes the documents on which attention and leave-one-out agree least.
`typical` takes one that is neither the worst case nor the best: of the correctly predicted
documents short enough for a figure, the one whose largest JSD is the median (the lower of two).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from markupsafe import escape

from assay.evidence import SHOWN_EPS
from assay.report.sections.adversary import NAME as ADVERSARY
from assay.report.sections.adversary import eps_group
from assay.report.text import in_figure, number, shown
from assay.runs.directory import RunRecord

MOST_DOCUMENTS = 5
MOST_ITEMS = 400  # a longer document is shown through a window
FEWEST_ITEMS = 6  # below this τ takes few values and reaches -1 by chance
MOST_IN_FIGURE = 40  # items
LEVELS = 10  # steps of the heat map's color
BYTES_FOR_ALL = 300_000  # of the page's 3 MB; the script of the figures takes 0.9
BYTES_PER_ITEM = 60  # the markup around one item
HEATS = {
    "attention": "attention",
    ADVERSARY: f"alternative weights, prediction within {SHOWN_EPS:g}",
    "leave_one_out": "leave-one-out",
}
DISAGREEMENT = "tau_attention_leave_one_out"
LENGTH = pl.col("tokens").list.len().alias("length")
LEFT_OUT = pl.col("leave_one_out").is_not_null().alias("left_out")


@dataclass(frozen=True)
class Item:
    text: str
    value: float
    level: int  # 0 to LEVELS, as a share of the document's largest value


@dataclass(frozen=True)
class Heat:
    """One score over the items of one document."""

    name: str
    hue: str  # "attention", or "comparison" for everything that attention is compared with
    items: tuple[Item, ...]
    largest: float
    outcome: str  # what the model predicts from these weights


@dataclass(frozen=True)
class ShownDocument:
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
class DocumentSelection:
    """The documents shown, and the numbers of those left out."""

    documents: tuple[ShownDocument, ...]
    considered: int
    undefined: int  # without τ
    short: int
    too_large: int  # left out so that the page stays small


def probability_under(row: Mapping[str, Any], weights: str, place: int) -> float | None:
    """The probability of the class at `place` under a document's `weights`.

    None where the head is not affine. An affine head's logits are bias + sum of weight times token
    logits. A single logit belongs to the second of two classes.
    """
    if row.get("token_logits") is None or row.get("bias") is None:
        return None
    logits = np.asarray(row["bias"]) + np.asarray(row[weights]) @ np.asarray(row["token_logits"])
    both = np.array([0.0, logits[0]]) if len(logits) == 1 else logits
    shares = np.exp(both - both.max())
    return float(shares[place] / shares.sum()) if place < len(shares) else None


def select(record: RunRecord) -> DocumentSelection | None:
    """The documents with the lowest τ; None where leave-one-out was not measured."""
    if record.measured("agreement", DISAGREEMENT)["value"].is_null().all():
        return None
    if "leave_one_out" not in record.instances.columns:
        return None
    table = with_measures(record)
    # Of a large run, the lists of all documents are copied only once they are chosen.
    narrow = table.lazy().with_row_index("place").select("place", "id", "tau", LENGTH, LEFT_OUT)
    defined = narrow.filter(pl.col("tau").is_not_null(), "left_out").collect()
    long = defined.filter(pl.col("length") >= FEWEST_ITEMS)
    eligible = long if len(long) else defined
    ranked = table[eligible.sort("tau", "id").head(MOST_DOCUMENTS)["place"]]
    drawn = [shown_document(row, record.classes) for row in ranked.iter_rows(named=True)]
    kept = _within_budget(drawn)
    return DocumentSelection(
        documents=tuple(kept),
        considered=len(table),
        undefined=len(table) - len(defined),
        short=len(defined) - len(eligible),
        too_large=len(drawn) - len(kept),
    )


def typical(record: RunRecord) -> ShownDocument | None:
    """The example; None where no document has alternative weights and the right length."""
    row = typical_row(record)
    return None if row is None else shown_document(row, record.classes)


def typical_row(record: RunRecord) -> dict[str, Any] | None:
    if ADVERSARY not in record.instances.columns:
        return None
    table = with_measures(record)
    fitting = (
        table.lazy()
        .with_row_index("place")
        .filter(
            pl.col(ADVERSARY).is_not_null(),
            pl.col("jsd").is_not_null(),
            LENGTH.is_between(FEWEST_ITEMS, MOST_IN_FIGURE),
            pl.col("prediction") == pl.col("label"),
        )
    )
    ranked = fitting.select("place", "jsd", "id").sort("jsd", "id").collect()
    if ranked.is_empty():
        return None
    return table.row(ranked["place"][(len(ranked) - 1) // 2], named=True)


def typical_place(record: RunRecord) -> int | None:
    """The row of `instances` with which the document view opens; None if there is no document.

    It is the example. Where there is none, it is the document of median confidence among those of
    the right length, if there are any.
    """
    if record.instances.is_empty():
        return None
    row = typical_row(record)
    if row is not None:
        return record.instances["id"].index_of(row["id"])
    confidence = pl.col("probabilities").list.max().alias("confidence")
    table = record.instances.select("id", LENGTH, confidence).with_row_index("place")
    fitting = table.filter(pl.col("length").is_between(FEWEST_ITEMS, MOST_IN_FIGURE))
    ranked = (fitting if len(fitting) else table).sort("confidence", "id")
    return int(ranked["place"][(len(ranked) - 1) // 2])


def with_measures(record: RunRecord) -> pl.DataFrame:
    """The documents with their τ, and the JSD (`jsd`) and TVD (`moved`) of alternative weights."""
    group = eps_group(SHOWN_EPS)
    measured = {
        "tau": record.measured("agreement", DISAGREEMENT),
        "jsd": record.measured(ADVERSARY, "max_jsd", group),
        "moved": record.measured(ADVERSARY, "adversary_tvd", group),
    }
    return record.instances.with_columns(
        [values["value"].alias(name) for name, values in measured.items()]
    )


def shown_document(row: dict[str, Any], classes: tuple[str, ...]) -> ShownDocument:
    """One row of `with_measures`, ready to be drawn."""
    start = window(row["attention"])
    stop = min(start + MOST_ITEMS, len(row["tokens"]))
    place = classes.index(row["prediction"])
    return ShownDocument(
        id=shown(row["id"]),
        prediction=row["prediction"],
        probability=_recorded_probability(row, place),
        label=row["label"],
        tau=row["tau"],
        query=" ".join(shown(word) for word in (row.get("query") or [])[:MOST_ITEMS]),
        heats=tuple(_heats(row, place, slice(start, stop))),
        first=start + 1,
        last=stop,
        length=len(row["tokens"]),
    )


def window(attention: Sequence[float], most: int = MOST_ITEMS) -> int:
    """The start of the `most` adjacent items that hold the most attention."""
    if len(attention) <= most:
        return 0
    total = np.concatenate([[0.0], np.cumsum(attention)])
    return int(np.argmax(total[most:] - total[:-most]))


def _heats(row: dict[str, Any], place: int, part: slice) -> Iterator[Heat]:
    own = _predicts(row, _recorded_probability(row, place))
    yield _heat("attention", row, part, outcome=own)
    if row.get(ADVERSARY) is not None:
        predicts = _predicts(row, probability_under(row, ADVERSARY, place))
        moved = (
            f"moved by {100 * row['moved']:.1f} points of probability, weights by "
            f"{number(row['jsd'])} (JSD, at most 0.69)"
        )
        yield _heat(ADVERSARY, row, part, outcome=f"{predicts}, {moved}" if predicts else moved)
    if row.get("leave_one_out") is not None:
        yield _heat("leave_one_out", row, part, outcome="")


def _recorded_probability(row: dict[str, Any], place: int) -> float | None:
    probabilities = row["probabilities"] or []
    return probabilities[place] if place < len(probabilities) else None


def _predicts(row: dict[str, Any], probability: float | None) -> str:
    return "" if probability is None else f"{in_figure(row['prediction'])} {number(probability)}"


def _heat(score: str, row: dict[str, Any], part: slice, outcome: str) -> Heat:
    """Levels are shares of the whole document's largest value, shown or not."""
    values = row[score]
    largest = max(values, default=0.0)
    scale = LEVELS / largest if largest > 0 else 0.0
    items = tuple(
        Item(shown(token), value, max(0, round(value * scale)))
        for token, value in zip(row["tokens"][part], values[part], strict=True)
    )
    hue = "attention" if score == "attention" else "comparison"
    return Heat(HEATS[score], hue, items, largest, outcome)


def _within_budget(documents: list[ShownDocument]) -> list[ShownDocument]:
    """As many of the first documents as fit; a later one never takes an earlier one's place."""
    sizes = np.cumsum([_bytes(document) for document in documents])
    return documents[: int(np.searchsorted(sizes, BYTES_FOR_ALL, side="right"))]


def _bytes(document: ShownDocument) -> int:
    items = [item for heat in document.heats for item in heat.items]
    texts = [document.query, *(item.text for item in items)]
    return sum(len(escape(text).encode()) for text in texts) + BYTES_PER_ITEM * len(items)
