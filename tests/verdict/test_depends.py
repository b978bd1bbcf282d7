"""The claim `depends`."""

import numpy as np
import polars as pl
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge


def permutation(tvds: np.ndarray, weights: np.ndarray) -> pl.DataFrame:
    names = [f"d{i}" for i in range(len(tvds))]
    frames = [rows(names, "median_tvd", tvds), rows(names, "max_attention", weights)]
    return sign(frames, "permutation", 0)


@pytest.mark.parametrize(
    ("share", "finding"), [(0.9, "supported"), (0.5, "undecided"), (0.1, "contradicted")]
)
def test_dependence_is_judged_on_documents_with_a_dominant_weight(share: float, finding: str):
    tvds = np.where(np.arange(100) < share * 100, 0.4, 0.0)
    dominant = permutation(np.r_[tvds, np.zeros(100)], np.r_[np.full(100, 0.8), np.full(100, 0.1)])
    claim = {entry["claim"]: entry for entry in judge(dominant, seed=0)}["depends"]
    assert (claim["finding"], claim["n"]) == (finding, 100)


def test_with_few_dominant_documents_all_are_used():
    evidence = permutation(np.zeros(50), np.r_[np.full(29, 0.9), np.full(21, 0.1)])
    claim = {entry["claim"]: entry for entry in judge(evidence, seed=0)}["depends"]
    assert claim["n"] == 50
    assert "only 29" in claim["why"]
