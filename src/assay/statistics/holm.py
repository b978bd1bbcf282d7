"""Holm's correction for several tests at once.

The p-values are compared in ascending order: the smallest of m with alpha / m, the next with
alpha / (m - 1), and so on until the first that is too large. The chance of any false rejection is
then at most alpha, whatever the dependence between the tests.
"""

from collections.abc import Sequence
from typing import NamedTuple

ALPHA = 0.05


class Comparison(NamedTuple):
    """What one p-value was compared with, and whether it was small enough."""

    alpha: float
    rejected: bool


def holm(p_values: Sequence[float], alpha: float = ALPHA) -> list[Comparison]:
    """One comparison per p-value, in the given order.

    After the first failure nothing is compared any more. The remaining tests are reported at the
    level of the failing step, because all of them would have had to pass it.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    found: dict[int, Comparison] = {}
    failed: float | None = None
    for step, place in enumerate(order):
        compared = alpha / (len(order) - step) if failed is None else failed
        rejected = failed is None and p_values[place] <= compared
        if not rejected:
            failed = compared
        found[place] = Comparison(compared, rejected)
    return [found[place] for place in range(len(p_values))]
