"""How much divergence is lost where two distributions share an item?

With g(x) = x ln x, one item's overlap is [g(x + a) - g(x) - g(a)] / 2. It is zero unless both give
the item weight, and grows with each. The divergence of α from a is then

    JSD = ln 2 · (sum α + sum a) / 2 - sum_t overlap(α_t, a_t),

so weights on a few items cost a few terms, and nothing cancels where the divergence is large.
"""

import numpy as np

from assay.exact.frontier import Floats, ordered_sum

LOG_2 = float(np.log(2.0))
SMALLEST = np.finfo(np.float64).tiny


def x_log_x(x: Floats) -> Floats:
    product: Floats = np.log(np.maximum(x, SMALLEST))
    product *= x
    return product


def overlap(x: Floats, weight: Floats) -> Floats:
    shared = x_log_x(x + weight)
    shared -= x_log_x(x)
    shared -= x_log_x(weight)
    shared *= 0.5
    return shared


def divergence(overlaps: Floats, mass: Floats) -> Floats:
    """JSD of weights that sum to one from weights that sum to `mass` (one, up to rounding)."""
    return np.maximum(LOG_2 * (1 + mass) / 2 - overlaps, 0.0)


def dense_jsd(proposals: Floats, weights: Floats) -> Floats:
    """JSD over the last axis of proposals that sum to one."""
    return divergence(ordered_sum(overlap(proposals, weights)), ordered_sum(weights))
