"""Where a single item decides, is it the one with the highest weight?

Most decisions cannot be changed by erasing any single item. That is a matter of margin and says
nothing about attention, so only the documents that some single item can flip are asked. The effect
runs from 0, the share that a random item flips (exact expectation over all items), to 1, all of
them. Where hardly any document can be flipped, there is nothing to measure.
"""

import polars as pl

from assay.statistics.estimates import ratio_estimate
from assay.statistics.intervals import mean_interval, share_interval
from assay.verdict.claim import (
    FAILS_BELOW,
    HOLDS_ABOVE,
    SERRANO_SMITH,
    SIGNED_BOUNDS,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_document, values_of

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
FEWEST_FLIPPED = 0.02  # share of documents that some single item must be able to flip
RANKING = "attention"
TOP, ANY, RANDOM, OTHER = "flip_top", "flip_any", "flip_share", "flip_random_expected"
FORMULA = f"(share({TOP}[{RANKING}]) - mean({RANDOM})) / (share({ANY}) - mean({RANDOM}))"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    own = evidence.filter((pl.col("group") == RANKING) | pl.col("group").is_null())
    flips = by_document(own, [TOP, ANY, RANDOM])
    if flips is None or not len(flips):
        says = "No document has two items."
        return Reading(says=says, reason="nothing to measure")
    possible = share_interval(int(flips[:, 1].sum()), len(flips))
    beside = [
        Beside.of(
            "share flipped by the top item", share_interval(int(flips[:, 0].sum()), len(flips))
        ),
        Beside.of("share that some single item flips", possible),
    ]
    other = values_of(own, OTHER)
    if len(other):
        name = "share flipped by a random other item"
        beside.append(Beside.of(name, mean_interval(other, seed)))
    flippable = flips[flips[:, 1] > 0]
    if possible.low < FEWEST_FLIPPED or not (flippable[:, 2] < 1).any():
        says = (
            f"Erasing a single item can change the decision of {len(flippable)} of {len(flips)} "
            f"documents; it must be shown to be at least {FEWEST_FLIPPED:.0%} of them."
        )
        return Reading(
            says=says, reason="nothing to measure", beside=tuple(beside), n=len(flippable)
        )
    top, _, random = flippable.mean(0)
    effect = ratio_estimate(flippable[:, 0] - flippable[:, 2], 1 - flippable[:, 2], SIGNED_BOUNDS)
    says = (
        f"Some single item can change the decision of {len(flippable)} of {len(flips)} documents. "
        f"In {top:.0%} of these, erasing the item with the highest weight does; a random item "
        f"would in {random:.0%}."
    )
    return Reading(
        says=says,
        measures=(Measure("effect", effect, FORMULA),),
        beside=tuple(beside),
        considered=len(flips),
    )


CLAIM = Claim(
    name="top weight matters",
    notion="faithfulness",
    says="Where a single item decides, it is the one with the highest weight.",
    clause="the item with the highest weight is the one that decides, where a single item does",
    may_be_said="Where one {word} alone decides, it is mostly the darkest one.",
    may_not_be_said="Do not point at the darkest {word} as the decisive one: where one {word} "
    "alone decides, it is mostly another.",
    effect_label="how often erasing the top item changes the decision; 0: as often as a random "
    "item, 1: wherever some single item does",
    unit="share of the way from random to all",
    probe="erase_one",
    paper=SERRANO_SMITH,
    yardstick="the expectation over a random item; the documents that some single item flips",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(FORMULA,),
    read=read,
)
