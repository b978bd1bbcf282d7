"""If two orders had nothing to do with each other, how often would tau be this far from zero?

Exact where no value is tied and the list is short, or so nearly sorted that a formula is at hand;
otherwise the normal approximation, whose variance is corrected for ties (Kendall 1970, Noether
1967). The border between the two is scipy's, so that p is the same number.
"""

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EXACT_UP_TO = 33  # items
NEARLY_SORTED = 1  # pairs out of order, for which longer lists are exact too


@dataclass(frozen=True)
class Ties:
    """What a row's groups of c equal values add to tau and to its variance."""

    pairs: Integers  # sum of c (c - 1) / 2
    cubic: Floats  # sum of c (c - 1) (c - 2)

    @property
    def variance(self) -> Floats:
        """Sum of c (c - 1) (2 c + 5)."""
        return 2 * self.cubic + 18 * self.pairs


def two_sided_p(balance: Integers, items: Integers, x: Ties, y: Ties) -> Floats:
    """P for concordant minus discordant pairs; meaningless for rows that have no tau."""
    untied = (x.pairs == 0) & (y.pairs == 0)
    # Without ties every pair is one or the other, so the balance gives both counts.
    fewer = (items * (items - 1) // 2 - abs(balance)) // 2
    short = untied & (items <= EXACT_UP_TO)
    nearly_sorted = untied & ~short & (fewer <= NEARLY_SORTED)
    p = _normal_p(balance, items, x, y)
    p[short] = _exact_table()[items[short], fewer[short]]
    p[nearly_sorted] = _nearly_sorted_p(items[nearly_sorted], fewer[nearly_sorted])
    return p


def _normal_p(balance: Integers, items: Integers, x: Ties, y: Ties) -> Floats:
    n = items.astype(np.float64)
    m = n * (n - 1)
    variance = (m * (2 * n + 5) - x.variance - y.variance) / 18
    variance += 2.0 * x.pairs * y.pairs / m
    # A list of two is either constant or untied, hence never judged here: any divisor will do.
    variance += x.cubic * y.cubic / (9 * m * np.maximum(n - 2, 1))
    return np.asarray(2 * ndtr(-abs(balance) / np.sqrt(variance)))


@cache
def _exact_table() -> Floats:
    """P by (items, the fewer of concordant and discordant pairs), lists up to EXACT_UP_TO."""
    most_pairs = EXACT_UP_TO * (EXACT_UP_TO - 1) // 2
    table = np.full((EXACT_UP_TO + 1, most_pairs // 2 + 1), np.nan)
    orders = [1] + [0] * most_pairs  # how many orders of n items have k discordant pairs
    for n in range(1, EXACT_UP_TO + 1):
        # The n-th item can stand in front of 0 to n - 1 others: a sum over a window of n.
        running = list(accumulate(orders))
        orders = [r - (running[k - n] if k >= n else 0) for k, r in enumerate(running)]
        for k, at_most in zip(range(n * (n - 1) // 4 + 1), accumulate(orders), strict=False):
            table[n, k] = min(1.0, 2 * at_most / factorial(n))
    return table


def _nearly_sorted_p(items: Integers, fewer: Integers) -> Floats:
    """One order has no discordant pair and n - 1 have one: p = 2 / n! and 2 / (n - 1)!."""
    return np.asarray(2 * np.exp(-gammaln(items + 1.0 - fewer)))
