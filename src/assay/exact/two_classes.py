"""The exact adversarial weights for two classes.

Jain & Wallace 2019, section 4.2.2, search by gradient steps for the weights that are furthest from
the original ones while the prediction moves at most eps. If the logit is affine in the weights, no
search is needed: TVD <= eps restricts the logit to a *slab*, the values between two bounds, and
`slab` finds the one or two items on which the furthest weights lie. These weights are the
*witness* of the answer; what is reported is computed from them.

`furthest_from_each` asks the same for several weights of the same document, such as the model's
own weights shuffled, and `furthest_from_uniform` for uniform weights, where the best pair of items
is known without comparing pairs. Weights that are compared with these baselines say something only
if their own distance is smaller.
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
    divergence,
    document_chunks,
    ordered_sum,
    overlap,
    validate_eps,
    validate_logits,
)
from assay.exact.slab import least_overlap, log_odds

CELL_BYTES = 160  # per document, bound and item: the flat lists of `slab`, both sides


@dataclass(frozen=True)
class Adversary:
    """Per document and eps (B, E): the feasible weights furthest from the original ones."""

    jsd: Floats  # of the weights from the original ones
    tvd: Floats  # of the prediction
    first: Indices  # carries 1 - share
    second: Indices  # carries share
    share: Floats
    moved: Flags  # False if only the original weights are feasible, which are the answer then

    def weights(self, original: ArrayLike) -> Floats:
        """The weights as a dense array (B, E, T), rebuilt from the two items."""
        kept = np.asarray(original, dtype=np.float64)
        rebuilt = np.zeros((*self.jsd.shape, kept.shape[1]))
        _add(rebuilt, self.first, 1 - self.share)
        _add(rebuilt, self.second, self.share)
        return np.where(self.moved[..., None], rebuilt, kept[:, None])


def exact_adversary(
    weights: ArrayLike, items: ArrayLike, bias: ArrayLike, mask: ArrayLike, eps: Sequence[float]
) -> Adversary:
    """The largest JSD from the weights (B, T) while the prediction moves at most each eps, in TVD.

    Logits = bias (C,) + sum of weight times items (B, T, C), with one logit (C = 1, a sigmoid) or
    two (a softmax). The JSD is non-decreasing in eps and never negative.
    """
    attention, terms, real = validate_documents(weights, items, mask)
    bounds = validate_eps(eps)
    values, logit = one_logit(attention, terms, np.asarray(bias, dtype=np.float64))
    chunks = document_chunks(len(attention), attention.shape[1] * len(bounds) * CELL_BYTES)
    parts = [_solve(attention[c], values[c], logit[c], real[c], bounds) for c in chunks]
    return _concatenate(parts, len(bounds))


def furthest_from_each(
    proposals: ArrayLike, items: ArrayLike, bias: ArrayLike, mask: ArrayLike, eps: float
) -> Floats:
    """The largest JSD (B, P) from each of several weights (B, P, T), each with its own prediction.

    `items`, `bias` and `mask` are those of `exact_adversary`.
    """
    real = np.asarray(mask, dtype=np.bool_)
    weights = np.where(real[:, None], np.asarray(proposals, dtype=np.float64), 0.0)
    slope, offset = item_slopes(validate_logits(np.asarray(items, dtype=np.float64), real), bias)
    count, length = weights.shape[1:]
    found = np.zeros(weights.shape[:2])
    bounds = validate_eps([eps])
    for rows in document_chunks(len(weights), count * length * CELL_BYTES):
        own = weights[rows].reshape(-1, length)
        values, there = np.repeat(slope[rows], count, axis=0), np.repeat(real[rows], count, axis=0)
        logit = ordered_sum(own * values) + offset
        found[rows] = _solve(own, values + offset, logit, there, bounds).jsd.reshape(-1, count)
    return found


def furthest_from_uniform(items: ArrayLike, bias: ArrayLike, mask: ArrayLike, eps: float) -> Floats:
    """The largest JSD (B,) from uniform weights, with the prediction of uniform weights.

    All weights are equal, so only the shares of a pair matter. The overlap is concave in the share
    and least where one item carries most: the item nearest to the bound on one side with the item
    furthest from it on the other.
    """
    real = np.asarray(mask, dtype=np.bool_)
    slope, offset = item_slopes(validate_logits(np.asarray(items, dtype=np.float64), real), bias)
    weight = 1 / np.maximum(real.sum(1), 1)
    logit = ordered_sum(slope * weight[:, None]) + offset
    values = slope + offset
    shift = np.abs(expit(values) - expit(logit)[:, None])
    single = (real & (shift <= eps + TOLERANCE)).any(1)
    share = np.where(single, 0.0, np.inf)
    for bound in np.concatenate(slab_bounds(logit, np.array([eps])), axis=1).T:
        gap = np.where(real & np.isfinite(bound)[:, None], values - bound[:, None], 0.0)
        share = np.minimum(share, _smallest_share(gap))
    found = np.isfinite(share)
    share = np.where(found, share, 0.0)
    shared = overlap(1 - share, weight) + overlap(share, weight)
    return np.where(found, divergence(shared, np.ones_like(weight)), 0.0)


def _smallest_share(gap: Floats) -> Floats:
    """The smallest share (B,) of an item in a pair on both sides of a bound; infinite if none."""
    below, above = np.where(gap < 0, -gap, np.nan), np.where(gap > 0, gap, np.nan)
    both = (gap < 0).any(1) & (gap > 0).any(1)
    share = np.full(len(gap), np.inf)
    (near, far), (other_near, other_far) = (
        (np.nanmin(side[both], axis=1), np.nanmax(side[both], axis=1)) for side in (below, above)
    )
    # The share of the upper item is down / (down + up), that of the lower item up / (down + up).
    share[both] = np.minimum(near / (near + other_far), other_near / (other_near + far))
    return share


def validate_documents(
    weights: ArrayLike, items: ArrayLike, mask: ArrayLike
) -> tuple[Floats, Floats, Flags]:
    """Weights, item logits and mask as arrays, with zeros on padding."""
    real = np.asarray(mask, dtype=np.bool_)
    attention = np.where(real, np.asarray(weights, dtype=np.float64), 0.0)
    terms = validate_logits(np.asarray(items, dtype=np.float64), real)
    return attention, terms, real


def one_logit(weights: Floats, items: Floats, bias: Floats) -> tuple[Floats, Floats]:
    """The logit of each item including the bias, (B, T), and of the prediction, (B,)."""
    slope, offset = item_slopes(items, bias)
    return slope + offset, ordered_sum(weights * slope) + offset


def item_slopes(items: Floats, bias: ArrayLike) -> tuple[Floats, float]:
    """What each item adds to the one logit of two classes, (B, T), and what the bias adds."""
    classes, offsets = items.shape[-1], np.asarray(bias, dtype=np.float64)
    if classes > 2:
        raise ValueError(
            f"{classes} logits: the exact answer is for one or two; use `bracket_adversary`"
        )
    if classes == 1:
        return items[..., 0], float(offsets[0])
    return items[..., 1] - items[..., 0], float(offsets[1] - offsets[0])


def _solve(weights: Floats, values: Floats, logit: Floats, mask: Flags, eps: Floats) -> Adversary:
    low, high = slab_bounds(logit, eps)
    probability = expit(logit)[:, None]
    shift = np.abs(expit(values) - probability)
    inside = mask[:, None] & (shift[:, None] <= eps[:, None] + TOLERANCE)
    best = least_overlap(weights, values, mask, low, high, inside)
    moved = np.isfinite(best.overlap)
    jsd = np.where(moved, _witness_jsd(weights, best.first, best.second, best.share), 0.0)
    mixed = (1 - best.share) * _take(values, best.first) + best.share * _take(values, best.second)
    tvd = np.where(moved, np.abs(expit(mixed) - probability), 0.0)
    source = best_so_far(jsd, eps)
    fields = (jsd, tvd, best.first, best.second, best.share, moved)
    return Adversary(*(np.take_along_axis(field, source, axis=1) for field in fields))


def slab_bounds(logit: Floats, eps: Floats) -> tuple[Floats, Floats]:
    """The bounds (B, E) on the logit; infinite where a bound on the probability leaves (0, 1)."""
    likely, unlikely = expit(logit)[:, None], expit(-logit)[:, None]
    low = -log_odds(unlikely + eps, likely - eps, TOLERANCE)
    return low, log_odds(likely + eps, unlikely - eps, TOLERANCE)


def _witness_jsd(weights: Floats, first: Indices, second: Indices, share: Floats) -> Floats:
    """The divergence of the witness itself."""
    shared = overlap(1 - share, _take(weights, first)) + overlap(share, _take(weights, second))
    return divergence(shared, ordered_sum(weights)[:, None])


def _take(table: Floats, columns: Indices) -> Floats:
    return np.take_along_axis(table, columns, axis=1)


def _add(table: Floats, columns: Indices, amount: Floats) -> None:
    """Add to the table, not set: a single item is named twice, with share 0 the second time."""
    index = columns[..., None]
    np.put_along_axis(table, index, np.take_along_axis(table, index, -1) + amount[..., None], -1)


def _concatenate(parts: list[Adversary], bounds: int) -> Adversary:
    if not parts:
        empty, no_items = np.zeros((0, bounds)), np.zeros((0, bounds), dtype=np.int64)
        return Adversary(empty, empty, no_items, no_items, empty, empty.astype(np.bool_))
    names = Adversary.__dataclass_fields__
    return Adversary(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})
