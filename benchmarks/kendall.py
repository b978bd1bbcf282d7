"""How much faster is tau for a batch than a call of scipy per document?

The plain loop is what the papers' programs do. Ours must give the same tau and the same p.
"""

import time
from collections.abc import Callable
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from assay.measures.rank import Kendall, kendall

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DOCUMENTS = 2_000
LONGEST = 50
SHORTEST = 2
DECIMALS = 3  # rounds one list, so that some values are tied
TOLERANCE = 1e-12
REPEATS = 5
SEED = 20190601


class KendallRow(TypedDict):
    name: str
    baseline_seconds: float
    seconds: float
    ratio: float
    equal: bool


def kendall_row() -> KendallRow:
    """One row of the benchmark table: documents of sentence length, some values tied."""
    x, y, mask = score_lists()
    baseline_seconds, expected = _timed(lambda: plain_loop(x, y, mask), repeats=1)
    seconds, ours = _timed(lambda: kendall(x, y, mask), repeats=REPEATS)
    return KendallRow(
        name="kendall",
        baseline_seconds=baseline_seconds,
        seconds=seconds,
        ratio=baseline_seconds / seconds,
        equal=_equal(ours, expected),
    )


def score_lists() -> tuple[Floats, Floats, Flags]:
    """Two related scores per document, padded to the longest."""
    rng = np.random.default_rng(SEED)
    lengths = rng.integers(SHORTEST, LONGEST + 1, size=DOCUMENTS)
    x = rng.random((DOCUMENTS, LONGEST))
    y = np.round(x + rng.random((DOCUMENTS, LONGEST)), DECIMALS)
    return x, y, np.arange(LONGEST) < lengths[:, None]


def plain_loop(x: Floats, y: Floats, mask: Flags) -> Kendall:
    """One call of scipy per document."""
    tau, p = np.empty(len(x)), np.empty(len(x))
    for row, real in enumerate(mask):
        tau[row], p[row] = kendalltau(x[row][real], y[row][real])
    return Kendall(tau, p)


def _timed(work: Callable[[], Kendall], repeats: int) -> tuple[float, Kendall]:
    """The quickest of several runs, which is the one least disturbed, and its result."""
    quickest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        quickest = min(quickest, time.perf_counter() - start)
    return quickest, result


def _equal(ours: Kendall, expected: Kendall) -> bool:
    return all(
        np.allclose(mine, theirs, rtol=0, atol=TOLERANCE, equal_nan=True)
        for mine, theirs in zip(ours, expected, strict=True)
    )
