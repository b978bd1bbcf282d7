"""Did the audit and the plain loops find the same of the same documents?

Scores, medians and taus are compared number by number. A tau may differ where two items score
alike to the last bits, because then rounding decides their order. So ours is held to scipy on
our own scores, and to the loop's tau on average.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import torch
from torch import Tensor

from assay.bench.plain_battery import EPS, PAIRS, Floats, Plain, taus
from assay.bench.rescored import Answer
from assay.models.protocol import AffineTerms
from assay.probes.probe import Outcome

GRADIENT_TOLERANCE = 1e-3  # of the document's largest
LEAVE_ONE_OUT_TOLERANCE = 1e-5
MEDIAN_TOLERANCE = 1e-6
TAU_TOLERANCE = 1e-12
MEAN_TAU_TOLERANCE = 0.005
WANTED = ("median_tvd", "max_jsd", *(f"tau_{one}_{other}" for one, other in PAIRS))


@dataclass(frozen=True)
class Ours:
    """What the audit found of one batch."""

    ids: tuple[str, ...]
    lengths: Tensor
    scores: Mapping[str, np.ndarray]
    outcomes: Sequence[Outcome]
    terms: AffineTerms | None


@dataclass(frozen=True)
class Found:
    """The same of one document."""

    scores: dict[str, Floats]
    median_tvd: float
    taus: Floats
    answer: Answer


def by_document(parts: Sequence[Ours]) -> dict[str, Found]:
    return {name: found for part in parts for name, found in _split(part).items()}


def agree(ours: Mapping[str, Found], plain: Mapping[str, Plain]) -> bool:
    """Are ours right, on all documents that the loop has seen?"""
    same = all(_same(ours[name], theirs) for name, theirs in plain.items())
    apart = [np.abs(ours[name].taus - theirs.taus) for name, theirs in plain.items()]
    return same and bool(np.nanmean(apart) <= MEAN_TAU_TOLERANCE)


def _same(ours: Found, plain: Plain) -> bool:
    gradient, deleted = plain.scores["gradient"], plain.scores["leave_one_out"]
    near = (
        _within(ours.scores["gradient"], gradient, GRADIENT_TOLERANCE * gradient.max()),
        _within(ours.scores["leave_one_out"], deleted, LEAVE_ONE_OUT_TOLERANCE),
        _within(ours.median_tvd, plain.median_tvd, MEDIAN_TOLERANCE),
        _within(ours.taus, taus(ours.scores), TAU_TOLERANCE),
    )
    return all(near) and ours.answer.holds(EPS) and ours.answer.unbeaten(plain.candidates, EPS)


def _within(ours: Floats | float, other: Floats | float, tolerance: float) -> bool:
    return bool(np.allclose(ours, other, rtol=0, atol=tolerance, equal_nan=True))


def _split(part: Ours) -> dict[str, Found]:
    values = _values(part.outcomes)
    witnesses = next(o.columns["adversary"] for o in part.outcomes if "adversary" in o.columns)
    assert part.terms is not None  # only such a model has an exact answer
    found: dict[str, Found] = {}
    for row, (name, n) in enumerate(zip(part.ids, part.lengths.tolist(), strict=True)):
        scores = {score: table[row, :n] for score, table in part.scores.items()}
        answer = Answer(
            torch.from_numpy(scores["attention"]), part.terms.items[row, :n, 0],
            part.terms.bias[0], values["max_jsd", name], torch.from_numpy(witnesses[row, :n]),
        )  # fmt: skip
        own = np.array([values[f"tau_{one}_{other}", name] for one, other in PAIRS])
        found[name] = Found(scores, values["median_tvd", name], own, answer)
    return found


def _values(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], float]:
    """(quantity, document) -> value; of the frontier only the eps that is searched."""
    table = pl.concat([frame for outcome in outcomes for frame in outcome.rows])
    right = pl.col("group").is_null() | (pl.col("group") == f"eps={EPS:g}")
    wanted = table.filter(pl.col("quantity").is_in(WANTED) & right)
    rows = wanted.select("quantity", "instance", pl.col("value").fill_null(np.nan))
    return {(quantity, name): value for quantity, name, value in rows.iter_rows()}
