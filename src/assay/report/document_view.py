"""The data of the page's document view: which documents it holds, and how they are packed.

When not all documents fit, every second one is drawn by lot, so that a reader who leafs through
sees usual cases; the others come from both ends of every key that the list can be sorted by, so
that the extremes are there.

Weights and logits are little-endian float32 in base64, or float64 in documents where float32 would
move a logit noticeably, because the page recomputes predictions from them. Other scores are only
shown: they are 16-bit integers, as shares of the document's largest value.

Some documents show a kind of failure; readers can filter by them (`KINDS`).
"""

import base64
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np
import polars as pl

from assay.report.documents import typical_place, with_measures
from assay.report.sections.adversary import NAME as ADVERSARY
from assay.report.text import score, shown
from assay.runs.directory import RunRecord

KINDS = {  # a kind of failure: what puts a document into it
    "different heat map, same answer": "weights more than half of the way to no shared item "
    "(JSD above 0.347) leave the prediction within 0.01",
    "shuffling changes nothing": "the median change of the prediction is below 0.05 (TVD)",
    "top word irrelevant": "leave-one-out ranks the word with the largest weight in the lower half",
    "confidently wrong": "the prediction is wrong with a probability of at least 0.9",
}
HALF_OF_ALL = math.log(2) / 2  # JSD
NOTHING = 0.05  # TVD, as for the claim that the prediction depends on the weights
CONFIDENT = 0.9
SORTS = {  # column: its name in the list
    "tau": "rank agreement with leave-one-out (τ)",
    "jsd": "distance of other weights (JSD)",
    "shuffled": "change when shuffled (TVD)",
    "confidence": "confidence",
    "length": "number of items",
}
DERIVED = ("confidence", "length")  # keys that the page computes itself
WEIGHTS = ("attention", ADVERSARY)
NOT_SHOWN = (*WEIGHTS, "random")  # among the scores
FULL = 32767  # the share of the largest value; its negative below zero
MISSING = -32768  # a value that does not exist
NOTICEABLE = 2e-7  # of a logit: a fifth of the agreement that is promised
DIGITS = 6  # of numbers that are only shown
LONGEST_CLASS = 60  # characters
MOST_DOCUMENTS = 1000  # a list that a reader can still search
LARGEST_SHARE = 10  # a document that alone would take a tenth of the room is not shown


@dataclass(frozen=True)
class DocumentData:
    """The JSON for the page, and the numbers of documents that are in it and not in it."""

    text: str
    shown: int
    considered: int
    too_long: int  # each alone would take too much of the room

    @property
    def left_out(self) -> int:
        return self.considered - self.shown


def document_data(record: RunRecord, room: int) -> DocumentData:
    """As many documents as fit into `room` bytes, in the order of `order`.

    The list ends with the first that does not fit: later, shorter ones do not take its place.
    """
    shared = heading(record)
    room -= len(_text({**shared, "documents": []}).encode())
    longest, too_long = room // LARGEST_SHARE, 0
    packed: list[Any] = []
    for document in _candidates(record, shared):
        size = len(_text(document).encode()) + 1  # the comma
        if size > longest:
            too_long += 1
        elif size > room or len(packed) == MOST_DOCUMENTS:
            break
        else:
            packed.append(document)
            room -= size
    text = _text({**shared, "documents": packed})
    return DocumentData(text, len(packed), len(record.instances), too_long)


def sortable(record: RunRecord) -> pl.DataFrame:
    """The documents by their place, with every key of `SORTS`; null where not measured."""
    return (
        with_measures(record)
        .with_row_index("place")
        .with_columns(
            shuffled=record.measured("permutation", "median_tvd")["value"],
            confidence=pl.col("probabilities").list.max(),
            length=pl.col("tokens").list.len(),
        )
    )


def order(record: RunRecord) -> list[int]:
    """The rows of `instances` in the order in which the page takes them."""
    turns = chain.from_iterable(zip_longest(by_lot(record), _extremes(sortable(record))))
    places = [*_example(record), *(place for place in turns if place is not None)]
    return list(dict.fromkeys(places))


def by_lot(record: RunRecord) -> list[int]:
    """All rows of `instances` in random order. Figures plot the first of them.

    The page takes its documents in the same order, so a plotted point has its document.
    """
    rng = np.random.default_rng(record.manifest.bootstrap_seed)
    return [int(place) for place in rng.permutation(len(record.instances))]


def _extremes(table: pl.DataFrame) -> Iterator[int]:
    """The lowest and the highest by each key, then the second lowest and highest, and so on."""
    narrow = table.select("place", "id", *SORTS)  # sorting copies the table
    ranked = [narrow.drop_nulls(key).sort(key, "id")["place"].to_list() for key in SORTS]
    ends = [side for places in ranked for side in (places, places[::-1])]
    for turn in zip_longest(*ends):
        yield from (place for place in turn if place is not None)


def _example(record: RunRecord) -> list[int]:
    """The place of the document with which the view opens."""
    place = typical_place(record)
    return [] if place is None else [place]


def heading(record: RunRecord) -> dict[str, Any]:
    """What all documents share; their own lists are in the order of these names."""
    return {
        "classes": [shown(name, LONGEST_CLASS) for name in record.classes],
        "keys": [key for key in (*SORTS, "moved") if key not in DERIVED],
        "kinds": list(KINDS.items()),
        "scores": {name: score(name) for name in record.scores if name not in NOT_SHOWN},
        "site": shown(record.manifest.attached.text("shows") or ""),
        "sorts": dict(SORTS),
        "without_text": record.manifest.without_text,
    }


def kinds(row: Mapping[str, Any]) -> list[int]:
    """The kinds of failure that a row of `sortable` shows, by their places in `KINDS`."""
    wrong = row["label"] != row["prediction"]
    tests = (
        row["jsd"] is not None and row["jsd"] > HALF_OF_ALL,
        row["shuffled"] is not None and row["shuffled"] < NOTHING,
        _top_is_irrelevant(row),
        wrong and (row["confidence"] or 0.0) >= CONFIDENT,
    )
    return [place for place, holds in enumerate(tests) if holds]


def _top_is_irrelevant(row: Mapping[str, Any]) -> bool:
    """Whether more than half of the items change the prediction more than the top one does."""
    effects = row.get("leave_one_out")
    if effects is None or len(effects) <= 1:
        return False
    sizes = np.abs(np.array(effects, dtype=np.float64))
    top = int(np.argmax(row["attention"]))
    return bool((sizes > sizes[top]).mean() > 0.5)


def pack(row: Mapping[str, Any], heading: Mapping[str, Any], classes: Sequence[str]) -> Any:
    """One row of `sortable` as a JSON object."""
    kind = _format(row.get("token_logits"))
    weights = {name: _exact(row[name], kind) for name in WEIGHTS if row.get(name) is not None}
    scores = [0 if row.get(name) is None else _share(row[name]) for name in heading["scores"]]
    content = {
        "place": row["place"],  # figures refer to documents by it
        "name": shown(row["id"]),
        "tokens": [shown(token) for token in row["tokens"]],
        "label": classes.index(row["label"]),
        "prediction": classes.index(row["prediction"]),
        "probabilities": [_rounded(value) for value in row["probabilities"] or []],
        "keys": [_rounded(row[key]) for key in heading["keys"]],
        "kinds": kinds(row),
        "format": kind,
        "weights": weights,
        "scores": scores,
    }
    if row.get("query"):
        content["query"] = " ".join(shown(word) for word in row["query"])
    if row.get("token_logits") is not None and row.get("bias") is not None:
        content["logits"] = _exact(row["token_logits"], kind)
        content["bias"] = _exact(row["bias"], kind)
    return content


def _format(token_logits: Sequence[Sequence[float]] | None) -> str:
    """`f4` where that preserves every logit of a document, else `f8`."""
    logits = np.array(token_logits if token_logits is not None else [], dtype=np.float64)
    error = np.abs(logits - logits.astype(np.float32)).max(initial=0.0)
    return "f4" if error <= NOTICEABLE else "f8"


def _exact(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values, dtype=f"<{kind}").tobytes()).decode()


def _share(values: Sequence[float | None]) -> list[Any]:
    """The largest absolute value, and every value as a share of it."""
    numbers = np.array(values, dtype=np.float64)
    known = np.isfinite(numbers)
    largest = float(np.abs(numbers[known]).max(initial=0.0))
    whole = np.full(len(numbers), MISSING, dtype="<i2")
    whole[known] = np.rint(numbers[known] * (FULL / largest if largest else 0.0))
    return [float(f"{largest:.{DIGITS}g}"), base64.b64encode(whole.tobytes()).decode()]


def _rounded(value: float | None) -> float | None:
    return round(value, DIGITS) if value is not None and math.isfinite(value) else None


def _candidates(record: RunRecord, heading: dict[str, Any]) -> Iterator[Any]:
    table = sortable(record)
    for place in order(record):
        yield pack(table.row(place, named=True), heading, record.classes)


def _text(content: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
