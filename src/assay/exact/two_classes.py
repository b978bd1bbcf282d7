"""How far can the weights move while a two-class prediction moves at most eps? The exact answer.

Jain & Wallace 2019, section 4.2.2, search for such weights by gradient steps. If the logit is
affine in the weights no search is needed: TVD <= eps is a slab in the logit, and `slab` names the
one or two items that suffice to keep the prediction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from assay.exact.numerics import (
    TOLERANCE,
    Flags,
    Floats,
    Indices,
    best_so_far,
    checked_eps,
    checked_logits,
    divergence,
    document_chunks,
    ordered_sum,
    overlap,
)
from assay.exact.slab import least_overlap, log_odds

CELL_BYTES = 160  # per document, bound and item: the flat lists of `pairs`, both sides


@dataclass(frozen=True)
class Adversary:
    """Per document and eps (B, E) the weights furthest from the original, and how far they are."""

    jsd: Floats
    tvd: Floats
    first: Indices  # carries 1 - share
    second: Indices  # carries share
    share: Floats
    moved: Flags  # False where only the original weights are feasible: they are the answer

    def weights(self, original: ArrayLike) -> Floats:
        """The whole weights (B, E, T), rebuilt from the two items."""
        kept = np.asarray(original, dtype=np.float64)
        rebuilt = np.zeros((*self.jsd.shape, kept.shape[1]))
        _put(rebuilt, self.first, 1 - self.share)
        _put(rebuilt, self.second, self.share)
        return np.where(self.moved[..., None], rebuilt, kept[:, None])


def exact_adversary(
    weights: ArrayLike, items: ArrayLike, bias: ArrayLike, mask: ArrayLike, eps: Sequence[float]
) -> Adversary:
    """The largest JSD from the weights (B, T) with TVD of the prediction at most each eps.

    Logits = bias (C,) + sum of weight times items (B, T, C); one logit (C = 1, a sigmoid) or two
    (a softmax). The result is non-decreasing in eps and never negative.
    """
    attention, terms, real = checked_documents(weights, items, mask)
    bounds = checked_eps(eps)
    values, logit = one_logit(attention, terms, np.asarray(bias, dtype=np.float64))
    chunks = document_chunks(len(attention), attention.shape[1] * len(bounds) * CELL_BYTES)
    parts = [_solve(attention[c], values[c], logit[c], real[c], bounds) for c in chunks]
    return _joined(parts, len(bounds))


def checked_documents(
    weights: ArrayLike, items: ArrayLike, mask: ArrayLike
) -> tuple[Floats, Floats, Flags]:
    real = np.asarray(mask, dtype=np.bool_)
    attention = np.where(real, np.asarray(weights, dtype=np.float64), 0.0)
    terms = checked_logits(np.asarray(items, dtype=np.float64), real)
    return attention, terms, real


def one_logit(weights: Floats, items: Floats, bias: Floats) -> tuple[Floats, Floats]:
    """Each item's logit with the bias in it, (B, T), and the prediction's, (B,)."""
    classes = items.shape[-1]
    if classes > 2:
        raise ValueError(f"{classes} logits: the exact answer is for one or two; use the bracket")
    slope = items[..., -1] - items[..., 0] if classes == 2 else items[..., 0]
    offset = bias[-1] - bias[0] if classes == 2 else bias[0]
    return slope + offset, ordered_sum(weights * slope) + offset


def _solve(weights: Floats, values: Floats, logit: Floats, mask: Flags, eps: Floats) -> Adversary:
    low, high = slab_bounds(logit, eps)
    probability = expit(logit)[:, None]
    shift = np.abs(expit(values) - probability)
    inside = mask[:, None] & (shift[:, None] <= eps[:, None] + TOLERANCE)
    best = least_overlap(weights, values, mask, low, high, inside)
    moved = np.isfinite(best.overlap)
    jsd = np.where(moved, _rescored(weights, best.first, best.second, best.share), 0.0)
    mixed = (1 - best.share) * _taken(values, best.first) + best.share * _taken(values, best.second)
    tvd = np.where(moved, np.abs(expit(mixed) - probability), 0.0)
    source = best_so_far(jsd, eps)
    fields = (jsd, tvd, best.first, best.second, best.share, moved)
    return Adversary(*(np.take_along_axis(field, source, axis=1) for field in fields))


def slab_bounds(logit: Floats, eps: Floats) -> tuple[Floats, Floats]:
    """Bounds (B, E) on the logit; infinite where the bound on the probability leaves (0, 1)."""
    likely, unlikely = expit(logit)[:, None], expit(-logit)[:, None]
    low = -log_odds(unlikely + eps, likely - eps, TOLERANCE)
    return low, log_odds(likely + eps, unlikely - eps, TOLERANCE)


def _rescored(weights: Floats, first: Indices, second: Indices, share: Floats) -> Floats:
    """The divergence of the witness itself, which is what is reported."""
    shared = overlap(1 - share, _taken(weights, first)) + overlap(share, _taken(weights, second))
    return divergence(shared, ordered_sum(weights)[:, None])


def _taken(table: Floats, columns: Indices) -> Floats:
    return np.take_along_axis(table, columns, axis=1)


def _put(table: Floats, columns: Indices, amount: Floats) -> None:
    """Add, not set: a single item is named twice, with nothing left for the second."""
    there = columns[..., None]
    np.put_along_axis(table, there, np.take_along_axis(table, there, -1) + amount[..., None], -1)


def _joined(parts: list[Adversary], bounds: int) -> Adversary:
    if not parts:
        none, nobody = np.zeros((0, bounds)), np.zeros((0, bounds), dtype=np.int64)
        return Adversary(none, none, nobody, nobody, none, none.astype(np.bool_))
    names = Adversary.__dataclass_fields__
    return Adversary(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})
