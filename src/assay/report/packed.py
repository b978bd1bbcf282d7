"""How does a document travel inside the page: small, and exact where the page computes with it?

Weights and logits are little-endian float32 in base64, or float64 where float32 would move a
logit noticeably: the page recomputes predictions from them. Other scores are only shown; they
are whole numbers of 16 bits, as shares of the document's largest.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from assay.report.adversary import NAME as ADVERSARY
from assay.report.chosen import SORTS
from assay.report.record import RunRecord
from assay.report.words import score, shown

WEIGHTS = ("attention", ADVERSARY)
FULL = 32767  # the share of the largest value; its negative below zero
MISSING = -32768  # a value that does not exist
NOTICEABLE = 2e-7  # of a logit: a fifth of the agreement that is promised
DIGITS = 6  # of numbers that are only shown
LONGEST_CLASS = 60  # characters


def heading(record: RunRecord) -> dict[str, Any]:
    """What all documents share."""
    return {
        "classes": [shown(name, LONGEST_CLASS) for name in record.classes],
        "format": _format(record.instances),
        "scores": {name: score(name) for name in record.scores if name not in WEIGHTS},
        "sorts": dict(SORTS),
    }


def packed(row: Mapping[str, Any], heading: Mapping[str, Any], classes: Sequence[str]) -> Any:
    """One row of `chosen.sortable` as JSON can hold it."""
    kind = heading["format"]
    weights = {name: _exact(row[name], kind) for name in WEIGHTS if row.get(name) is not None}
    scores = {name: _share(row[name]) for name in heading["scores"] if row.get(name) is not None}
    content = {
        "place": row["place"],  # figures name documents by it
        "name": shown(row["id"]),
        "tokens": [shown(token) for token in row["tokens"]],
        "label": classes.index(row["label"]),
        "prediction": classes.index(row["prediction"]),
        "probabilities": [_rounded(value) for value in row["probabilities"] or []],
        "keys": {key: _rounded(row[key]) for key in (*SORTS, "moved")},
        "weights": weights,
        "scores": scores,
    }
    if row.get("query"):
        content["query"] = " ".join(shown(word) for word in row["query"])
    if row.get("token_logits") is not None and row.get("bias") is not None:
        content["logits"] = _exact(row["token_logits"], kind)
        content["bias"] = _exact(row["bias"], kind)
    return content


def _format(instances: pl.DataFrame) -> str:
    """`f4` where that gives back every logit, else `f8`."""
    if "token_logits" not in instances.columns:
        return "f4"
    logits = instances["token_logits"].explode().explode().drop_nulls().to_numpy()
    error = np.abs(logits - logits.astype(np.float32)).max(initial=0.0)
    return "f4" if error <= NOTICEABLE else "f8"


def _exact(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values, dtype=f"<{kind}").tobytes()).decode()


def _share(values: Sequence[float | None]) -> list[Any]:
    """The largest size of a value, and every value as a share of it."""
    numbers = np.array(values, dtype=np.float64)
    known = np.isfinite(numbers)
    largest = float(np.abs(numbers[known]).max(initial=0.0))
    whole = np.full(len(numbers), MISSING, dtype="<i2")
    whole[known] = np.rint(numbers[known] * (FULL / largest if largest else 0.0))
    return [float(f"{largest:.{DIGITS}g}"), base64.b64encode(whole.tobytes()).decode()]


def _rounded(value: float | None) -> float | None:
    return round(value, DIGITS) if value is not None and math.isfinite(value) else None
