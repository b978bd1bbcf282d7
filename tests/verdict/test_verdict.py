"""The verdict as a whole: its claims, and what is not measured."""

import numpy as np
import polars as pl

from assay.evidence import rows, sign
from assay.verdict import CLAIMS, judge


def agreement(own: np.ndarray, ceiling: np.ndarray, floor: np.ndarray) -> pl.DataFrame:
    names = [f"d{i}" for i in range(len(own))]
    values = {"attention": own, "gradient": ceiling, "shuffled": floor}
    frames = [rows(names, f"tau_{one}_leave_one_out", taus) for one, taus in values.items()]
    return sign(frames, "agreement", 0)


NOISE = np.random.default_rng(0).normal(0, 0.05, 200)


def test_claims_without_evidence_are_not_measured():
    findings = {
        entry["claim"]: entry["finding"] for entry in judge(agreement(NOISE, NOISE, NOISE), 0)
    }
    assert len(findings) == len(CLAIMS)
    assert findings["needed"] == findings["depends"] == "not measured"


def test_every_claim_belongs_to_a_notion():
    entries = judge(agreement(NOISE, NOISE, NOISE), 0)
    assert {entry["claim"]: entry["notion"] for entry in entries} == {
        claim.name: claim.notion for claim in CLAIMS
    }
    assert {entry["notion"] for entry in entries} == {
        "transparency",
        "faithfulness",
        "plausibility",
    }
