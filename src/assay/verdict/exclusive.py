"""Is there no set of very different weights that gives the same prediction?

To contradict the claim, such weights must have been found in most documents. To support it, their
existence must be ruled out. Between the two ends of a bracket neither is known, and a search that
finds nothing proves nothing.
"""

import polars as pl

from assay.statistics.intervals import share_interval
from assay.verdict.claim import FAR_JSD, JAIN_WALLACE, MAJORITY, Claim, Decision, Finding, decision

# Controls: 0.0 of the documents have such weights, against all of them.
SAME_TVD = 0.01  # Jain & Wallace's eps: the prediction counts as the same


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter(pl.col("probe") == "adversary")
    group = own.filter(pl.col("group") == f"eps={SAME_TVD:g}").drop_nulls("value")
    if group.is_empty():
        return decision("undecided", "No document has more than one item.")
    method = group["method"][0]
    reached = group.filter(quantity="max_jsd")["value"].to_numpy()
    limit = group.filter(pl.col("quantity") == "max_jsd_upper")["value"].to_numpy()
    n = len(reached)
    far = share_interval(int((reached >= FAR_JSD).sum()), n)
    may_be_far = share_interval(int(((limit if len(limit) else reached) >= FAR_JSD).sum()), n)
    finding: Finding = "undecided"
    if far.low > MAJORITY:
        finding = "contradicted"
    elif may_be_far.high < MAJORITY and method not in ("search", "searched"):
        finding = "supported"
    why = (
        f"In {far.value:.0%} of the documents, weights at least {FAR_JSD:.2f} nats away from the "
        f"model's own (half of the largest possible JSD) move the prediction by at most "
        f"{SAME_TVD}; the mean of the largest JSD is {reached.mean():.2f} ({method}). "
        f"Contradicted above {MAJORITY:.0%}, supported below. {_seed_noise(evidence)}"
    )
    return decision(finding, why, far.value, far.low, far.high, n)


def _seed_noise(evidence: pl.DataFrame) -> str:
    """How far attention moves between seeds. It is shown for comparison and decides nothing."""
    between = evidence.filter(
        pl.col("probe") == "seeds", pl.col("quantity") == "median_jsd", pl.col("group") == "both"
    )["value"]
    if between.is_empty():
        return "This run did not measure how far attention moves between seeds."
    return f"Between seeds, attention moves by {between.to_numpy().mean():.2f} nats."


CLAIM = Claim(
    name="exclusive per instance",
    notion="faithfulness",
    says="No very different weights give the same prediction.",
    clause="no very different weights give the same prediction",
    effect_label="share of documents for which such weights exist",
    probe="adversary",
    paper=JAIN_WALLACE,
    yardstick="half of the largest possible JSD",
    decide=decide,
    also_reads=("seeds",),
)
