"""Does erasing items by attention, highest weight first, change the decision soon?

Measured is the fraction of items erased when the decision changes; it counts as 1 where the
decision never changes. Only documents whose decision at least one order changes are used. The
effect is attention's position between a random order (0) and the best one (1): the exact smallest
flipping set, or the gradient order where the head has no closed form. Where the best order itself
saves hardly any items, there is nothing to gain and nothing to measure. The change must also come
soon: where attention's order erases half of the items first, being close to the best supports
nothing.
"""

import numpy as np
import polars as pl

from assay.statistics.estimates import mean_estimate, ratio_estimate
from assay.verdict.claim import (
    FAILS_BELOW,
    HOLDS_ABOVE,
    SERRANO_SMITH,
    SIGNED_BOUNDS,
    Bar,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_document

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
LEAST_GAIN = 0.10  # of the items: what the best order must save over the random one
SOON_BELOW = 0.5  # of the items: a later change is not soon, whatever the best order needs
BEST = {"optimal": "the best possible order", "gradient": "the order of the gradient"}
FRACTION, NEVER = "fraction_never_one", "never_flips"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    measured = set(evidence["group"])
    best = next((name for name in BEST if name in measured), None)
    if best is None:
        says = "This model has neither a closed form nor a gradient, so there is no best order."
        return Reading(says=says, applicable=False)
    orders = [name for name in ("random", "attention", best, "gradient") if name in measured]
    orders = list(dict.fromkeys(orders))
    fractions, considered = _fractions(evidence, orders)
    if len(fractions) < 2:
        says = f"Erasing items can change the decision of {len(fractions)} documents."
        return Reading(says=says, reason="nothing to measure", n=len(fractions))
    beside = tuple(
        Beside.of(f"fraction erased, {name} order", mean_estimate(column))
        for name, column in zip(orders, fractions.T, strict=True)
    )
    saved = mean_estimate(fractions[:, 0] - fractions[:, 2], SIGNED_BOUNDS)
    if not saved.interval()[0] >= LEAST_GAIN:
        says = (
            f"{BEST[best].capitalize()} saves {saved.value:.0%} of the items over a random order; "
            f"less than {LEAST_GAIN:.0%} is nothing to gain."
        )
        return Reading(says=says, reason="nothing to measure", beside=beside, n=len(fractions))
    effect = ratio_estimate(
        fractions[:, 0] - fractions[:, 1], fractions[:, 0] - fractions[:, 2], SIGNED_BOUNDS
    )
    means = fractions.mean(0)
    says = (
        f"In attention's order, {means[1]:.0%} of a document's items are erased when the decision "
        f"changes; {means[0]:.0%} in a random order, {means[2]:.0%} in {BEST[best]}."
    )
    late = f"{means[1]:.0%} of the items must be erased first, which is not soon."
    return Reading(
        says=says,
        measures=(Measure("effect", effect, _formula(best)),),
        beside=beside,
        considered=considered,
        support_barred=Bar("nothing to measure", late) if means[1] >= SOON_BELOW else None,
    )


def _formula(best: str) -> str:
    """Documents that no order changes have the fraction 1 in all of them and cancel."""
    random, own, least = (f"mean({FRACTION}[{name}])" for name in ("random", "attention", best))
    return f"({random} - {own}) / ({random} - {least})"


def _fractions(evidence: pl.DataFrame, orders: list[str]) -> tuple[np.ndarray, int]:
    """Fractions erased, (documents, orders), of the documents that at least one order changes.

    Beside them, the number of all documents.
    """
    fractions = by_document(evidence.filter(pl.col("quantity") == FRACTION), orders, by="group")
    never = by_document(evidence.filter(pl.col("quantity") == NEVER), orders, by="group")
    assert fractions is not None
    assert never is not None
    changed: np.ndarray = fractions[(never == 0).any(1)]
    return changed, len(fractions)


CLAIM = Claim(
    name="order is efficient",
    notion="faithfulness",
    says="Erasing by attention changes the decision soon.",
    clause="erasing by attention changes the decision soon",
    may_be_said="Taking out the darkest {words} first changes the decision soon.",
    may_not_be_said="Do not read the shades as an order of importance: taking out the darkest "
    "{words} first is little better than a random order.",
    effect_label="how soon the decision changes; 0: as in a random order, 1: as in the best order",
    unit="share of the way from random to best",
    probe="erase_order",
    paper=SERRANO_SMITH,
    yardstick="the smallest flipping set, gradient and random orders",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(_formula("optimal"),),
    read=read,
)
