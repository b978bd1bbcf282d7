"""What may be claimed of this model's attention, on this evidence?

One line per claim: the finding, the effect with its interval, the yardstick it was held against
and why. No overall score: the answer depends on what one means by an explanation. A claim that is
decided has a file of its own; the thresholds are in `rules`.
"""

from collections.abc import Mapping
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
    plausible,
    stable,
    top_weight,
)
from assay.verdict.claim import Claim, decision, sentence

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
    plausible.CLAIM,
)


def judge(
    evidence: pl.DataFrame, seed: int, not_applicable: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """One entry per claim, in the order of the debate.

    `not_applicable` says why a probe without rows has none, if it was asked.
    """
    return [_entry(claim, evidence, seed, not_applicable or {}) for claim in CLAIMS]


def _entry(
    claim: Claim, evidence: pl.DataFrame, seed: int, not_applicable: Mapping[str, str]
) -> dict[str, Any]:
    declared = asdict(claim)
    del declared["decide"], declared["beside"]
    declared["claim"] = declared.pop("name")
    own = evidence.filter(pl.col("probe") == claim.probe)
    if own.is_empty() and claim.probe in not_applicable:
        return declared | decision("not applicable", sentence(not_applicable[claim.probe]))
    if own.is_empty():
        why = f"The probe '{claim.probe}' was not part of this run."
        return declared | decision("not measured", why)
    beside = evidence.filter(pl.col("probe").is_in(claim.beside))
    return declared | claim.decide(pl.concat([own, beside]), seed)


__all__ = ["CLAIMS", "Claim", "judge"]
