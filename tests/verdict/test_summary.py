"""Summaries of the evidence, compared with values worked by hand."""

import numpy as np
import polars as pl
import pytest

from assay.evidence import SCHEMA, rows, sign
from assay.summary import summarize


def instances(count: int, predictions: list[str] | None = None) -> pl.DataFrame:
    names = [f"d{i}" for i in range(count)]
    predicted = predictions or ["a", "b"] * (count // 2)
    return pl.DataFrame({"id": names, "prediction": predicted, "label": ["a"] * count})


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


def test_std_divides_by_n():
    evidence = agreement(np.array([0.0, 1.0]), np.ones(2), np.zeros(2))
    table = summarize(evidence, instances(2), ("a", "b"), seed=0)
    std = cell(table, quantity="tau_attention_leave_one_out", statistic="std", **{"class": "all"})
    assert std["value"] == 0.5
    assert std["low"] is None


def test_significant_counts_p_up_to_five_per_cent():
    names = [f"d{i}" for i in range(4)]
    evidence = sign(
        [rows(names, "p_attention_gradient", np.array([0.05, 0.01, 0.06, np.nan]))], "agreement", 0
    )
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


def test_quantities_read_one_by_one_give_the_same_table(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    parts = [permutation(rng.random(40), rng.random(40)), agreement(*rng.random((3, 40)))]
    pl.concat(parts).write_parquet(tmp_path / "evidence.parquet")
    scanned = pl.scan_parquet(tmp_path / "evidence.parquet")
    whole = summarize(scanned, instances(40), ("a", "b"), seed=0)
    monkeypatch.setattr("assay.summary.FEW_ROWS", 0)
    assert whole["group"].str.contains("max_attention").any()  # bins of another quantity
    assert summarize(scanned, instances(40), ("a", "b"), seed=0).equals(whole)
