"""Does attention order the items as other importance measures do?

The effect is the position of attention's tau with leave-one-out between a floor, the tau of
shuffled weights, and a ceiling, the tau of the gradient.
"""

import numpy as np
import polars as pl

from assay.statistics.intervals import TAILS, resampled_means
from assay.verdict.claim import (
    JAIN_WALLACE,
    Claim,
    Decision,
    decision,
    ratio_bounds,
    side,
    side_by_side,
    two_decimals,
)

AGREES_FROM = 0.8  # of the way from shuffled weights to the agreement of gradient and leave-one-out
DISAGREES_BELOW = 0.5  # controls: 1.1 against 0.4, the smallest margin of all claims
# Attention's own tau. Below it, agreement is too weak to support the claim. This threshold was for
# the tau between gradient and leave-one-out, until the attention of a control, which is the reason,
# agreed better with leave-one-out than the gradient did. Controls: 0.7 against 0.1.
AGREES_TAU = 0.4


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    names = [f"tau_{score}_leave_one_out" for score in ("attention", "gradient", "shuffled")]
    taus = side_by_side(evidence, names)
    if taus is None:
        return decision("not applicable", "This model gives no gradients, so there is no ceiling.")
    n = len(taus)
    if n < 2:
        return decision("undecided", "Fewer than two documents have all three taus.", n=n)
    draws = resampled_means(taus, seed)
    spans = draws[:, 1] - draws[:, 2]
    if np.quantile(spans, TAILS[0]) <= 0:
        why = "Gradient and leave-one-out agree with each other no better than shuffled weights do."
        return decision("undecided", why, n=n)
    low, high = ratio_bounds(draws[:, 0] - draws[:, 2], spans)
    own, ceiling, floor = taus.mean(0)
    effect = float((own - floor) / (ceiling - floor))
    finding = side(low, high, supported=AGREES_FROM, contradicted=DISAGREES_BELOW)
    weak = finding == "supported" and own < AGREES_TAU
    if weak:
        finding = "undecided"
    return decision(finding, _why(own, ceiling, floor, effect, weak), effect, low, high, n)


def _why(own: float, ceiling: float, floor: float, effect: float, weak: bool) -> str:
    why = (
        f"Attention's tau with leave-one-out is {two_decimals(own)}. The gradient reaches "
        f"{two_decimals(ceiling)} (ceiling) and shuffled weights {two_decimals(floor)} (floor). "
        f"Attention covers {effect:.0%} of the way from floor to ceiling; supported from "
        f"{AGREES_FROM:.0%}, contradicted below {DISAGREES_BELOW:.0%}."
    )
    if weak:
        why += (
            f" However, a tau below {AGREES_TAU} is too weak to support the claim, whatever the "
            "ceiling is."
        )
    return why


CLAIM = Claim(
    name="agrees",
    notion="faithfulness",
    says="Attention orders the items as other importance measures do.",
    clause="attention orders the items as other importance measures do",
    effect_label="position between shuffled weights (0) and the agreement of gradient and "
    "leave-one-out (1)",
    probe="agreement",
    paper=JAIN_WALLACE,
    yardstick="gradient with leave-one-out (ceiling), shuffled weights (floor)",
    decide=decide,
)
