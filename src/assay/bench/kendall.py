"""Rows for Kendall's tau: all documents of a batch at once against one call of scipy per document.

The baseline is what the papers' programs do. Ours must give the same tau and the same p.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from assay.bench.measurement import (
    REPEATS,
    Bench,
    Measurement,
    measure_in_new_process,
    time_in_turns,
)
from assay.statistics.kendall import Kendall, kendall

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SHORTEST = 2
DECIMALS = 3  # of one list, so that some values are tied
TOLERANCE = 1e-12
SEED = 20190601


@dataclass(frozen=True)
class ListShape:
    """The number and the largest length of the documents."""

    documents: int
    longest: int


def measure(shape: ListShape, repeats: int = REPEATS) -> Measurement:
    """Measure on documents of all lengths up to the longest, with some ties."""
    x, y, mask = score_lists(shape)
    (baseline_time, expected), (seconds, ours) = time_in_turns(
        partial(run_baseline, x, y, mask), partial(kendall, x, y, mask), repeats=repeats
    )
    return Measurement(
        n=shape.documents,
        seconds=seconds,
        baseline_seconds=baseline_time,
        equal=_equal(ours, expected),
        peak_mb=measure_in_new_process(prepare, shape).peak_mb,
    )


def score_lists(shape: ListShape) -> tuple[Floats, Floats, Flags]:
    """Two correlated scores per document, padded to the longest."""
    rng = np.random.default_rng(SEED)
    lengths = rng.integers(SHORTEST, shape.longest + 1, size=shape.documents)
    x = rng.random((shape.documents, shape.longest))
    y = np.round(x + rng.random(x.shape), DECIMALS)
    return x, y, np.arange(shape.longest) < lengths[:, None]


def run_baseline(x: Floats, y: Floats, mask: Flags) -> Kendall:
    """One call of scipy per document."""
    tau, p = np.empty(len(x)), np.empty(len(x))
    for row, real in enumerate(mask):
        tau[row], p[row] = kendalltau(x[row][real], y[row][real])
    return Kendall(tau, p)


def prepare(shape: ListShape) -> Callable[[], object]:
    """Prepare the batched tau for a process of its own."""
    kendall(*score_lists(ListShape(1, SHORTEST)))
    return partial(kendall, *score_lists(shape))


def _equal(ours: Kendall, expected: Kendall) -> bool:
    return all(
        np.allclose(mine, theirs, rtol=0, atol=TOLERANCE, equal_nan=True)
        for mine, theirs in zip(ours, expected, strict=True)
    )


SENTENCES = Bench(
    "kendall",
    "tau and p of two scores, documents of 2 to 50 items: one call of scipy each, or all at once",
    partial(measure, ListShape(documents=2_000, longest=50)),
    target=10,
)
LONG_LISTS = Bench(
    "kendall_long",
    "the same for 2 to 2,000 items",
    partial(measure, ListShape(documents=200, longest=2_000)),
    target=1,
)
