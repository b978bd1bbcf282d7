"""Do no very different weights give the same prediction?"""

import polars as pl

from assay.statistics.intervals import share_interval
from assay.verdict.claim import JAIN_WALLACE, MAJORITY, Claim, Decision, Finding, decision
from assay.verdict.rules import FAR_JSD, SAME_TVD


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    """Do very different weights give the same prediction?"""
    own = evidence.filter(pl.col("probe") == "adversary")
    group = own.filter(pl.col("group") == f"eps={SAME_TVD:g}")
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
        f"{MAJORITY:.0%}, supported below. {_noise(evidence)}"
    )
    return decision(finding, why, far.value, far.low, far.high, n)


def _noise(evidence: pl.DataFrame) -> str:
    """How far attention moves by itself, for comparison; it decides nothing."""
    between = evidence.filter(
        pl.col("probe") == "seeds", pl.col("quantity") == "median_jsd", pl.col("group") == "both"
    )["value"]
    if between.is_empty():
        return "Seed noise was not measured by this run."
    return f"Between seeds, attention moves by {between.to_numpy().mean():.2f} nats."


CLAIM = Claim(
    "exclusive per instance",
    "No very different weights give the same prediction.",
    "adversary",
    JAIN_WALLACE,
    "half of the largest possible JSD",
    decide,
    beside=("seeds",),
    notion="faithfulness",
)
