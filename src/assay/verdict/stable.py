"""Does the model attend to the same items when it is trained again?

All pairs of models are compared by the order of their weights (Kendall's tau) and by the items at
the top, because the JSD would also measure how sharp the weights are: the same order with a sharper
softmax is the same explanation. Both effects run from 0, one of the two shuffled among the items,
to 1, the same order; both must support or contradict the claim. Pairs share models, so the interval
counts models and not pairs.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from assay.statistics.estimates import mean_estimate, pair_values, ratio_estimate
from assay.verdict.claim import (
    FAILS_BELOW,
    HOLDS_ABOVE,
    SIGNED_BOUNDS,
    WIEGREFFE_PINTER,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_model, values_of
from assay.verdict.wording import short

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
EXPECTED = "top_overlap_expected"
TAU, OVERLAP, JSD = "pair_tau", "pair_top_overlap", "pair_jsd"
TAU_FORMULA = f"mean({TAU}[*])"
OVERLAP_FORMULA = f"(mean({OVERLAP}[*]) - mean({EXPECTED})) / (1 - mean({EXPECTED}))"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    measures = tuple(_measures(evidence))
    if not measures:
        says = "There is no second model, or no document with two items, to compare."
        return Reading(says=says, reason="nothing to measure")
    listed = " and ".join(f"{each.said} {short(each.estimate.value)}" for each in measures)
    says = (
        f"The model was trained {measures[0].estimate.models} times. Agreement of two trainings, "
        f"where 0 is no better than chance and 1 the same order: {listed}. Rank agreement compares "
        "the order of all items (Kendall's tau)."
    )
    return Reading(says=says, measures=measures, beside=tuple(_beside(evidence)))


def _measures(evidence: pl.DataFrame) -> Iterator[Measure]:
    names, pairs, taus = _pair_table(evidence, TAU)
    if len(names):
        tau = mean_estimate(pair_values(taus, pairs), SIGNED_BOUNDS)
        yield Measure("tau", tau, TAU_FORMULA, "rank agreement")
    names, pairs, overlaps = _pair_table(evidence, OVERLAP)
    expected = _expected(evidence, names)
    if len(names) and (expected < 1).any():
        shared = pair_values(overlaps, pairs)
        chance = np.broadcast_to(expected[:, None], shared.shape)
        effect = ratio_estimate(shared - chance, 1 - chance, SIGNED_BOUNDS)
        yield Measure("top items shared", effect, OVERLAP_FORMULA)


def _pair_table(
    evidence: pl.DataFrame, quantity: str
) -> tuple[list[str], list[tuple[int, int]], np.ndarray]:
    """The documents, the pairs of models (group `i-j`) and the values (N, P)."""
    own = evidence.filter(pl.col("quantity") == quantity)
    names, groups, table = by_model(own, "group")
    pairs = [tuple(int(seed) for seed in group.split("-")) for group in groups]
    return names, [(one, other) for one, other in pairs], table


def _expected(evidence: pl.DataFrame, names: list[str]) -> np.ndarray:
    """(N,): the expected overlap of shuffled weights, for these documents."""
    own = evidence.filter(pl.col("quantity") == EXPECTED)
    values = dict(zip(own["instance"], own["value"], strict=True))
    return np.array([values.get(name, np.nan) for name in names], dtype=np.float64)


def _beside(evidence: pl.DataFrame) -> Iterator[Beside]:
    names, pairs, table = _pair_table(evidence, JSD)
    if len(names):
        yield Beside.of("mean JSD between two models", mean_estimate(pair_values(table, pairs)))
    for quantity, said in {
        "median_jsd": "mean over documents of the median JSD to this model",
        "shuffled_jsd": "mean JSD to this model's weights, shuffled",
    }.items():
        values = values_of(evidence, quantity, "both" if quantity == "median_jsd" else None)
        if len(values):
            yield Beside.of(said, mean_estimate(values))


CLAIM = Claim(
    name="stable",
    notion="faithfulness",
    says="A model trained again attends to the same items.",
    may_be_said="A model trained again attends to the same {words}.",
    may_not_be_said="Do not say that the data lead to this heat map: a model trained again attends "
    "to other {words}.",
    effect_label="agreement of two models; 0: no better than chance, 1: the same order",
    unit="share of the way from shuffled to equal",
    probe="seeds",
    paper=WIEGREFFE_PINTER,
    yardstick="all pairs of models that differ by seed; the same weights, shuffled",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    several_models=True,
    formulas=(TAU_FORMULA, OVERLAP_FORMULA),
    read=read,
)
