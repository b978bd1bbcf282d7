"""Is the prediction weaker without the item with the highest weight?

A reader of a heat map takes the darkest items as reasons for the prediction, but a weight has no
sign: the item may speak against it. The effect is the share of documents in which erasing the top
weight lowers the odds of the decided class. It runs from 0, the share expected of a random item
(exact, over all items), to 1, the share of documents in which some item can do it. The rest is
renormalized, so an item counts as speaking for the decision if it does so more than the others do
together. Where hardly any item changes the odds, there is nothing to measure.
"""

import polars as pl

from assay.statistics.estimates import ratio_estimate
from assay.statistics.intervals import share_interval
from assay.verdict.claim import (
    FAILS_BELOW,
    FAITHFULNESS_VIOLATION,
    HOLDS_ABOVE,
    SIGNED_BOUNDS,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_document

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
FEWEST_WEAKENED = 0.02  # share of documents that some single item must be able to weaken
RANKING = "attention"
TOP, ANY, RANDOM = "weaker_top", "weaker_any", "weaker_share"
FORMULA = f"(share({TOP}[{RANKING}]) - mean({RANDOM})) / (share({ANY}) - mean({RANDOM}))"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    own = evidence.filter((pl.col("group") == RANKING) | pl.col("group").is_null())
    weaker = by_document(own, [TOP, ANY, RANDOM])
    if weaker is None or not len(weaker):
        return Reading(says="No document has two items.", reason="nothing to measure")
    possible = share_interval(int(weaker[:, 1].sum()), len(weaker))
    against = share_interval(int((1 - weaker[:, 0]).sum()), len(weaker))
    beside = (
        Beside.of(
            "share of documents whose prediction is not weaker without the top item", against
        ),
        Beside.of("share that some single item weakens", possible),
    )
    asked = weaker[weaker[:, 1] > 0]
    if possible.low < FEWEST_WEAKENED or not (asked[:, 2] < 1).any():
        says = (
            f"Erasing a single item weakens the prediction of {len(asked)} of {len(weaker)} "
            f"documents; it must be shown to be at least {FEWEST_WEAKENED:.0%} of them."
        )
        return Reading(says=says, reason="nothing to measure", beside=beside, n=len(asked))
    top, _, random = asked.mean(0)
    effect = ratio_estimate(asked[:, 0] - asked[:, 2], 1 - asked[:, 2], SIGNED_BOUNDS)
    says = (
        f"Without the item with the highest weight, the prediction is weaker in {top:.0%} of "
        f"{len(asked)} documents; without a random item, in {random:.0%}."
    )
    return Reading(
        says=says,
        measures=(Measure("effect", effect, FORMULA),),
        beside=beside,
        considered=len(weaker),
    )


CLAIM = Claim(
    name="right sign",
    notion="faithfulness",
    says="Without the item with the highest weight, the prediction is weaker.",
    clause="the prediction is weaker without the item with the highest weight",
    may_be_said="The darkest {word} speaks for the prediction: without it, it would be weaker.",
    may_not_be_said="Do not say that the darkest {word} speaks for the prediction: without it the "
    "prediction is weaker little more often than without a random {word}.",
    effect_label="share of documents whose prediction is weaker without the top weight, from a "
    "random item (0) to all that some item weakens (1)",
    unit="share of the way from random to all",
    probe="erase_one",
    paper=FAITHFULNESS_VIOLATION,
    yardstick="the expectation over a random item; the documents that some single item weakens",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(FORMULA,),
    read=read,
)
