"""The claim `agrees`."""

import numpy as np
import polars as pl
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge


def agreement(own: np.ndarray, ceiling: np.ndarray, floor: np.ndarray) -> pl.DataFrame:
    names = [f"d{i}" for i in range(len(own))]
    values = {"attention": own, "gradient": ceiling, "shuffled": floor}
    frames = [rows(names, f"tau_{one}_leave_one_out", taus) for one, taus in values.items()]
    return sign(frames, "agreement", 0)


NOISE = np.random.default_rng(0).normal(0, 0.05, 200)


@pytest.mark.parametrize(
    ("own", "finding"), [(0.6, "supported"), (0.42, "undecided"), (0.1, "contradicted")]
)
def test_agreement_is_judged_between_floor_and_ceiling(own: float, finding: str):
    evidence = agreement(own + NOISE, 0.6 + NOISE[::-1], NOISE * 0)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["finding"] == finding
    assert claim["low"] <= claim["effect"] <= claim["high"]
    assert claim["n"] == 200


def test_a_low_ceiling_cannot_support_the_claim():
    evidence = agreement(0.25 + NOISE, 0.25 + NOISE[::-1], NOISE * 0)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["low"] > 0.8
    assert claim["finding"] == "undecided"
    assert "too weak to support" in claim["why"]


def test_attention_may_exceed_the_ceiling():
    """As for a control whose attention is the reason: gradient and leave-one-out share less."""
    evidence = agreement(0.5 + NOISE, 0.35 + NOISE[::-1], NOISE * 0)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["finding"] == "supported"
    assert claim["effect"] > 1


def test_without_a_ceiling_nothing_is_decided():
    evidence = agreement(NOISE, NOISE[::-1], NOISE)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["finding"] == "undecided"
    assert "with each other" in claim["why"]
