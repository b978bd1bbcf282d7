"""Which documents have all the numbers that a claim needs, and how do their means vary?"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from assay.verdict.rules import DRAWS


def side_by_side(
    evidence: pl.DataFrame, names: Sequence[str], by: Literal["quantity", "group"] = "quantity"
) -> np.ndarray | None:
    """Instances that have all the quantities (or groups), a column each; None if one is absent."""
    frame = evidence.filter(pl.col(by).is_in(names))
    if frame[by].n_unique() < len(names):
        return None
    wide = frame.pivot(by, index="instance", values="value").select(names)
    return wide.drop_nulls().to_numpy()


def resampled_means(columns: np.ndarray, seed: int) -> np.ndarray:
    """(DRAWS, columns): the means over documents that are drawn again and again."""
    rng, n = np.random.default_rng(seed), len(columns)
    return np.array([columns[rng.integers(n, size=n)].mean(0) for _ in range(DRAWS)])


def two(value: float) -> str:
    """Two decimals, and no minus before a zero."""
    return f"{round(float(value), 2) + 0:.2f}"
