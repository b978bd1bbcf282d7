"""How far apart are the F1 scores of two models on the same documents, and how sure is that?"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from assay.measures.intervals import TAILS, Interval
from assay.verdict.rules import DRAWS

_CELLS = 1 << 22  # drawn at once: 32 MB of counts


def f1_gap(evidence: pl.DataFrame, one: str, other: str, seed: int) -> Interval:
    """F1 of group `one` minus that of `other`, the mean over their seeds; bounds over documents.

    F1 is of the positive class, or the mean over three classes and more.
    """
    labels = evidence.filter(pl.col("quantity") == "label").sort("instance")["value"].to_numpy()
    decided = evidence.filter(pl.col("quantity") == "prediction")
    first, second = (_decisions(decided, group) for group in (one, other))
    hits = np.stack([_hits(labels, said) for said in (*first, *second)], 1)  # (N, models, C, 2)
    value = float(_gap(hits.sum(0)[None], len(first))[0])
    rng = np.random.default_rng(seed)
    n, flat = len(labels), hits.reshape(len(labels), -1)
    draws = []
    for rows in _chunks(n):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=rows).astype(np.float64)
        draws.append(_gap((counts @ flat).reshape(rows, *hits.shape[1:]), len(first)))
    low, high = np.quantile(np.concatenate(draws), TAILS).tolist()
    return Interval(value, low, high, n)


def _decisions(decided: pl.DataFrame, group: str) -> list[np.ndarray]:
    """Per seed, what the model of this group decided, by document."""
    own = decided.filter(pl.col("group") == group).sort("seed", "instance")
    return [part["value"].to_numpy() for _, part in own.group_by("seed", maintain_order=True)]


def _hits(labels: np.ndarray, said: np.ndarray) -> np.ndarray:
    """(N, C, 2): per class, twice the true positives, and all that are or are said to be of it."""
    classes = np.arange(int(max(labels.max(), said.max())) + 1 if len(labels) else 1)
    if len(classes) <= 2:
        classes = np.array([1])
    is_one, says_one = labels[:, None] == classes, said[:, None] == classes
    return np.stack([2.0 * (is_one & says_one), 1.0 * is_one + says_one], -1)


def _gap(sums: np.ndarray, first: int) -> np.ndarray:
    """From (draws, models, C, 2), the first of them belonging to the first group."""
    f1 = (sums[..., 0] / np.maximum(sums[..., 1], 1)).mean(-1)
    gap: np.ndarray = f1[:, :first].mean(1) - f1[:, first:].mean(1)
    return gap


def _chunks(n: int) -> Sequence[int]:
    size = max(1, _CELLS // max(n, 1))
    return [min(size, DRAWS - start) for start in range(0, DRAWS, size)]
