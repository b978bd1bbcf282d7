"""Do people mark the items that attention ranks first?

This is plausibility and nothing else: a model may attend to what people mark and decide by
something else. The best other score on the same documents is shown beside attention, so that a
reader sees whether another heat map would be more plausible.
"""

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import ERASER, Claim, Decision, decision, side, two_decimals

ENOUGH_MARKED = 30  # documents; an interval over fewer is not reliable
PLAUSIBLE_FROM = 0.7  # AUC: the marked item ranks higher in seven of ten pairs; a coin gives five
# A reader would hardly tell it from a coin. Controls: 1.0 against 0.5.
IMPLAUSIBLE_BELOW = 0.6
OWN, FLOOR = "attention", "random"


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    measured = evidence.filter(quantity="auc").drop_nulls("value")
    values = measured.filter(group=OWN)["value"].to_numpy()
    n = len(values)
    if n < ENOUGH_MARKED:
        why = (
            f"Only {n} documents have both marked and unmarked items; {ENOUGH_MARKED} are needed. "
            "Plausibility says nothing about faithfulness."
        )
        return decision("undecided", why, n=n)
    auc = mean_interval(values, seed)
    finding = side(auc.low, auc.high, supported=PLAUSIBLE_FROM, contradicted=IMPLAUSIBLE_BELOW)
    why = (
        f"In {auc.value:.0%} of the pairs of a marked and an unmarked item, attention ranks the "
        f"marked one higher (mean AUC {two_decimals(auc.value)}); random numbers do in 50%"
        f"{_best_other(measured, n)}. Supported from {PLAUSIBLE_FROM:.0%}, contradicted below "
        f"{IMPLAUSIBLE_BELOW:.0%}. This says nothing about faithfulness: a model may attend to "
        "what people mark and decide by something else."
    )
    return decision(finding, why, auc.value, auc.low, auc.high, n)


def _best_other(measured: pl.DataFrame, n: int) -> str:
    """The score with the highest mean, among those computed on all these documents."""
    others = measured.filter(~pl.col("group").is_in((OWN, FLOOR)))
    means = others.group_by("group").agg(pl.col("value").mean(), n=pl.len()).filter(n=n)
    if means.is_empty():
        return ""
    name, mean, _ = means.sort("value", "group", descending=(True, False)).row(0)
    return f", the best other score ({str(name).replace('_', ' ')}) in {mean:.0%}"


CLAIM = Claim(
    name="plausible",
    notion="plausibility",
    says="People mark the same items.",
    clause="people mark the same items",
    effect_label="mean AUC: how often a marked item ranks above an unmarked one (random: 0.5)",
    probe="rationale",
    paper=ERASER,
    yardstick="random numbers (AUC 0.5) and the best other score; says nothing about faithfulness",
    decide=decide,
)
