"""What may be claimed of this model's attention, on this evidence?

One line per claim: the finding, the effect with its interval, the yardstick it was held against
and why. No overall score: the answer depends on what one means by an explanation. A claim that is
decided has a file of its own; the thresholds are in `rules`.
"""

from dataclasses import asdict
from typing import Any

import polars as pl

from assay.verdict import (
    agrees,
    depends,
    exclusive,
    exclusive_model,
    guides,
    needed,
    order,
    stable,
    top_weight,
)
from assay.verdict.claim import Claim, decision

__all__ = ["CLAIMS", "Claim", "judge"]

CLAIMS = (
    needed.CLAIM,
    agrees.CLAIM,
    stable.CLAIM,
    depends.CLAIM,
    exclusive.CLAIM,
    exclusive_model.CLAIM,
    top_weight.CLAIM,
    order.CLAIM,
    guides.CLAIM,
    Claim("plausible", "People mark the same items.", "rationale", "DeYoung et al. 2020",
          "human rationales; says nothing of faithfulness", notion="plausibility"),
)  # fmt: skip


def judge(evidence: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """One entry per claim, in the order of the debate."""
    return [_entry(claim, evidence, seed) for claim in CLAIMS]


def _entry(claim: Claim, evidence: pl.DataFrame, seed: int) -> dict[str, Any]:
    declared = asdict(claim)
    del declared["decide"], declared["beside"]
    declared["claim"] = declared.pop("name")
    own = evidence.filter(pl.col("probe") == claim.probe)
    if claim.decide is None or own.is_empty():
        why = f"The probe '{claim.probe}' was not part of this run."
        return declared | decision("not measured", why)
    beside = evidence.filter(pl.col("probe").is_in(claim.beside))
    return declared | claim.decide(pl.concat([own, beside]), seed)
