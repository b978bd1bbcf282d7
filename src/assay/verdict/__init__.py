"""The verdict: one finding per claim, with its effect, its interval and its comparison.

There is no overall score, because the answer depends on what one means by an explanation. Every
claim has a file of its own. To add one, write its file and add its line to `CLAIMS`. How a claim is
decided stands in `decision`, once for all of them.
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
    right_sign,
    stable,
    sufficient,
    top_weight,
)
from assay.verdict.case import Case
from assay.verdict.claim import NOTIONS, Claim, Notion, as_sentence
from assay.verdict.decision import decide, empty_decision

CLAIMS = (
    needed.CLAIM,
    agrees.CLAIM,
    stable.CLAIM,
    depends.CLAIM,
    exclusive.CLAIM,
    exclusive_model.CLAIM,
    top_weight.CLAIM,
    order.CLAIM,
    sufficient.CLAIM,
    right_sign.CLAIM,
    guides.CLAIM,
    plausible.CLAIM,
)


def judge(
    evidence: pl.DataFrame | pl.LazyFrame,
    seed: int,
    not_applicable: Mapping[str, str] | None = None,
    guesses: bool = False,
    not_measured: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """One entry per claim, in the order of the debate.

    `not_applicable` holds the reason for each probe that was requested but has no rows. `guesses`
    says that the model is no better than chance: then no claim about it is decided, except whether
    people mark the same items. `not_measured` holds the reason for each probe that could not be
    part of the run.
    """
    absent, omitted = not_applicable or {}, not_measured or {}
    table = evidence.lazy()
    measured = set(table.select(pl.col("probe").unique()).collect()["probe"])
    cases = [
        Case(claim, claim.read(_rows(table, claim), seed))
        for claim in CLAIMS
        if claim.probe in measured
    ]
    decided = {
        case.claim.name: found for case, found in zip(cases, decide(cases, guesses), strict=True)
    }
    return [
        _declared(claim) | (decided.get(claim.name) or _unmeasured(claim, absent, omitted))
        for claim in CLAIMS
    ]


def _rows(evidence: pl.LazyFrame, claim: Claim) -> pl.DataFrame:
    rows = evidence.filter(pl.col("probe").is_in((claim.probe, *claim.also_reads)))
    if claim.quantities:
        rows = rows.filter(pl.col("quantity").is_in(claim.quantities))
    return rows.collect()


def _declared(claim: Claim) -> dict[str, Any]:
    return {
        "claim": claim.name,
        "says": claim.says,
        "probe": claim.probe,
        "paper": claim.paper,
        "yardstick": claim.yardstick,
        "notion": claim.notion,
    }


def _unmeasured(
    claim: Claim, not_applicable: Mapping[str, str], not_measured: Mapping[str, str]
) -> dict[str, Any]:
    if claim.probe in not_applicable:
        return empty_decision("not applicable", as_sentence(not_applicable[claim.probe]))
    why = not_measured.get(claim.probe, f"the probe '{claim.probe}' was not part of this run")
    return empty_decision("not measured", as_sentence(why))


__all__ = ["CLAIMS", "NOTIONS", "Claim", "Notion", "judge"]
