"""What is the largest divergence while a weighted sum stays between two bounds?

A convex function on a polytope is largest at a vertex, and a vertex of (simplex, cut by a slab)
has at most two non-zero entries: single items inside, and pairs whose mix lies on a bound.
"""

import numpy as np

from assay.exact.frontier import Flags, Floats
from assay.exact.overlap import overlap
from assay.exact.pairs import Mixes, cheapest_pairs


def log_odds(more: Floats, less: Floats, nothing: float) -> Floats:
    """A bound on a logit from two probabilities; none (infinity) where `less` is nothing."""
    bounded = less > nothing
    odds = np.log(more) - np.log(np.where(bounded, less, 1.0))
    return np.where(bounded, odds, np.inf)


def least_overlap(
    weights: Floats, values: Floats, mask: Flags, low: Floats, high: Floats, inside: Flags
) -> Mixes:
    """Per document (B, T) and slab (B, E) the vertex of least overlap with the weights.

    `inside` (B, E, T) says which single items lie in the slab; bounds may be infinite. Among
    equals a single item comes before a pair, the lower bound before the upper.
    """
    slabs = low.shape[1]
    single = _lightest_inside(weights, inside)
    bounds = np.concatenate([low, high], axis=1)
    pairs = cheapest_pairs(weights, values, mask, bounds)
    return _cheaper(single, _cheaper(_part(pairs, slice(slabs)), _part(pairs, slice(slabs, None))))


def _lightest_inside(weights: Floats, inside: Flags) -> Mixes:
    """An overlap grows with the weight, so the best single item is the lightest."""
    eligible = np.where(inside, weights[:, None], np.inf)
    item = eligible.argmin(axis=-1)
    weight = np.take_along_axis(eligible, item[..., None], axis=-1)[..., 0]
    whole = np.ones_like(weight)
    found = np.isfinite(weight)
    cost = np.where(found, overlap(whole, np.where(found, weight, 0.0)), np.inf)
    return Mixes(cost, item, item, np.zeros_like(weight))


def _part(mixes: Mixes, columns: slice) -> Mixes:
    return Mixes(
        mixes.overlap[:, columns],
        mixes.first[:, columns],
        mixes.second[:, columns],
        mixes.share[:, columns],
    )


def _cheaper(one: Mixes, other: Mixes) -> Mixes:
    keep = one.overlap <= other.overlap
    return Mixes(
        np.where(keep, one.overlap, other.overlap),
        np.where(keep, one.first, other.first),
        np.where(keep, one.second, other.second),
        np.where(keep, one.share, other.share),
    )
