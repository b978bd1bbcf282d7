"""What may be claimed of this model's attention, on this evidence?

One line per claim: the finding, the effect with its interval, the yardstick it was held against
and why. No overall score: the answer depends on what one means by an explanation. Every
threshold is named here and repeated in the sentence that uses it. They are judgements, not yet
held against models whose answer is known. RIVALS_AGREE_FROM is the weakest of them: it was added
after a run on `reviews` had come out "supported" with rivals that hardly agreed themselves.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from assay.measures.intervals import TAILS, share_interval

Finding = Literal["supported", "contradicted", "undecided", "not measured", "not applicable"]

AGREES_FROM = 0.8  # of the way from shuffled weights to the agreement of the two rivals
DISAGREES_BELOW = 0.5
RIVALS_AGREE_FROM = 0.4  # tau; below it the rivals' word carries too little to support a claim
NOTICEABLE_TVD = 0.1  # a change of the prediction that a reader would notice
DOMINANT_WEIGHT = 0.5  # attention points at one item
ENOUGH_DOMINANT = 30  # documents; with fewer, all documents are used
MAJORITY = 0.5
SAME_TVD = 0.01  # Jain & Wallace's eps: the prediction counts as the same
FAR_JSD = math.log(2) / 2  # weights count as very different from half of the largest JSD on
DRAWS = 2_000


@dataclass(frozen=True)
class Claim:
    name: str
    says: str
    probe: str  # whose evidence decides it
    paper: str
    yardstick: str
    decide: Callable[[pl.DataFrame, int], dict[str, Any]] | None = None


def judge(evidence: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """One entry per claim, in the order of the debate."""
    return [_entry(claim, evidence, seed) for claim in CLAIMS]


def _entry(claim: Claim, evidence: pl.DataFrame, seed: int) -> dict[str, Any]:
    declared = asdict(claim)
    del declared["decide"]
    declared["claim"] = declared.pop("name")
    own = evidence.filter(pl.col("probe") == claim.probe)
    if claim.decide is None or own.is_empty():
        why = f"The probe '{claim.probe}' was not part of this run."
        return declared | _finding("not measured", why)
    return declared | claim.decide(own, seed)


def _agrees(evidence: pl.DataFrame, seed: int) -> dict[str, Any]:
    """How far from the floor to the ceiling does attention's agreement with leave-one-out reach?"""
    names = [f"tau_{one}_leave_one_out" for one in ("attention", "gradient", "shuffled")]
    wide = _wide(evidence, names)
    if wide is None:
        return _finding("not applicable", "This model gives no gradients: there is no ceiling.")
    n = len(wide)
    if n < 2:
        return _finding("undecided", "Fewer than two documents have all three taus.", n=n)
    rng = np.random.default_rng(seed)
    draws = np.array([wide[rng.integers(n, size=n)].mean(0) for _ in range(DRAWS)])
    spans = draws[:, 1] - draws[:, 2]
    if np.quantile(spans, TAILS[0]) <= 0:
        why = "Gradient and leave-one-out themselves agree no better than shuffled weights do."
        return _finding("undecided", why, n=n)
    low, high = (float(q) for q in np.quantile((draws[:, 0] - draws[:, 2]) / spans, TAILS))
    own, ceiling, floor = wide.mean(0)
    effect = float((own - floor) / (ceiling - floor))
    finding = _threshold(low, high, supported=AGREES_FROM, contradicted=DISAGREES_BELOW)
    weak = ceiling < RIVALS_AGREE_FROM
    if weak and finding == "supported":
        finding = "undecided"
    why = (
        f"Attention's tau with leave-one-out is {_two(own)}; that of the gradient is "
        f"{_two(ceiling)} (ceiling) and that of shuffled weights {_two(floor)} (floor). "
        f"Attention covers {effect:.0%} of the way; supported from {AGREES_FROM:.0%}, "
        f"contradicted below {DISAGREES_BELOW:.0%}."
    )
    if weak:
        why += (
            f" But the rivals agree too weakly with each other to support the claim: that takes "
            f"a ceiling of {RIVALS_AGREE_FROM}."
        )
    return _finding(finding, why, effect, low, high, n)


def _depends(evidence: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Do predictions move when the weights are dealt out to other items?"""
    wide = _wide(evidence, ["median_tvd", "max_attention"])
    if wide is None or not len(wide):
        return _finding("undecided", "No document could be measured.")
    dominant = wide[wide[:, 1] >= DOMINANT_WEIGHT]
    pointed = len(dominant) >= ENOUGH_DOMINANT
    chosen = dominant if pointed else wide
    which = (
        f"the {len(chosen)} documents whose largest weight is at least {DOMINANT_WEIGHT}"
        if pointed
        else f"all {len(chosen)} documents (only {len(dominant)} have a weight of at least "
        f"{DOMINANT_WEIGHT}; {ENOUGH_DOMINANT} are needed to judge by those alone)"
    )
    share = share_interval(int((chosen[:, 0] >= NOTICEABLE_TVD).sum()), len(chosen))
    finding = _threshold(share.low, share.high, supported=MAJORITY, contradicted=MAJORITY)
    why = (
        f"Shuffling the weights moves the prediction by {NOTICEABLE_TVD} or more (median of 100 "
        f"shuffles) in {share.value:.0%} of {which}; supported above {MAJORITY:.0%}, contradicted "
        f"below."
    )
    return _finding(finding, why, share.value, share.low, share.high, len(chosen))


def _exclusive(evidence: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Do very different weights give the same prediction?"""
    group = evidence.filter(pl.col("group") == f"eps={SAME_TVD:g}")
    method = group["method"][0]
    reached = group.filter(pl.col("quantity") == "max_jsd")["value"].to_numpy()
    limit = group.filter(pl.col("quantity") == "max_jsd_upper")["value"].to_numpy()
    n = len(reached)
    far = share_interval(int((reached >= FAR_JSD).sum()), n)
    # To contradict, rivals must have been found; to support, none may exist. Between a bracket's
    # ends neither is known, and a search that finds nothing proves nothing.
    may_be_far = share_interval(int(((limit if len(limit) else reached) >= FAR_JSD).sum()), n)
    finding: Finding = "undecided"
    if far.low > MAJORITY:
        finding = "contradicted"
    elif may_be_far.high < MAJORITY and method != "search":
        finding = "supported"
    why = (
        f"In {far.value:.0%} of the documents weights at least {FAR_JSD:.2f} nats from the model's "
        f"own (half of the largest possible JSD) move the prediction by at most {SAME_TVD}; the "
        f"mean over documents is {reached.mean():.2f} ({method}). Contradicted above "
        f"{MAJORITY:.0%}, supported below. Seed noise was not measured by this run."
    )
    return _finding(finding, why, far.value, far.low, far.high, n)


def _wide(evidence: pl.DataFrame, quantities: list[str]) -> np.ndarray | None:
    """Instances that have all of the quantities, one column each; None if one was not measured."""
    frame = evidence.filter(pl.col("quantity").is_in(quantities))
    if frame["quantity"].n_unique() < len(quantities):
        return None
    wide = frame.pivot("quantity", index="instance", values="value").select(quantities)
    return wide.drop_nulls().to_numpy()


def _two(value: float) -> str:
    """Two decimals, and no minus before a zero."""
    return f"{round(float(value), 2) + 0:.2f}"


def _threshold(low: float, high: float, *, supported: float, contradicted: float) -> Finding:
    """The whole interval must lie on one side."""
    if low > supported:
        return "supported"
    return "contradicted" if high < contradicted else "undecided"


def _finding(
    finding: Finding,
    why: str,
    effect: float | None = None,
    low: float | None = None,
    high: float | None = None,
    n: int = 0,
) -> dict[str, Any]:
    return {"finding": finding, "effect": effect, "low": low, "high": high, "n": n, "why": why}


_JW, _SS, _WP = "Jain & Wallace 2019", "Serrano & Smith 2019", "Wiegreffe & Pinter 2019"

CLAIMS = (
    Claim("needed", "The model needs its attention.", "uniform", _WP,
          "the same network with uniform weights, and the noise between seeds"),
    Claim("agrees", "Attention orders the items as other measures of importance do.",
          "agreement", _JW, "gradient against leave-one-out (ceiling), shuffled weights (floor)",
          _agrees),
    Claim("stable", "Trained again, the model attends to the same items.", "seeds", _WP,
          "other seeds of the same network"),
    Claim("depends", "The prediction depends on which items get the weight.", "permutation", _JW,
          "documents with a dominant weight", _depends),
    Claim("exclusive per instance", "No very different weights give the same prediction.",
          "adversary", _JW, "half of the largest possible JSD", _exclusive),
    Claim("exclusive per model", "No other model predicts the same with other attention.",
          "imitation", _WP, "other seeds of the same network"),
    Claim("top weight matters", "Erasing the highest weight changes the decision.", "erase_one",
          _SS, "the expectation over a random item"),
    Claim("order is efficient", "Erasing by attention flips the decision soon.", "erase_order",
          _SS, "the smallest flipping set, gradient and random orders"),
    Claim("guides", "The weights help a model without context.", "guide", _WP,
          "its own, permuted and leaked weights"),
    Claim("plausible", "People mark the same items.", "rationale", "DeYoung et al. 2020",
          "human rationales; says nothing of faithfulness"),
)  # fmt: skip
