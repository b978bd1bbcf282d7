"""Is the prediction weaker without the item with the highest weight?

A reader of a heat map takes the darkest items as reasons for the prediction, but a weight has no
sign: the item may speak against it. The effect is the share of documents in which erasing the top
weight lowers the odds of the decided class. It runs from 0, the share expected of a random item
(exact, over all items), to 1, the share of documents in which some item can do it. The rest is
renormalized, so an item counts as speaking for the decision if it does so more than the others do
together. Where hardly any item changes the odds, there is nothing to measure.
"""

from collections.abc import Iterator
from functools import partial

import polars as pl

from assay.statistics.estimates import mean_estimate
from assay.statistics.intervals import share_interval
from assay.verdict.claim import (
    FAILS_BELOW,
    FAITHFULNESS_VIOLATION,
    HOLDS_ABOVE,
    Beside,
    Claim,
    Reading,
)
from assay.verdict.single_items import (
    RANKING,
    SingleItems,
    Wording,
    formula,
    quantities,
    read_single_items,
)
from assay.verdict.tables import values_of

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
EFFECT = "weaker"
VIOLATION, EXPECTED = "polarity_violation", "polarity_violation_expected"
WORDING = Wording(
    too_few="Erasing a single item weakens the prediction of {asked} of {all} documents",
    found="Without the item with the highest weight, the prediction is weaker in {top} of "
    "{asked} documents; without a random item, in {random}.",
)


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    return read_single_items(evidence, EFFECT, WORDING, partial(_beside, evidence))


def _beside(evidence: pl.DataFrame, items: SingleItems) -> Iterator[Beside]:
    violated, expected = (values_of(evidence, name, RANKING) for name in (VIOLATION, EXPECTED))
    if len(violated):
        yield Beside.of(
            "polarity violations: share of documents whose prediction is stronger without the top "
            "item",
            share_interval(int(violated.sum()), len(violated)),
        )
    if len(expected):
        yield Beside.of("the same without another item", mean_estimate(expected))
    yield Beside.of("share that some single item weakens", items.share_of(items.some))


CLAIM = Claim(
    name="right sign",
    notion="faithfulness",
    says="Without the item with the highest weight, the prediction is weaker.",
    may_be_said="The darkest {word} speaks for the prediction, which is weaker without it.",
    may_not_be_said="Do not say that the darkest {word} speaks for the prediction: the prediction "
    "is weaker without the darkest {word} not much more often than without a random one.",
    effect_label="how often the prediction is weaker without the top item; 0: as often as without "
    "a random item, 1: wherever some single item can make it weaker",
    unit="share of the way from random to all",
    probe="erase_one",
    paper=FAITHFULNESS_VIOLATION,
    yardstick="a random item; the documents whose prediction is weaker without some single item",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(formula(EFFECT),),
    read=read,
    quantities=(*quantities(EFFECT), VIOLATION, EXPECTED),
)
