"""Does the prediction depend on which items get the weight?

The effect is the mean movement of the prediction (TVD) when the weights are dealt out to other
items, so that no item keeps its own place. It is in points of probability and not relative to the
furthest movement: a model that hardly uses its weights would otherwise score as high as one that
does. Documents with a single item have no other place for its weight and do not enter.
"""

import polars as pl

from assay.statistics.estimates import mean_estimate
from assay.statistics.intervals import median_interval
from assay.verdict.claim import JAIN_WALLACE, SHARE_BOUNDS, Beside, Claim, Measure, Reading
from assay.verdict.tables import values_of
from assay.verdict.wording import points

SUPPORTED_ABOVE = 0.10  # TVD
CONTRADICTED_BELOW = 0.05  # TVD: five points of probability
FORMULA = "mean(deranged_tvd)"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    moved = values_of(evidence, "deranged_tvd")
    if not len(moved):
        return Reading(
            says="No document has two items whose weights could be exchanged.",
            reason="nothing to measure",
        )
    mean = mean_estimate(moved, SHARE_BOUNDS)
    says = (
        "When every weight goes to another item, the prediction moves by "
        f"{points(mean.value)} on average over {mean.n:,} documents."
    )
    published = values_of(evidence, "median_tvd")
    return Reading(
        says=says,
        measures=(Measure("mean TVD", mean, FORMULA),),
        beside=(
            Beside.of(
                "median over documents of the median TVD over 100 permutations",
                median_interval(published, seed),
            ),
        )
        if len(published)
        else (),
    )


CLAIM = Claim(
    name="depends",
    notion="transparency",
    says="The prediction depends on which items get the weight.",
    may_be_said="The prediction moves when the weight lies on other {words}.",
    may_not_be_said="Do not say that the prediction rests on which {words} are dark: with the "
    "weight on other {words} the prediction stays almost the same.",
    effect_label="how far the prediction moves on average when every weight goes to another item",
    unit="TVD",
    probe="permutation",
    paper=JAIN_WALLACE,
    yardstick="the prediction with the model's own weights",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(FORMULA,),
    read=read,
)
