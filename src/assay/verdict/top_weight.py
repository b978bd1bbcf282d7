"""Where a single item decides, is it the one with the highest weight?

Most decisions cannot be changed by erasing any single item. That is a matter of margin and says
nothing about attention, so only the documents that some single item can flip are asked. The effect
runs from 0, the share that a random item flips (exact expectation over all items), to 1, all of
them. Where hardly any document can be flipped, there is nothing to measure.
"""

from collections.abc import Iterator

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import FAILS_BELOW, HOLDS_ABOVE, SERRANO_SMITH, Beside, Claim, Reading
from assay.verdict.single_items import (
    SingleItems,
    Wording,
    formula,
    own_rows,
    quantities,
    read_single_items,
)
from assay.verdict.tables import values_of

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
EFFECT, OTHER = "flip", "flip_random_expected"
WORDING = Wording(
    too_few="Erasing a single item can change the decision of {asked} of {all} documents",
    found="Some single item can change the decision of {asked} of {all} documents. In {top} of "
    "these, erasing the item with the highest weight does; a random item would in {random}.",
)


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    def beside(items: SingleItems) -> Iterator[Beside]:
        yield Beside.of("share flipped by the top item", items.share_of(items.top))
        yield Beside.of("share that some single item flips", items.share_of(items.some))
        other = values_of(own_rows(evidence), OTHER)
        if len(other):
            name = "share flipped by a random other item"
            yield Beside.of(name, mean_interval(other, seed))

    return read_single_items(evidence, EFFECT, WORDING, beside)


CLAIM = Claim(
    name="top weight matters",
    notion="faithfulness",
    says="Where a single item decides, it is the one with the highest weight.",
    may_be_said="The darkest {word} is mostly the decisive one, where one {word} alone decides.",
    may_not_be_said="Do not point at the darkest {word} as the decisive one: where one {word} "
    "alone decides, it is mostly not the darkest one.",
    effect_label="how often erasing the top item changes the decision; 0: as often as a random "
    "item, 1: wherever some single item does",
    unit="share of the way from random to all",
    probe="erase_one",
    paper=SERRANO_SMITH,
    yardstick="a random item; the documents in which some single item changes the decision",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(formula(EFFECT),),
    read=read,
    quantities=(*quantities(EFFECT), OTHER),
)
