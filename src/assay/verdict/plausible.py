"""Do people mark the items that attention ranks first?

This is plausibility and nothing else: a model may attend to what people mark and decide by
something else. The best other score on the same documents is shown beside attention, so that a
reader sees whether another heat map would be more plausible. The effect is the mean AUC, from 0.5
for shuffled weights to 1.
"""

from collections.abc import Iterator

import polars as pl

from assay.statistics.estimates import mean_estimate
from assay.verdict.claim import (
    ERASER,
    FAILS_BELOW,
    HOLDS_ABOVE,
    SHARE_BOUNDS,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import values_of
from assay.verdict.wording import percent, short

SUPPORTED_ABOVE = (1 + HOLDS_ABOVE) / 2  # AUC: 0.5 is shuffled weights, 1 the best possible
CONTRADICTED_BELOW = (1 + FAILS_BELOW) / 2
OWN, FLOOR = "attention", "random"
FORMULA = f"mean(auc[{OWN}])"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    values = values_of(evidence, "auc", OWN)
    if not len(values):
        says = "No document has both marked and unmarked items."
        return Reading(says=says, reason="nothing to measure")
    auc = mean_estimate(values, SHARE_BOUNDS)
    others = tuple(_other_scores(evidence, auc.n))
    best = (
        f"; the best other score, {others[0].name}, in {percent(others[0].value)}" if others else ""
    )
    says = (
        f"In {percent(auc.value)} of the pairs of a marked and an unmarked item, attention ranks "
        f"the marked one higher (mean AUC {short(auc.value)}); shuffled weights do in 50 %{best}. "
        "This says nothing about faithfulness."
    )
    return Reading(says=says, measures=(Measure("mean AUC", auc, FORMULA),), beside=others)


def _other_scores(evidence: pl.DataFrame, n: int) -> Iterator[Beside]:
    """The mean AUC of the other scores that all these documents have, the best first."""
    measured = evidence.filter(pl.col("quantity") == "auc").drop_nulls("value")
    others = measured.filter(~pl.col("group").is_in((OWN, FLOOR)))
    means = others.group_by("group").agg(pl.col("value").mean(), n=pl.len()).filter(n=n)
    for name in means.sort("value", "group", descending=(True, False))["group"]:
        estimate = mean_estimate(values_of(others, "auc", name), SHARE_BOUNDS)
        said = str(name).replace("leave_one_out", "leave-one-out").replace("_", " ")
        yield Beside.of(said, estimate)


CLAIM = Claim(
    name="plausible",
    notion="plausibility",
    says="People mark the same items.",
    may_be_said="People marked the same {words}. This says nothing about the model’s own reasons.",
    may_not_be_said="Do not say that people would give the same reasons: people marked other "
    "{words}.",
    effect_label="mean AUC: how often a marked item ranks above an unmarked one (shuffled: 0.5)",
    unit="AUC",
    probe="rationale",
    paper=ERASER,
    yardstick="shuffled weights (AUC 0.5) and the best other score; says nothing about "
    "faithfulness",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(FORMULA,),
    read=read,
)
