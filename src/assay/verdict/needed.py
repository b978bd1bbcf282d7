"""Does the model need its attention, or do uniform weights work as well?

The effect is F1 with attention minus F1 with uniform weights, paired by seed and by document. Its
interval counts documents and models as drawn by chance.
"""

import polars as pl

from assay.statistics.estimates import mean_estimate
from assay.verdict.claim import (
    SIGNED_BOUNDS,
    WIEGREFFE_PINTER,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import f1_tables
from assay.verdict.wording import short

# In F1. The smallest gain of interest is 0.01; with 500 documents and 5 to 8 models a threshold
# below 0.017 would leave most models without any gain undecided (calibration families).
SUPPORTED_ABOVE = 0.03
CONTRADICTED_BELOW = 0.02
OWN, FLAT = "base", "uniform"
FORMULA = "over_documents(f1_difference)"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    tables = f1_tables(evidence, (OWN, FLAT))
    if tables is None:
        says = "No model was trained both with attention and with equal weights."
        return Reading(says=says, reason="nothing to measure")
    gain = mean_estimate(tables[OWN] - tables[FLAT], SIGNED_BOUNDS)
    own, flat = (mean_estimate(tables[name]) for name in (OWN, FLAT))
    says = (
        f"Trained with attention, the model reaches {short(own.value)} (F1, 1 = every prediction "
        f"right); trained with equal weights for all items, {short(flat.value)} (means over "
        f"{gain.models} trainings)."
    )
    return Reading(
        says=says,
        measures=(Measure("gain in F1", gain, FORMULA),),
        beside=(Beside.of("F1 with attention", own), Beside.of("F1 with equal weights", flat)),
    )


CLAIM = Claim(
    name="needed",
    notion="transparency",
    says="The model needs its attention.",
    may_be_said="The model is better with its attention than with equal weights for all {words}.",
    may_not_be_said="Do not say that the model needs its attention: the model is as good with "
    "equal weights for all {words}.",
    effect_label="how much better the model is with attention than with equal weights (F1)",
    unit="F1",
    probe="uniform",
    paper=WIEGREFFE_PINTER,
    yardstick="the same network with equal weights for all items, by seed",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    several_models=True,
    formulas=(FORMULA,),
    read=read,
)
