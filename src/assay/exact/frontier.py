"""What counts as feasible, and what is the best so far as the bound on the prediction widens?

Everything feasible under one bound is feasible under a wider one, so the largest divergence never
falls as the bound widens. A search or a rounding error may break that; keeping the best so far
mends it.
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
