"""Does erasing items by attention, highest weight first, change the decision soon?

Measured is the fraction of items erased when the decision changes; it counts as 1 where the
decision never changes. Only documents whose decision at least one order changes are used. The
effect is attention's position between a random order (0) and the best one (1), which is the exact
smallest flipping set. Where the head has no closed form, the smallest set is known within a bracket
only: no larger than the best order found, attention's own among them, and no smaller than one item,
or two where no single item suffices. The effect is then computed with both ends, and both must
support or contradict the claim. Neither can pass 1. Where the best order itself saves hardly any
items, there is nothing to gain and nothing to measure. The change must also come soon: where
attention's order erases half of the items first, being close to the best supports nothing.
"""

from collections.abc import Iterator

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
from assay.verdict.wording import percent

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
LEAST_GAIN = 0.10  # of the items: what the best order must save over the random one
SOON_BELOW = 0.5  # of the items: a later change is not soon, whatever the best order needs
BEST = {"optimal": "the best possible order", "searched": "the best order found"}
RANDOM = ("random_expected", "random")  # the mean over several orders where it was measured
SHOWN = ("random", "attention", "gradient")  # orders whose fractions stand beside the effect
BOUND = "lower_bound"  # no set is smaller; for models without a closed form
FRACTION, NEVER = "fraction_never_one", "never_flips"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    measured = set(evidence["group"])
    best = next((name for name in BEST if name in measured), None)
    random = next((name for name in RANDOM if name in measured), None)
    if best is None or random is None:
        says = (
            "No best order is known: the smallest set of items that changes the decision was "
            "neither computed nor searched."
        )
        return Reading(says=says, applicable=False)
    ends = [BOUND, best] if best == "searched" else [best]
    fractions, considered = _fractions(evidence, [random, "attention", *ends])
    if len(fractions) < 2:
        says = f"Erasing items can change the decision of {len(fractions):,} documents."
        return Reading(says=says, reason="nothing to measure", n=len(fractions))
    beside = tuple(_beside(evidence, [name for name in SHOWN if name in measured] + [best]))
    saved = mean_estimate(fractions[:, 0] - fractions[:, -1], SIGNED_BOUNDS)
    if not saved.interval()[0] >= LEAST_GAIN:
        says = (
            f"{BEST[best].capitalize()} saves {percent(saved.value)} of the items over a random "
            f"order; with less than {percent(LEAST_GAIN)} there is nothing to gain."
        )
        return Reading(says=says, reason="nothing to measure", beside=beside, n=len(fractions))
    means = fractions.mean(0)
    says = (
        f"Erasing items can change the decision of {len(fractions):,} of {considered:,} documents. "
        f"In attention's order, {percent(means[1])} of their items are erased when the decision "
        f"changes; {percent(means[0])} in a random order, {percent(means[-1])} in {BEST[best]}."
    )
    late = f"{percent(means[1])} of the items must be erased first, which is not soon."
    return Reading(
        says=says,
        measures=tuple(_measures(fractions, random, ends)),
        beside=beside,
        considered=considered,
        support_barred=Bar("nothing to measure", late) if means[1] >= SOON_BELOW else None,
    )


def _beside(evidence: pl.DataFrame, orders: list[str]) -> Iterator[Beside]:
    """The fraction that each order erases on average; the last one is the best."""
    for name, column in zip(orders, _fractions(evidence, orders)[0].T, strict=True):
        yield Beside.of(f"fraction erased, {name} order", mean_estimate(column))


def _measures(fractions: np.ndarray, random: str, ends: list[str]) -> Iterator[Measure]:
    names = {BOUND: "effect if one or two items sufficed", "searched": "effect against the search"}
    start, own = fractions[:, 0], fractions[:, 1]
    for end, least in zip(ends, fractions.T[2:], strict=True):
        effect = ratio_estimate(start - own, start - least, SIGNED_BOUNDS)
        yield Measure(names.get(end, "effect"), effect, _formula(random, end))


def _formula(random: str, best: str) -> str:
    """Documents that no order changes have the fraction 1 in all of them and cancel."""
    start, own, least = (f"mean({FRACTION}[{name}])" for name in (random, "attention", best))
    return f"({start} - {own}) / ({start} - {least})"


def _fractions(evidence: pl.DataFrame, orders: list[str]) -> tuple[np.ndarray, int]:
    """Fractions erased, (documents, orders), of the documents that some order changes.

    The best order, which is the last, changes a decision wherever another one does. Beside them,
    the number of all documents.
    """
    fractions = by_document(evidence.filter(pl.col("quantity") == FRACTION), orders, by="group")
    never = by_document(evidence.filter(pl.col("quantity") == NEVER), orders[-1:], by="group")
    assert fractions is not None
    assert never is not None
    changed: np.ndarray = fractions[never[:, 0] == 0]
    return changed, len(fractions)


CLAIM = Claim(
    name="order is efficient",
    notion="faithfulness",
    says="Erasing by attention changes the decision soon.",
    may_be_said="Taking out the darkest {words} first changes the decision soon.",
    may_not_be_said="Do not read the shades as an order of importance: taking out the darkest "
    "{words} first is not much better than a random order.",
    effect_label="how soon the decision changes; 0: as in a random order, 1: as in the best order",
    unit="share of the way from random to best",
    probe="erase_order",
    paper=SERRANO_SMITH,
    yardstick="the smallest set of items that changes the decision; random orders",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(_formula(RANDOM[0], "optimal"),),
    read=read,
)
