"""Do people mark the items that attention puts first?

Plausibility, and nothing else: a model may look where people look and decide by something else.
Beside attention stands the best other score on the same documents, so that a reader sees whether
another heat map would please people more.
"""

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import ERASER, Claim, Decision, decision, side, two
from assay.verdict.rules import ENOUGH_MARKED, IMPLAUSIBLE_BELOW, PLAUSIBLE_FROM

OWN, FLOOR = "attention", "random"


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    measured = evidence.filter(quantity="auc").drop_nulls("value")
    values = measured.filter(group=OWN)["value"].to_numpy()
    n = len(values)
    if n < ENOUGH_MARKED:
        why = (
            f"Only {n} documents have marked and unmarked items; {ENOUGH_MARKED} are needed. "
            "Plausibility says nothing about faithfulness."
        )
        return decision("undecided", why, n=n)
    auc = mean_interval(values, seed)
    finding = side(auc.low, auc.high, supported=PLAUSIBLE_FROM, contradicted=IMPLAUSIBLE_BELOW)
    why = (
        f"Of a marked and an unmarked item attention puts the marked one higher in "
        f"{auc.value:.0%} of the pairs (mean AUC {two(auc.value)}); random numbers do in 50%"
        f"{_best_other(measured, n)}. Supported from {PLAUSIBLE_FROM:.0%}, contradicted below "
        f"{IMPLAUSIBLE_BELOW:.0%}. This says nothing about faithfulness: a model may look where "
        "people look and decide by something else."
    )
    return decision(finding, why, auc.value, auc.low, auc.high, n)


def _best_other(measured: pl.DataFrame, n: int) -> str:
    """The score with the highest mean, of those that were taken on all these documents."""
    rivals = measured.filter(~pl.col("group").is_in((OWN, FLOOR)))
    means = rivals.group_by("group").agg(pl.col("value").mean(), n=pl.len()).filter(n=n)
    if means.is_empty():
        return ""
    name, mean, _ = means.sort("value", "group", descending=(True, False)).row(0)
    return f", the best other score ({str(name).replace('_', ' ')}) in {mean:.0%}"


CLAIM = Claim(
    "plausible",
    "People mark the same items.",
    "rationale",
    ERASER,
    "random numbers (AUC 0.5), and the best other score; says nothing of faithfulness",
    decide,
    notion="plausibility",
)
