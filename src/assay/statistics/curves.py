"""Summaries and differences of trade-off curves.

A curve is a set of points (distance, cost): how far a model's attention is from the base model's,
and how much its predictions differ. It may be unsorted.
"""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def area(distance: Points, cost: Points) -> float:
    """The mean cost between the nearest and the farthest point; NaN if the curve has no width."""
    x, y = _sorted(distance, cost)
    width = float(x[-1] - x[0]) if len(x) else 0.0
    return float(np.trapezoid(y, x)) / width if width > 0 else float("nan")


def bend(distance: Points, cost: Points) -> float:
    """How far the curve stays below its chord, relative to the triangle under the chord.

    1: the cost is zero before the very end (convex); 0: straight; below 0: the cost rises early
    (concave). NaN if the curve does not rise. The height of the triangle is the whole range of the
    cost. A noisy curve that ends slightly above its start therefore has a small bend.
    """
    x, y = _sorted(distance, cost)
    if len(x) < 3 or x[-1] <= x[0] or y[-1] <= y[0]:
        return float("nan")
    width = float(x[-1] - x[0])
    under_chord = width * float(y[0] + y[-1]) / 2
    below = under_chord - float(np.trapezoid(y, x))
    return 2 * below / (width * float(y.max() - y.min()))


def gap(one: tuple[Points, Points], other: tuple[Points, Points]) -> float:
    """The mean absolute difference in cost over all distances that both curves reach; NaN if none.

    The cost of a distance is the least cost of any point at least as far. Points that are nearer
    and more costly than another do not count.
    """
    (x, y), (u, v) = _sorted(*one), _sorted(*other)
    reach = min(x[-1], u[-1])
    if reach <= 0:
        return float("nan")
    ends = np.unique(np.minimum(np.concatenate([x, u]), reach))
    widths = np.diff(ends, prepend=0.0)
    difference = np.abs(_least_cost(x, y, ends) - _least_cost(u, v, ends))
    return float((difference * widths).sum() / reach)


def _least_cost(x: Points, y: Points, distances: Points) -> Points:
    """The least cost of the points at or beyond each distance; `x` ascends."""
    lowest = np.minimum.accumulate(y[::-1])[::-1]
    least: Points = lowest[np.searchsorted(x, distances)]
    return least


def _sorted(distance: Points, cost: Points) -> tuple[Points, Points]:
    order = np.lexsort((cost, distance))
    return distance[order], cost[order]
