"""The claim `plausible`."""

import numpy as np
import pytest

from assay.evidence import empty, rows, sign
from assay.verdict import judge
from assay.verdict.plausible import ENOUGH_MARKED, IMPLAUSIBLE_BELOW, PLAUSIBLE_FROM

COUNT = 200


def entry(scores, *, count=COUNT, not_applicable=None):
    """The claim on AUCs around these means; NaN for documents outside the sample."""
    rng = np.random.default_rng(1)
    ids = [f"d{i}" for i in range(count)]
    frames = [
        rows(ids, "auc", (mean + rng.normal(0, 0.05, count)).clip(0, 1), group=name)
        for name, mean in scores.items()
    ]
    evidence = sign(frames, "rationale", 0) if frames else empty()
    return {e["claim"]: e for e in judge(evidence, 0, not_applicable)}["plausible"]


@pytest.mark.parametrize(
    ("mean", "finding"),
    [
        (0.9, "supported"),
        (PLAUSIBLE_FROM, "undecided"),
        (0.65, "undecided"),
        (IMPLAUSIBLE_BELOW, "undecided"),
        (0.5, "contradicted"),
        (0.2, "contradicted"),
    ],
)
def test_the_whole_interval_must_lie_on_one_side(mean, finding):
    claim = entry({"attention": mean, "random": 0.5})
    assert claim["finding"] == finding
    assert claim["effect"] == pytest.approx(mean, abs=0.02)
    assert claim["low"] < claim["effect"] < claim["high"]
    assert claim["n"] == COUNT
    assert "says nothing about faithfulness" in claim["why"]
    assert claim["notion"] == "plausibility"


def test_the_best_other_score_is_reported_and_decides_nothing():
    plain = entry({"attention": 0.8, "random": 0.5})
    beside = entry({"attention": 0.8, "leave_one_out": 0.85, "gradient": 0.7, "random": 0.9})
    assert "best other score" not in plain["why"]
    assert "the best other score (leave one out) in 85%" in beside["why"]
    assert {k: plain[k] for k in ("finding", "effect")} == {
        k: beside[k] for k in ("finding", "effect")
    }


def test_a_score_on_a_sample_is_not_compared():
    """Its mean is over other documents than attention's."""
    ids = [f"d{i}" for i in range(COUNT)]
    some = np.where(np.arange(COUNT) < 40, 1.0, np.nan)
    frames = [
        rows(ids, "auc", np.full(COUNT, 0.8), group="attention"),
        rows(ids, "auc", np.full(COUNT, 0.7), group="gradient"),
        rows(ids, "auc", some, group="lime"),
    ]
    claim = {e["claim"]: e for e in judge(sign(frames, "rationale", 0), 0)}["plausible"]
    assert "(gradient) in 70%" in claim["why"]


def test_too_few_documents_decide_nothing():
    claim = entry({"attention": 0.99}, count=ENOUGH_MARKED - 1)
    assert claim["finding"] == "undecided"
    assert f"Only {ENOUGH_MARKED - 1} documents" in claim["why"]


def test_a_corpus_without_rationales_is_not_applicable():
    claim = entry({}, not_applicable={"rationale": "nobody marked items"})
    assert (claim["finding"], claim["why"]) == ("not applicable", "Nobody marked items.")
    assert entry({})["finding"] == "not measured"
