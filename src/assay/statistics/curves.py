"""What does a curve of pairs (how far, at what price) come to, and how do two of them differ?"""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def area(far: Points, price: Points) -> float:
    """Mean price between the nearest and the farthest point; NaN if the curve has no width."""
    x, y = _sorted(far, price)
    width = float(x[-1] - x[0]) if len(x) else 0.0
    return float(np.trapezoid(y, x)) / width if width > 0 else float("nan")


def bend(far: Points, price: Points) -> float:
    """How far the curve stays below its chord, as a share of the triangle under the chord.

    1: nothing is paid before the very end (convex); 0: straight; below 0: the price rises early
    (concave). NaN where the curve does not rise. A price that also falls on the way is measured
    by its whole range: a curve of noise that ends a little higher than it began bends little.
    """
    x, y = _sorted(far, price)
    if len(x) < 3 or x[-1] <= x[0] or y[-1] <= y[0]:
        return float("nan")
    width = float(x[-1] - x[0])
    under_chord = width * float(y[0] + y[-1]) / 2
    below = under_chord - float(np.trapezoid(y, x))
    return 2 * below / (width * float(y.max() - y.min()))


def gap(one: tuple[Points, Points], other: tuple[Points, Points]) -> float:
    """Mean absolute difference in price, over all distances that both reach; NaN if none.

    The price of a distance is the least that is paid by a point at least as far: points that are
    dearer and nearer than another do not count.
    """
    (x, y), (u, v) = _sorted(*one), _sorted(*other)
    reach = min(x[-1], u[-1])
    if reach <= 0:
        return float("nan")
    ends = np.unique(np.minimum(np.concatenate([x, u]), reach))
    widths = np.diff(ends, prepend=0.0)
    apart = np.abs(_least_price(x, y, ends) - _least_price(u, v, ends))
    return float((apart * widths).sum() / reach)


def _least_price(x: Points, y: Points, places: Points) -> Points:
    """At each place the lowest of the points from there on; `x` ascends."""
    lowest = np.minimum.accumulate(y[::-1])[::-1]
    least: Points = lowest[np.searchsorted(x, places)]
    return least


def _sorted(far: Points, price: Points) -> tuple[Points, Points]:
    order = np.lexsort((price, far))
    return far[order], price[order]
