"""Which of several ways to the same result is quicker, on a machine that may be disturbed?

The ways take turns, so that a slow moment hits all of them alike, and each is judged by its
quickest turn, the one least disturbed; or, where turns are long and few, by all of them.
"""

import time
from collections.abc import Callable
from typing import Any

REPEATS = 3


def race(
    *ways: Callable[[], Any],
    repeats: int = REPEATS,
    judge: Callable[[list[float]], float] = min,
) -> list[tuple[float, Any]]:
    """For each way the seconds it is judged by and its last result."""
    seconds: list[list[float]] = [[] for _ in ways]
    results: list[Any] = [None] * len(ways)
    for _ in range(repeats):
        for number, way in enumerate(ways):
            start = time.perf_counter()
            results[number] = way()
            seconds[number].append(time.perf_counter() - start)
    return [(judge(turns), result) for turns, result in zip(seconds, results, strict=True)]
