"""What counts as feasible, and what is the best so far as the bound on the prediction widens?

Everything feasible under one bound is feasible under a wider one, so the largest divergence never
falls as the bound widens. A search or a rounding error may break that; keeping the best so far
mends it.

How much divergence is lost where two distributions share an item?

With g(x) = x ln x, one item's overlap is [g(x + a) - g(x) - g(a)] / 2. It is zero unless both give
the item weight, and grows with each. The divergence of α from a is then

    JSD = ln 2 · (sum α + sum a) / 2 - sum_t overlap(α_t, a_t),

so weights on a few items cost a few terms, and nothing cancels where the divergence is large.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]
TOLERANCE = 1e-9  # the optimum sits on the bound, and rounding puts it just outside
LARGEST_LOGIT = 1e6  # beyond it, float64 cannot hold a mix of logits to the tolerance
DOCUMENT_BYTES = 64 << 20  # for the tables of one chunk of documents


def checked_eps(eps: Sequence[float]) -> Floats:
    bounds = np.asarray(eps, dtype=np.float64)
    if bounds.ndim != 1 or not len(bounds) or not (bounds >= 0).all():
        raise ValueError(f"eps {eps!r}: give a sequence of numbers from 0 to 1")
    return bounds


def checked_logits(items: Floats, mask: Flags) -> Floats:
    """The items' logits with padding blanked, so that whatever stands there cannot matter."""
    real = np.where(mask[..., None], items, 0.0)
    if not (np.abs(real) <= LARGEST_LOGIT).all():
        raise ValueError(f"item logits must be finite and at most {LARGEST_LOGIT:g} in size")
    return real


def best_so_far(jsd: Floats, eps: Floats) -> Indices:
    """(B, E): at each bound, which bound's answer is best among it and all narrower ones."""
    order = np.argsort(eps, kind="stable")
    ranked = jsd[:, order]
    before = np.maximum.accumulate(ranked, axis=1)[:, :-1]
    better = np.pad(ranked[:, 1:] > before, ((0, 0), (1, 0)))
    source = np.maximum.accumulate(np.where(better, np.arange(len(eps)), 0), axis=1)
    chosen = np.empty_like(source)
    chosen[:, order] = order[source]
    return chosen


def document_chunks(documents: int, bytes_each: int, budget: int = DOCUMENT_BYTES) -> list[slice]:
    """Runs of documents whose tables fit the budget; one document always goes."""
    size = max(1, budget // max(1, bytes_each))
    return [slice(start, start + size) for start in range(0, documents, size)]


def ordered_sum(terms: Floats) -> Floats:
    """The last axis summed from first to last: zeros from padding cannot change its last bit."""
    if not terms.shape[-1]:
        return np.zeros(terms.shape[:-1])
    total: Floats = np.cumsum(terms, axis=-1)[..., -1]
    return total


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
