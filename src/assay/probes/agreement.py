"""Does attention put the items in the same order as other measures of importance?

Jain & Wallace 2019, section 4.1: Kendall's tau-b between attention, gradient and leave-one-out per
instance, with its two-sided p-value. The agreement of gradient and leave-one-out with each other is
the reference for what agreement to expect. We add a baseline, attention with its weights shuffled
among the document's items, the same tau for every pair of scores that the model can give, and R²
for attention, which many readers know better. Signed scores count by their absolute value, because
attention has no sign.

The verdict reads two measures that exist for every document with two items or more, and whose
expectation for shuffled weights is known exactly: `rank_tau_...`, the same tau with 0 where a list
is constant (expectation 0, as every pair of items is as often in one order as in the other), and
`top_overlap_...`, the share of the top tenth of the items in common (expectation k / T).

Where leave-one-out of long documents stops reading early, some documents are
compared with the exact values, and the error is recorded as evidence.
"""

from itertools import combinations

import numpy as np
import polars as pl

from assay.evidence import FADING_ERROR, FADING_TAU_ERROR, rows, stacked
from assay.models.view import View
from assay.probes.probe import Direction, Probe, ProbeOutcome, Quantity, Scores
from assay.scores import SCORES
from assay.scores.leave_one_out import fading_errors
from assay.statistics.kendall import kendall
from assay.statistics.keyed_random import document_keys, permutations
from assay.statistics.rank_agreement import constants_as_zero, expected_overlap, top_overlap

REFERENCES = ("leave_one_out", "gradient")  # what the verdict compares attention with
FLOORS = tuple(("shuffled", other) for other in ("gradient", "leave_one_out"))
CORE = {
    "attention",
    "gradient",
    "leave_one_out",
    "shuffled",
}  # the paper's three scores and the baseline
ATTENTION = "attention"
R2_OF = ATTENTION
# Items from which a p-value can be at most 0.05: even equal orders of four items have p = 2 / 4!.
SIGNIFICANT_FROM = 5


def measure(view: View, scores: Scores) -> ProbeOutcome:
    compared = {
        name: np.abs(values) if SCORES[name].signed else values for name, values in scores.items()
    }
    compared["shuffled"] = _shuffled(view, scores[ATTENTION])
    pairs = [pair for pair in score_pairs() + FLOORS if set(pair) <= compared.keys()]
    ones, others = ([compared[pair[side]] for pair in pairs] for side in (0, 1))
    # One call for all pairs: few long documents make a short batch.
    lists = np.concatenate(ones), np.concatenate(others), np.tile(view.mask, (len(pairs), 1))
    tau, p = (np.split(values, len(pairs)) for values in kendall(*lists))
    squared = np.split(r_squared(*lists), len(pairs))
    long_enough = view.mask.sum(1) >= SIGNIFICANT_FROM
    columns: dict[tuple[str, str | None], np.ndarray] = {}
    for row, (one, other) in enumerate(pairs):
        columns[f"tau_{one}_{other}", None] = tau[row]
        columns[f"p_{one}_{other}", None] = np.where(long_enough, p[row], np.nan)
        if one == R2_OF:
            columns[f"r2_{one}_{other}", None] = squared[row]
    keys = document_keys(view.batch.ids, view.seed, "agreement ties")
    for other in (name for name in REFERENCES if name in compared):
        own = tau[pairs.index((ATTENTION, other))]
        both = compared[ATTENTION], compared[other]
        columns[f"rank_tau_attention_{other}", None] = constants_as_zero(own, *both, view.mask)
        columns[f"top_overlap_attention_{other}", None] = top_overlap(*both, view.mask, keys)
    columns["top_overlap_expected", None] = expected_overlap(view.mask)
    return ProbeOutcome([stacked(view.batch.ids, columns), *_faded(view, scores)])


def _faded(view: View, scores: Scores) -> list[pl.DataFrame]:
    """Errors of the documents that were computed both ways; the others have no such rows."""
    if "leave_one_out" not in scores:
        return []
    found = fading_errors(view, scores[ATTENTION], scores["leave_one_out"])
    measured = {FADING_ERROR: found.tvd, FADING_TAU_ERROR: found.tau}
    return [rows(found.ids, name, values) for name, values in measured.items() if found.ids]


def r_squared(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Squared Pearson correlation of each row over its real items; NaN where one is constant."""
    count = np.maximum(mask.sum(1, keepdims=True), 1)
    apart = [np.where(mask, v - (v * mask).sum(1, keepdims=True) / count, 0.0) for v in (x, y)]
    spread = [(v * v).sum(1) for v in apart]
    together = (apart[0] * apart[1]).sum(1) ** 2
    bottom = spread[0] * spread[1]
    # Equal values may differ from their mean by rounding, which is no spread to divide by.
    varied = np.logical_and.reduce([_is_varied(v, mask) for v in (x, y)])
    squared: np.ndarray = np.full(len(x), np.nan)
    np.divide(together, bottom, out=squared, where=varied & (bottom > 0))
    return squared


def _is_varied(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(B,): whether two real items of the row differ."""
    largest = np.where(mask, values, -np.inf).max(1, initial=-np.inf)
    return np.asarray(largest > np.where(mask, values, np.inf).min(1, initial=np.inf))


def score_pairs() -> tuple[tuple[str, str], ...]:
    """Every pair of scores, in the order in which they are declared."""
    return tuple(combinations(SCORES, 2))


def _shuffled(view: View, weights: np.ndarray) -> np.ndarray:
    keys = document_keys(view.batch.ids, view.seed, "agreement floor")
    order = permutations(keys, view.mask, 1)[:, 0]
    return np.take_along_axis(weights, order, axis=1)


def _quantities() -> tuple[Quantity, ...]:
    declared: list[Quantity] = []
    for one, other in score_pairs() + FLOORS:
        pair = f"{one} and {other}".replace("_", "-")
        direction: Direction = "higher is more faithful" if one == "attention" else "neither"
        detail = not {one, other} <= CORE
        meaning = f"how alike {pair} order the items (Kendall's tau)"
        tau = Quantity(
            f"tau_{one}_{other}", meaning, ("mean", "std"), "tau", direction, detail=detail
        )
        meaning = f"two-sided p of the tau of {pair}; missing with too few items to reach 0.05"
        declared += [tau, Quantity(f"p_{one}_{other}", meaning, ("significant",), detail=detail)]
        if one == R2_OF:
            meaning = f"squared correlation of {pair}"
            declared.append(Quantity(f"r2_{one}_{other}", meaning, ("mean",), "R²", detail=True))
    declared += _verdict_quantities()
    meaning = "largest error over the items where leave-one-out stops reading early"
    declared.append(Quantity(FADING_ERROR, meaning, ("max",), "TVD", detail=True))
    meaning = "error of the tau of attention and leave-one-out where it stops reading early"
    declared.append(Quantity(FADING_TAU_ERROR, meaning, ("max",), "tau", detail=True))
    return tuple(declared)


def _verdict_quantities() -> list[Quantity]:
    declared = []
    higher: Direction = "higher is more faithful"
    for other in REFERENCES:
        pair = f"attention and {other}".replace("_", "-")
        meaning = (
            f"how alike {pair} order the items; 1: the same order, 0: no better than shuffled "
            "weights (Kendall's tau, and 0 where a score is the same for all items)"
        )
        name = f"rank_tau_attention_{other}"
        declared.append(Quantity(name, meaning, ("mean",), "tau", higher))
        meaning = (
            f"share of the top items (a tenth of all, at least one) that {pair} have in common; "
            "ties in random order"
        )
        name = f"top_overlap_attention_{other}"
        declared.append(Quantity(name, meaning, ("mean",), "share", higher))
    meaning = (
        "share of the top items that shuffled weights have in common with a score: the exact "
        "expectation, top items divided by all items"
    )
    return [*declared, Quantity("top_overlap_expected", meaning, ("mean",), "share")]


def declare() -> Probe:
    """The probe, for all scores that are known now."""
    return Probe(
        name="agreement",
        question="Does attention order the items as gradients and leave-one-out do?",
        null="Attention orders the items no more like the others than its own weights shuffled.",
        paper="Jain & Wallace 2019, section 4.1, table 2, figures 2 to 4",
        needs="model",
        scores=tuple(SCORES),
        quantities=_quantities(),
        measure=measure,
    )


PROBE = declare()
