"""Does erasing by attention, highest weight first, change the decision soon?

The fraction of items erased at the change counts as 1 where it never comes. Only documents that can
be changed are asked. How far does attention reach on the way from the random order to the best one:
the exact smallest flipping set, or the gradient order where the head has no closed form? And is
that soon: where the best order itself must erase most items, reaching it supports nothing.
"""

import numpy as np
import polars as pl

from assay.statistics.intervals import TAILS
from assay.verdict.claim import (
    SERRANO_SMITH,
    Claim,
    Decision,
    decision,
    resampled_means,
    side,
    side_by_side,
)
from assay.verdict.rules import EFFICIENT_FROM, ENOUGH_ERASED, INEFFICIENT_BELOW, SOON_BELOW

BEST = {"optimal": "the smallest flipping set", "gradient": "the gradient order"}


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    measured = set(evidence["group"])
    best = next((name for name in BEST if name in measured), None)
    if best is None:
        why = "This model has neither a closed form nor a gradient: there is no best order."
        return decision("not applicable", why)
    rivals = [name for name in ("random", "attention", best, "gradient") if name in measured]
    fractions = _fractions(evidence, list(dict.fromkeys(rivals)))
    n = len(fractions)
    if n < ENOUGH_ERASED:
        why = f"Erasing can change the decision of {n} documents; {ENOUGH_ERASED} are needed."
        return decision("undecided", why, n=n)
    draws = resampled_means(fractions[:, :3], seed)
    if np.quantile(draws[:, 0] - draws[:, 2], TAILS[0]) <= 0:
        why = f"{BEST[best].capitalize()} needs no fewer items than a random order."
        return decision("undecided", why, n=n)
    low, high = np.quantile(_reach(draws), TAILS).tolist()
    means = fractions.mean(0)
    effect = float(_reach(means[None])[0])
    finding = side(low, high, supported=EFFICIENT_FROM, contradicted=INEFFICIENT_BELOW)
    if finding == "supported" and means[1] >= SOON_BELOW:
        finding = "undecided"
    return decision(finding, _why(means, best, effect), effect, low, high, n)


def _why(means: np.ndarray, best: str, effect: float) -> str:
    return (
        f"Of a document's items {means[1]:.0%} are erased by attention until the decision changes "
        f"(never counts as all), {means[0]:.0%} at random, {_said(means, best)}. Attention covers "
        f"{effect:.0%} of the way from random to the best; supported from {EFFICIENT_FROM:.0%} if "
        f"less than {SOON_BELOW:.0%} of the items must go, contradicted below "
        f"{INEFFICIENT_BELOW:.0%}."
    )


def _fractions(evidence: pl.DataFrame, orders: list[str]) -> np.ndarray:
    """(documents, orders), of the documents that at least one of the orders changes."""
    own = evidence.filter(pl.col("quantity") == "fraction_never_one")
    fractions = side_by_side(own, orders, by="group")
    never = side_by_side(evidence.filter(pl.col("quantity") == "never_flips"), orders, by="group")
    assert fractions is not None
    assert never is not None
    changed: np.ndarray = fractions[(never == 0).any(1)]
    return changed


def _reach(means: np.ndarray) -> np.ndarray:
    """From columns random, attention, best."""
    reach: np.ndarray = (means[:, 0] - means[:, 1]) / (means[:, 0] - means[:, 2])
    return reach


def _said(means: np.ndarray, best: str) -> str:
    said = f"{means[2]:.0%} by {BEST[best]}"
    return said if len(means) == 3 else f"{means[3]:.0%} by the gradient order and {said}"


CLAIM = Claim(
    "order is efficient",
    "Erasing by attention flips the decision soon.",
    "erase_order",
    SERRANO_SMITH,
    "the smallest flipping set, gradient and random orders",
    decide,
    notion="faithfulness",
)
