"""Are summary and verdict what the evidence says, worked by hand?"""

import numpy as np
import polars as pl
import pytest

from assay.evidence import SCHEMA, rows, sign
from assay.summary import summarize
from assay.verdict import CLAIMS, judge


def instances(count: int, predictions: list[str] | None = None) -> pl.DataFrame:
    names = [f"d{i}" for i in range(count)]
    said = predictions or ["a", "b"] * (count // 2)
    return pl.DataFrame({"id": names, "prediction": said, "label": ["a"] * count})


def agreement(own: np.ndarray, ceiling: np.ndarray, floor: np.ndarray) -> pl.DataFrame:
    names = [f"d{i}" for i in range(len(own))]
    values = {"attention": own, "gradient": ceiling, "shuffled": floor}
    frames = [rows(names, f"tau_{one}_leave_one_out", taus) for one, taus in values.items()]
    return sign(frames, "agreement", 0)


def permutation(tvds: np.ndarray, weights: np.ndarray) -> pl.DataFrame:
    names = [f"d{i}" for i in range(len(tvds))]
    frames = [rows(names, "median_tvd", tvds), rows(names, "max_attention", weights)]
    return sign(frames, "permutation", 0)


def cell(frame: pl.DataFrame, **where: str | None) -> dict[str, float]:
    for column, value in where.items():
        frame = frame.filter(pl.col(column).eq_missing(pl.lit(value, dtype=pl.String)))
    assert len(frame) == 1, frame
    return frame.row(0, named=True)


def test_nan_becomes_null_and_is_counted_as_skipped():
    evidence = agreement(np.array([0.5, np.nan, 0.1, 0.3]), np.ones(4), np.zeros(4))
    assert evidence.schema == SCHEMA
    table = summarize(evidence, instances(4), ("a", "b"), seed=0)
    mean = cell(table, quantity="tau_attention_leave_one_out", statistic="mean", **{"class": "all"})
    assert mean["value"] == pytest.approx(0.3)
    assert (mean["n"], mean["skipped"]) == (3, 1)
    assert mean["low"] <= mean["value"] <= mean["high"]
    second = cell(table, quantity="tau_attention_leave_one_out", statistic="mean", **{"class": "b"})
    assert (second["value"], second["n"], second["skipped"]) == (pytest.approx(0.3), 1, 1)


def test_std_has_no_degrees_of_freedom_taken_off():
    evidence = agreement(np.array([0.0, 1.0]), np.ones(2), np.zeros(2))
    table = summarize(evidence, instances(2), ("a", "b"), seed=0)
    std = cell(table, quantity="tau_attention_leave_one_out", statistic="std", **{"class": "all"})
    assert std["value"] == 0.5
    assert std["low"] is None


def test_significant_counts_p_up_to_five_per_cent():
    names = [f"d{i}" for i in range(4)]
    evidence = sign([rows(names, "p_attention_gradient", np.array([0.05, 0.01, 0.06, np.nan]))],
                    "agreement", 0)  # fmt: skip
    table = summarize(evidence, instances(4), ("a", "b"), seed=0)
    share = cell(table, quantity="p_attention_gradient", **{"class": "all"})
    assert share["value"] == pytest.approx(2 / 3)
    assert (share["n"], share["skipped"]) == (3, 1)


def test_bins_of_the_largest_weight_hold_every_document_once():
    weights = np.array([0.0, 0.25, 0.3, 0.5, 0.75, 1.0])
    table = summarize(permutation(np.arange(6) / 10, weights), instances(6), ("a", "b"), seed=0)
    bins = table.filter(
        (pl.col("quantity") == "median_tvd")
        & (pl.col("class") == "all")
        & (pl.col("statistic") == "median")
        & pl.col("group").is_not_null()
    )
    assert bins["n"].to_list() == [1, 2, 1, 2]
    assert bins["group"].to_list()[0] == "max_attention=0-0.25"


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


def test_rivals_that_agree_weakly_cannot_support_the_claim():
    evidence = agreement(0.25 + NOISE, 0.25 + NOISE[::-1], NOISE * 0)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["low"] > 0.8
    assert claim["finding"] == "undecided"
    assert "too weak to support" in claim["why"]


def test_attention_may_agree_better_than_its_rivals_do():
    """A model whose attention is the reason: the two rivals share less with each other."""
    evidence = agreement(0.5 + NOISE, 0.35 + NOISE[::-1], NOISE * 0)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["finding"] == "supported"
    assert claim["effect"] > 1


def test_rivals_that_do_not_agree_decide_nothing():
    evidence = agreement(NOISE, NOISE[::-1], NOISE)
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["agrees"]
    assert claim["finding"] == "undecided"
    assert "themselves" in claim["why"]


@pytest.mark.parametrize(("share", "finding"), [(0.9, "supported"), (0.5, "undecided"),
                                                (0.1, "contradicted")])  # fmt: skip
def test_dependence_is_judged_on_documents_with_a_dominant_weight(share: float, finding: str):
    tvds = np.where(np.arange(100) < share * 100, 0.4, 0.0)
    dominant = permutation(np.r_[tvds, np.zeros(100)], np.r_[np.full(100, 0.8), np.full(100, 0.1)])
    claim = {entry["claim"]: entry for entry in judge(dominant, seed=0)}["depends"]
    assert (claim["finding"], claim["n"]) == (finding, 100)


@pytest.mark.parametrize(
    ("jsd", "upper", "method", "finding"),
    [
        (0.6, None, "exact", "contradicted"),
        (0.1, None, "exact", "supported"),
        (0.1, None, "search", "undecided"),  # a search that finds nothing proves nothing
        (0.1, 0.2, "bracket", "supported"),
        (0.1, 0.6, "bracket", "undecided"),
        (0.5, 0.6, "bracket", "contradicted"),
    ],
)
def test_exclusiveness_needs_rivals_to_be_found_or_ruled_out(jsd, upper, method, finding):
    names = [f"d{i}" for i in range(60)]
    values = {"max_jsd": jsd, "max_jsd_upper": upper}
    frames = [
        rows(names, name, np.full(60, value), group="eps=0.01", method=method)
        for name, value in values.items()
        if value is not None
    ]
    claims = {entry["claim"]: entry for entry in judge(sign(frames, "adversary", 0), seed=0)}
    assert claims["exclusive per instance"]["finding"] == finding


def test_few_dominant_documents_and_all_are_used():
    evidence = permutation(np.zeros(50), np.r_[np.full(29, 0.9), np.full(21, 0.1)])
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["depends"]
    assert claim["n"] == 50
    assert "only 29" in claim["why"]


def test_what_no_probe_measured_is_said_to_be_so():
    findings = {
        entry["claim"]: entry["finding"] for entry in judge(agreement(NOISE, NOISE, NOISE), 0)
    }
    assert len(findings) == len(CLAIMS)
    assert findings["needed"] == findings["depends"] == "not measured"


def test_every_claim_says_what_it_means_by_an_explanation():
    entries = judge(agreement(NOISE, NOISE, NOISE), 0)
    assert {entry["claim"]: entry["notion"] for entry in entries} == {
        claim.name: claim.notion for claim in CLAIMS
    }
    assert {entry["notion"] for entry in entries} == {
        "transparency",
        "faithfulness",
        "plausibility",
    }
