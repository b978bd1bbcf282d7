"""Does the model need its attention, or would uniform weights do as well?"""

import polars as pl

from assay.statistics.intervals import seeds_interval
from assay.verdict.claim import WIEGREFFE_PINTER, Claim, Decision, decision, f1_gap, side
from assay.verdict.rules import DISPENSABLE_F1, NEEDED_F1


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter(pl.col("probe") == "uniform")
    gap = f1_gap(own, "base", "uniform", seed)
    by_seed = own.filter(pl.col("quantity") == "f1_difference")["value"]
    models = seeds_interval(by_seed.to_numpy())
    finding = side(gap.low, gap.high, supported=NEEDED_F1, contradicted=DISPENSABLE_F1)
    if finding == "supported" and not models.low > NEEDED_F1:
        finding = "undecided"
    spread = (
        "one seed has no interval" if models.n < 2 else f"{models.low:.3f} to {models.high:.3f}"
    )
    why = (
        f"With attention F1 is {gap.value:+.3f} against uniform weights (over documents "
        f"{gap.low:.3f} to {gap.high:.3f}; over {models.n} seeds {spread}). Supported if both "
        f"intervals lie above {NEEDED_F1}, contradicted if attention is worth less than "
        f"{DISPENSABLE_F1}."
    )
    if finding == "contradicted":
        why += " A corpus that does not need attention cannot tell whether attention explains."
    return decision(finding, why, gap.value, gap.low, gap.high, gap.n)


CLAIM = Claim(
    "needed",
    "The model needs its attention.",
    "uniform",
    WIEGREFFE_PINTER,
    "the same network with uniform weights, and the noise between seeds",
    decide,
    notion="transparency",
)
