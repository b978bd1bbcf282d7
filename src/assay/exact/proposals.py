"""Which proposed weights are feasible, and which is the best so far?"""

from dataclasses import dataclass

import numpy as np

from assay.exact.ball import moved, weighted_logits
from assay.exact.documents import Documents
from assay.exact.frontier import TOLERANCE, Flags, Floats, Indices
from assay.exact.overlap import dense_jsd


@dataclass(frozen=True)
class Best:
    """Per document and eps the best feasible weights met so far."""

    jsd: Floats  # (B, E)
    tvd: Floats  # (B, E)
    weights: Floats  # (B, E, T)


def stay(documents: Documents) -> Best:
    """Where everyone begins: the original weights are feasible under any bound."""
    shape = documents.eps.shape
    kept = np.repeat(documents.weights[:, None], shape[1], axis=1)
    return Best(np.zeros(shape), np.zeros(shape), kept)


def consider(documents: Documents, best: Best, proposed: Floats) -> Best:
    """The better of the two, judged by scoring the proposed weights (B, E, T) themselves."""
    tvd = moved(weighted_logits(proposed, documents.values), documents.original[:, None])
    jsd = dense_jsd(proposed, documents.weights[:, None])
    better = (tvd <= documents.eps + TOLERANCE) & (jsd > best.jsd)
    better &= _are_weights(proposed, documents)
    return Best(
        np.where(better, jsd, best.jsd),
        np.where(better, tvd, best.tvd),
        np.where(better[..., None], proposed, best.weights),
    )


def _are_weights(proposed: Floats, documents: Documents) -> Flags:
    """They sum to one, are not negative and never lie on padding."""
    sums = np.abs(proposed.sum(axis=-1) - 1) <= TOLERANCE
    allowed = np.where(documents.mask[:, None], proposed >= 0, proposed == 0)
    both: Flags = sums & np.logical_and.reduce(allowed, axis=-1)
    return both


def placed(items: Indices, shares: Floats, length: int) -> Floats:
    """Weights over all items from (..., n) items and their shares; no item is named twice."""
    weights = np.zeros((*items.shape[:-1], length))
    np.put_along_axis(weights, items, shares, axis=-1)
    return weights
