"""Shared numerics of the closed forms: overlaps, tolerances, checked arguments.

The *overlap* of two distributions at one item is the divergence they lose there. With
g(x) = x ln x it is [g(x + a) - g(x) - g(a)] / 2. It is zero unless both give the item weight, and
grows with each of the two. The divergence of α from a is then

    JSD = ln 2 · (sum α + sum a) / 2 - sum_t overlap(α_t, a_t),

so weights on a few items cost a few terms, and nothing cancels where the divergence is large.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]
TOLERANCE = 1e-9  # the optimum lies on the bound, and rounding may put it just outside
LARGEST_LOGIT = 1e6  # beyond it, float64 cannot represent a mix of logits to the tolerance
DOCUMENT_BYTES = 64 << 20  # for the tables of one chunk of documents
LOG_2 = float(np.log(2.0))
SMALLEST = np.finfo(np.float64).tiny


def overlap(x: Floats, weight: Floats) -> Floats:
    """The divergence that weights `x` and `weight` of the same item take away."""
    shared = x_log_x(x + weight)
    shared -= x_log_x(x)
    shared -= x_log_x(weight)
    shared *= 0.5
    return shared


def x_log_x(x: Floats) -> Floats:
    """x ln x, and 0 at 0."""
    product: Floats = np.log(np.maximum(x, SMALLEST))
    product *= x
    return product


def divergence(overlaps: Floats, mass: Floats) -> Floats:
    """The JSD between weights that sum to one and weights that sum to `mass` (1 up to rounding)."""
    return np.maximum(LOG_2 * (1 + mass) / 2 - overlaps, 0.0)


def dense_jsd(proposals: Floats, weights: Floats) -> Floats:
    """The JSD over the last axis between proposals that sum to one and the weights."""
    return divergence(ordered_sum(overlap(proposals, weights)), ordered_sum(weights))


def ordered_sum(terms: Floats) -> Floats:
    """The sum over the last axis from first to last; zeros of padding cannot change any bit."""
    if not terms.shape[-1]:
        return np.zeros(terms.shape[:-1])
    total: Floats = np.cumsum(terms, axis=-1)[..., -1]
    return total


def best_so_far(jsd: Floats, eps: Floats) -> Indices:
    """For each bound (B, E), the index of the best answer among it and all narrower bounds.

    Weights that are feasible under one bound are feasible under a wider one, so the largest
    divergence never decreases as the bound widens. A search or rounding may violate that; taking
    the best answer so far restores it.
    """
    order = np.argsort(eps, kind="stable")
    ranked = jsd[:, order]
    before = np.maximum.accumulate(ranked, axis=1)[:, :-1]
    better = np.pad(ranked[:, 1:] > before, ((0, 0), (1, 0)))
    source = np.maximum.accumulate(np.where(better, np.arange(len(eps)), 0), axis=1)
    chosen = np.empty_like(source)
    chosen[:, order] = order[source]
    return chosen


def document_chunks(documents: int, bytes_each: int, budget: int = DOCUMENT_BYTES) -> list[slice]:
    """Slices of documents whose tables fit the budget, with at least one document each."""
    size = max(1, budget // max(1, bytes_each))
    return [slice(start, start + size) for start in range(0, documents, size)]


def validate_eps(eps: Sequence[float]) -> Floats:
    """The bounds as an array; a ValueError if they are not bounds."""
    bounds = np.asarray(eps, dtype=np.float64)
    if bounds.ndim != 1 or not len(bounds) or not (bounds >= 0).all():
        raise ValueError(f"eps {eps!r}: pass a sequence of numbers from 0 to 1")
    return bounds


def validate_logits(items: Floats, mask: Flags) -> Floats:
    """The logits of the items, zero on padding; a ValueError if they are not finite."""
    real = np.where(mask[..., None], items, 0.0)
    if not (np.abs(real) <= LARGEST_LOGIT).all():
        raise ValueError(
            f"the logits of items must be finite and at most {LARGEST_LOGIT:g} in size"
        )
    return real
