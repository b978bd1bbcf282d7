"""Does attention order the items as other measures of importance do?"""

import numpy as np
import polars as pl

from assay.statistics.intervals import TAILS
from assay.verdict.claim import (
    JAIN_WALLACE,
    Claim,
    Decision,
    decision,
    resampled_means,
    side,
    side_by_side,
    two,
)
from assay.verdict.rules import AGREES_FROM, AGREES_TAU, DISAGREES_BELOW


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    """How far from the floor to the ceiling does attention's agreement with leave-one-out reach?"""
    names = [f"tau_{one}_leave_one_out" for one in ("attention", "gradient", "shuffled")]
    wide = side_by_side(evidence, names)
    if wide is None:
        return decision("not applicable", "This model gives no gradients: there is no ceiling.")
    n = len(wide)
    if n < 2:
        return decision("undecided", "Fewer than two documents have all three taus.", n=n)
    draws = resampled_means(wide, seed)
    spans = draws[:, 1] - draws[:, 2]
    if np.quantile(spans, TAILS[0]) <= 0:
        why = "Gradient and leave-one-out themselves agree no better than shuffled weights do."
        return decision("undecided", why, n=n)
    low, high = (float(q) for q in np.quantile((draws[:, 0] - draws[:, 2]) / spans, TAILS))
    own, ceiling, floor = wide.mean(0)
    effect = float((own - floor) / (ceiling - floor))
    finding = side(low, high, supported=AGREES_FROM, contradicted=DISAGREES_BELOW)
    weak = finding == "supported" and own < AGREES_TAU
    if weak:
        finding = "undecided"
    why = (
        f"Attention's tau with leave-one-out is {two(own)}; that of the gradient is "
        f"{two(ceiling)} (ceiling) and that of shuffled weights {two(floor)} (floor). "
        f"Attention covers {effect:.0%} of the way; supported from {AGREES_FROM:.0%}, "
        f"contradicted below {DISAGREES_BELOW:.0%}."
    )
    if weak:
        why += (
            f" But a tau below {AGREES_TAU} is too weak to support the claim, however weakly the "
            "rivals agree."
        )
    return decision(finding, why, effect, low, high, n)


CLAIM = Claim(
    "agrees",
    "Attention orders the items as other measures of importance do.",
    "agreement",
    JAIN_WALLACE,
    "gradient against leave-one-out (ceiling), shuffled weights (floor)",
    decide,
    notion="faithfulness",
)
