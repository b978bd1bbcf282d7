"""The verdict: one finding per claim, with its effect, its interval and its yardstick.

There is no overall score, because the answer depends on what one means by an explanation. Every
claim has a file of its own. To add one, write its file and add its line to `CLAIMS`.
"""

from collections.abc import Mapping
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
from assay.verdict.claim import NOTIONS, Claim, Notion, as_sentence, decision

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

    `not_applicable` holds the reason for each probe that was requested but has no rows.
    """
    return [_entry(claim, evidence, seed, not_applicable or {}) for claim in CLAIMS]


def _entry(
    claim: Claim, evidence: pl.DataFrame, seed: int, not_applicable: Mapping[str, str]
) -> dict[str, Any]:
    """A claim as verdict.json records it."""
    declared = {
        "claim": claim.name,
        "says": claim.says,
        "probe": claim.probe,
        "paper": claim.paper,
        "yardstick": claim.yardstick,
        "notion": claim.notion,
    }
    own = evidence.filter(pl.col("probe") == claim.probe)
    if own.is_empty() and claim.probe in not_applicable:
        return declared | decision("not applicable", as_sentence(not_applicable[claim.probe]))
    if own.is_empty():
        why = f"The probe '{claim.probe}' was not part of this run."
        return declared | decision("not measured", why)
    others = evidence.filter(pl.col("probe").is_in(claim.also_reads))
    return declared | claim.decide(pl.concat([own, others]), seed)


__all__ = ["CLAIMS", "NOTIONS", "Claim", "Notion", "judge"]
