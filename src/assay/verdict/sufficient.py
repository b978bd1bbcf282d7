"""Do the top items by attention give the prediction by themselves?

Only the tenth of the items with the highest weights keeps its weights (at least one item), and the
probability of the decided class is read again with the states kept. The effect runs from 0, what is
lost with a random tenth, to 1, the least that any tenth can lose. A rise counts as no loss.

The least possible loss is 0 with two classes and an affine head. Otherwise only a bracket is known:
0 from below, and the best order that was found from above. The effect is then computed with both,
and both must support or contradict the claim. Where a random tenth loses hardly anything, any items
would do, and there is nothing to measure.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from assay.statistics.estimates import mean_estimate, ratio_estimate
from assay.verdict.claim import (
    ERASER,
    FAILS_BELOW,
    HOLDS_ABOVE,
    SHARE_BOUNDS,
    SIGNED_BOUNDS,
    Bar,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_document, values_of

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
LEAST_LOSS = 0.05  # of the probability: what a random tenth must lose, as for `depends`
MOST_LOST = 0.10  # a prediction that has lost so much probability is not the same
LOST, LEAST = "lost_alone", "least_lost_alone"
RANDOM = ("random_expected", "random")  # the mean over several orders where it was measured
OWN = f"mean({LOST}[attention])"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    name = next((name for name in RANDOM if name in set(evidence["group"])), RANDOM[-1])
    lost = _lost(evidence, name)
    if not len(lost):
        return Reading(says="No document has two items.", reason="nothing to measure")
    attention, random, least = lost.T
    loss = mean_estimate(random, SHARE_BOUNDS)
    beside = tuple(_beside(evidence))
    if not loss.interval()[0] >= LEAST_LOSS:
        says = (
            f"A random tenth of the items by itself loses {loss.value:.3f} of the probability; "
            f"where it cannot be shown to lose {LEAST_LOSS:.2f}, any items would do."
        )
        return Reading(says=says, reason="nothing to measure", beside=beside, n=len(lost))
    own = attention.mean()
    says = (
        "With only the tenth of the items with the highest weights left, the decided class loses "
        f"{own:.3f} of its probability on average; with a random tenth, {loss.value:.3f}."
    )
    much = f"A loss of {own:.2f} is not the same prediction."
    return Reading(
        says=says,
        measures=tuple(_measures(attention, random, least, name)),
        beside=beside,
        support_barred=Bar("between the thresholds", much) if own >= MOST_LOST else None,
    )


def _lost(evidence: pl.DataFrame, random: str) -> np.ndarray:
    """(documents, 3): the loss with attention's tenth, with a random one, and the least."""
    named = pl.coalesce(pl.col("group"), pl.lit(LEAST)).alias("group")
    own = evidence.filter(pl.col("quantity").is_in((LOST, LEAST))).with_columns(named)
    table = by_document(own, ["attention", random, LEAST], by="group")
    return np.zeros((0, 3)) if table is None else table


def _measures(
    attention: np.ndarray, random: np.ndarray, least: np.ndarray, name: str
) -> Iterator[Measure]:
    gained = random - attention
    lower = ratio_estimate(gained, random, SIGNED_BOUNDS)
    if not least.any():
        yield Measure("effect", lower, _formula(name))
        return
    upper = ratio_estimate(gained, random - least, SIGNED_BOUNDS)
    against = f"(mean({LOST}[{name}]) - {OWN}) / (mean({LOST}[{name}]) - mean({LEAST}))"
    yield Measure("effect if some tenth loses nothing", lower, _formula(name))
    yield Measure("effect against the best order found", upper, against)


def _formula(random: str) -> str:
    return f"1 - {OWN} / mean({LOST}[{random}])"


def _beside(evidence: pl.DataFrame) -> Iterator[Beside]:
    for order in ("attention", "random"):
        values = values_of(evidence, "sufficiency", order)
        if len(values):
            yield Beside.of(f"weight sufficiency (AOPC), {order} order", mean_estimate(values))


CLAIM = Claim(
    name="sufficient",
    notion="faithfulness",
    says="The weights of the top items alone give the same prediction.",
    may_be_said="The prediction stays if only the darkest {words} keep their weight.",
    may_not_be_said="Do not say that the darkest {words} are enough for the prediction: by "
    "themselves, the darkest {words} keep the prediction not much better than "
    "random ones.",
    effect_label="how much of the prediction the top tenth keeps by itself; 0: as a random "
    "tenth, 1: as the best tenth",
    unit="share of the way from random to best",
    probe="erase_order",
    paper=ERASER,
    yardstick="a random tenth of the items; the tenth that loses least",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(_formula(RANDOM[0]),),
    read=read,
)
