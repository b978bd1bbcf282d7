"""Does erasing items by attention, highest weight first, change the decision soon?

Measured is the fraction of items erased when the decision changes; it counts as 1 where the
decision never changes. Only documents whose decision at least one order changes are used. The
effect is attention's position between a random order and the best one: the exact smallest flipping
set, or the gradient order where the head has no closed form. The change must also come soon: where
the best order itself must erase most items, reaching it supports nothing.
"""

import numpy as np
import polars as pl

from assay.statistics.intervals import TAILS, resampled_means
from assay.verdict.claim import (
    ENOUGH_ERASED,
    SERRANO_SMITH,
    Claim,
    Decision,
    decision,
    ratio_bounds,
    side,
    side_by_side,
)

EFFICIENT_FROM = 0.8  # of the way from the random order to the best possible one
INEFFICIENT_BELOW = 0.5  # controls: 0.96 against 0.95; it does not separate them, the next does
# Of the items: a later change is not soon, whatever the best order needs. Controls: 13 % of the
# items must go, against 84 % and more.
SOON_BELOW = 0.5
BEST = {"optimal": "the smallest flipping set", "gradient": "the gradient order"}


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    measured = set(evidence["group"])
    best = next((name for name in BEST if name in measured), None)
    if best is None:
        why = "This model has neither a closed form nor a gradient, so there is no best order."
        return decision("not applicable", why)
    orders = [name for name in ("random", "attention", best, "gradient") if name in measured]
    fractions = _fractions(evidence, list(dict.fromkeys(orders)))
    n = len(fractions)
    if n < ENOUGH_ERASED:
        why = f"Erasing items can change the decision of {n} documents; {ENOUGH_ERASED} are needed."
        return decision("undecided", why, n=n)
    draws = resampled_means(fractions[:, :3], seed)
    spans = draws[:, 0] - draws[:, 2]
    if np.quantile(spans, TAILS[0]) <= 0:
        why = f"{BEST[best].capitalize()} needs no fewer items than a random order."
        return decision("undecided", why, n=n)
    low, high = ratio_bounds(draws[:, 0] - draws[:, 1], spans)
    means = fractions.mean(0)
    effect = float((means[0] - means[1]) / (means[0] - means[2]))
    finding = side(low, high, supported=EFFICIENT_FROM, contradicted=INEFFICIENT_BELOW)
    if finding == "supported" and means[1] >= SOON_BELOW:
        finding = "undecided"
    return decision(finding, _why(means, best, effect), effect, low, high, n)


def _why(means: np.ndarray, best: str, effect: float) -> str:
    compared = f"{means[2]:.0%} with {BEST[best]}"
    if len(means) == 4:
        compared = f"{means[3]:.0%} with the gradient order and {compared}"
    return (
        f"In attention's order, {means[1]:.0%} of a document's items are erased when the decision "
        f"changes (100% if it never does); {means[0]:.0%} in a random order, {compared}. Attention "
        f"covers {effect:.0%} of the way from random to best; supported from "
        f"{EFFICIENT_FROM:.0%} if less than {SOON_BELOW:.0%} of the items must go, contradicted "
        f"below {INEFFICIENT_BELOW:.0%}."
    )


def _fractions(evidence: pl.DataFrame, orders: list[str]) -> np.ndarray:
    """Fractions erased, (documents, orders), of the documents that at least one order changes."""
    own = evidence.filter(pl.col("quantity") == "fraction_never_one")
    fractions = side_by_side(own, orders, by="group")
    never = side_by_side(evidence.filter(pl.col("quantity") == "never_flips"), orders, by="group")
    assert fractions is not None
    assert never is not None
    changed: np.ndarray = fractions[(never == 0).any(1)]
    return changed


CLAIM = Claim(
    name="order is efficient",
    notion="faithfulness",
    says="Erasing by attention changes the decision soon.",
    clause="erasing by attention changes the decision soon",
    effect_label="position between a random order (0) and the best possible one (1)",
    probe="erase_order",
    paper=SERRANO_SMITH,
    yardstick="the smallest flipping set, gradient and random orders",
    decide=decide,
)
