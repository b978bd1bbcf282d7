"""Does the model need its attention, or do uniform weights work as well?

Two intervals must lie above zero to support the claim: the one over documents and the one over
seeds.
"""

import polars as pl

from assay.statistics.intervals import seeds_interval
from assay.verdict.claim import (
    DISPENSABLE_F1,
    NEEDED_F1,
    WIEGREFFE_PINTER,
    Claim,
    Decision,
    decision,
    f1_gap,
    side,
)


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter(pl.col("probe") == "uniform")
    gap = f1_gap(own, "base", "uniform", seed)
    by_seed = own.filter(pl.col("quantity") == "f1_difference")["value"]
    models = seeds_interval(by_seed.to_numpy())
    finding = side(gap.low, gap.high, supported=NEEDED_F1, contradicted=DISPENSABLE_F1)
    if finding == "supported" and not models.low > NEEDED_F1:
        finding = "undecided"
    over_seeds = (
        "one seed has no interval" if models.n < 2 else f"{models.low:.3f} to {models.high:.3f}"
    )
    why = (
        f"F1 with attention minus F1 with uniform weights is {gap.value:+.3f} (over documents "
        f"{gap.low:.3f} to {gap.high:.3f}; over {models.n} seeds {over_seeds}). Supported if both "
        f"intervals lie above {NEEDED_F1}, contradicted if attention is worth less than "
        f"{DISPENSABLE_F1}."
    )
    if finding == "contradicted":
        why += " A corpus that does not need attention cannot show whether attention explains."
    return decision(finding, why, gap.value, gap.low, gap.high, gap.n)


CLAIM = Claim(
    name="needed",
    notion="transparency",
    says="The model needs its attention.",
    clause="the model needs its attention",
    effect_label="F1 with attention, above F1 with uniform weights",
    probe="uniform",
    paper=WIEGREFFE_PINTER,
    yardstick="the same network with uniform weights, and the variation between seeds",
    decide=decide,
)
