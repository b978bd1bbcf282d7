"""Which of several ways to the same result is quicker, on a machine that may be disturbed?

The ways take turns, so that a slow moment hits all of them alike, and each is judged by its
quickest turn, the one least disturbed.
"""

import time
from collections.abc import Callable
from typing import Any

REPEATS = 3


def race(*ways: Callable[[], Any], repeats: int = REPEATS) -> list[tuple[float, Any]]:
    """For each way its quickest seconds and its last result."""
    quickest = [float("inf")] * len(ways)
    results: list[Any] = [None] * len(ways)
    for _ in range(repeats):
        for number, way in enumerate(ways):
            start = time.perf_counter()
            results[number] = way()
            quickest[number] = min(quickest[number], time.perf_counter() - start)
    return list(zip(quickest, results, strict=True))
