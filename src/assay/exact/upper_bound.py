"""Upper bounds on the divergence for several classes: the upper end of the bracket.

Any set that contains all feasible weights bounds them. A *slab*, two bounds on the difference of
two classes' logits, contains them and is solved exactly (see `slab`); the least bound over pairs of
classes is used.

With three classes an item is a point in the plane of two logit differences, and the three slabs
form a polygon there. A *corner* is a vertex of the polygon. With few items all vertices of the
simplex cut by the three slabs can be listed, which gives a tighter bound: single items inside,
pairs of items whose segment crosses a side, and triples whose triangle contains a corner. Weights
on three items hit a point if it lies in their triangle, and then in one way only.

Where the bracket remains wide, `branch_and_bound` finds a tighter bound.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.exact.constraints import ConstrainedDocuments, class_pairs, difference_bounds
from assay.exact.numerics import TOLERANCE, Flags, Floats, Indices, divergence, ordered_sum, overlap
from assay.exact.slab import Mixes, least_overlap

PLANAR_CLASSES = 3
EDGE_SLACK = 1e-9  # a target on the edge of a triangle counts as inside it
BOUND_SLACK = 1e-9  # on a logit difference: points that rounding puts just outside are kept


@dataclass(frozen=True)
class Triples:
    """The best triangle per document and target (B, Q); infinite overlap where none contains it."""

    overlap: Floats
    items: Indices  # (B, Q, 3)
    shares: Floats  # (B, Q, 3)


def slab_optima(documents: ConstrainedDocuments) -> list[Mixes]:
    """The exact optimum (B, E) of the slab of each pair of classes."""
    weights, values, mask = documents.weights, documents.values, documents.mask
    low, high = difference_bounds(documents.original, documents.eps + TOLERANCE)
    optima = []
    for pair, (k, j) in enumerate(zip(*class_pairs(values.shape[-1]), strict=True)):
        bottom, top = low[..., pair] - BOUND_SLACK, high[..., pair] + BOUND_SLACK
        difference = values[..., k] - values[..., j]
        spread = difference[:, None]
        inside = mask[:, None] & (spread >= bottom[..., None]) & (spread <= top[..., None])
        optima.append(least_overlap(weights, difference, mask, bottom, top, inside))
    return optima


def slab_bound(documents: ConstrainedDocuments, optima: list[Mixes]) -> Floats:
    """The tightest bound (B, E) of all slabs; each contains all feasible weights."""
    return _largest_jsd(documents, np.max([mixes.overlap for mixes in optima], axis=0))


def polygon_bound(documents: ConstrainedDocuments) -> Floats:
    """The optimum (B, E) over the simplex cut by all three slabs of three classes."""
    weights, mask = documents.weights, documents.mask
    low, high = difference_bounds(documents.original, documents.eps + TOLERANCE)
    k, j = class_pairs(PLANAR_CLASSES)
    differences = documents.values[..., k] - documents.values[..., j]
    single = mask[:, None] & _inside(differences[:, None], low[:, :, None], high[:, :, None])
    alone = overlap(np.ones_like(weights), weights)[:, None]
    cost = np.where(single, alone, np.inf).min(axis=-1, initial=np.inf)
    cost = np.minimum(cost, _on_edges(weights, differences, mask, low, high))
    corners = _corners(low, high)
    targets = corners.reshape(len(corners), -1, 2)
    triples = cheapest_triples(weights, differences[..., :2], mask, targets).overlap
    cost = np.minimum(cost, triples.reshape(corners.shape[:3]).min(axis=-1))
    return _largest_jsd(documents, cost)


def _largest_jsd(documents: ConstrainedDocuments, cost: Floats) -> Floats:
    """The JSD of the least overlap; the largest JSD where no vertex was found."""
    # Without a vertex (an empty document, or rounding) only the largest JSD is certain.
    least = np.where(np.isfinite(cost), cost, 0.0)
    return divergence(least, ordered_sum(documents.weights)[:, None])


def _inside(differences: Floats, low: Floats, high: Floats) -> Flags:
    """True where all differences are within their bounds."""
    each = (differences >= low - BOUND_SLACK) & (differences <= high + BOUND_SLACK)
    within: Flags = np.logical_and.reduce(each, axis=-1)
    return within


def _on_edges(
    weights: Floats, differences: Floats, mask: Flags, low: Floats, high: Floats
) -> Floats:
    """The least overlap (B, E) of pairs of items whose segment crosses a side of the polygon."""
    one, other = np.triu_indices(weights.shape[1], 1)
    start = differences[:, None, None, one]
    step = differences[:, None, None, other] - start
    bounds = np.stack([low, high], axis=2)[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (bounds - start) / step  # (B, E, side, pair, normal)
        crossing = (share >= 0) & (share <= 1) & mask[:, None, None, one, None]
        crossing &= mask[:, None, None, other, None]
    share = np.where(crossing, share, 0.0)
    points = start[..., None, :] + share[..., None] * step[..., None, :]
    crossing &= _inside(points, low[:, :, None, None, None], high[:, :, None, None, None])
    at = np.nonzero(crossing)
    first, second = weights[at[0], one[at[3]]], weights[at[0], other[at[3]]]
    cost = overlap(1 - share[at], first) + overlap(share[at], second)
    least = np.full(low.shape[:2], np.inf)
    np.minimum.at(least, at[:2], cost)
    return least


def _corners(low: Floats, high: Floats) -> Floats:
    """The corners of the polygon, (B, E, corners, 2): where two sides meet inside the third slab.

    NaN for none. The axes of the plane are the first two differences, x = z0 - z1 and y = z0 - z2;
    the third difference is y - x.
    """
    found = []
    with np.errstate(invalid="ignore"):  # infinite bounds do not meet
        for one in (low, high):
            for other in (low, high):
                x, y = one[..., 0], other[..., 1]
                found += [(x, y), (x, x + other[..., 2]), (y - one[..., 2], y)]
        corners = np.stack([np.stack(point, axis=-1) for point in found], axis=2)
        third = corners[..., 1:] - corners[..., :1]
        valid = _inside(np.concatenate([corners, third], -1), low[:, :, None], high[:, :, None])
    valid &= np.isfinite(corners).all(axis=-1)
    return _pack(np.where(valid[..., None], corners, np.nan), valid)


def _pack(corners: Floats, valid: Flags) -> Floats:
    """Valid corners first, in as few places as the fullest polygon needs: usually six."""
    order = np.argsort(~valid, axis=-1, kind="stable")[..., : valid.sum(axis=-1).max(initial=1)]
    return np.take_along_axis(corners, order[..., None], axis=2)


def to_plane(logits: Floats) -> Floats:
    """Logits (..., 3) as points in the plane: first minus second, first minus third."""
    return logits[..., :1] - logits[..., 1:]


def cheapest_triples(weights: Floats, plane: Floats, mask: Flags, targets: Floats) -> Triples:
    """The triples of least overlap for items (B, T, 2) and targets (B, Q, 2; NaN: none)."""
    triangles = np.array(list(combinations(range(weights.shape[1]), 3)), dtype=np.int64)
    shape = targets.shape[:2]
    if not len(triangles):
        zeros = np.zeros((*shape, 3))
        return Triples(np.full(shape, np.inf), zeros.astype(np.int64), zeros)
    first, second = _shares(plane, mask, triangles, targets)
    third = 1 - first - second
    inside = np.nonzero((first >= -EDGE_SLACK) & (second >= -EDGE_SLACK) & (third >= -EDGE_SLACK))
    shares = np.maximum(np.stack([first[inside], second[inside], third[inside]], axis=-1), 0.0)
    items = triangles[inside[2]]
    cost = overlap(shares, weights[inside[0][:, None], items]).sum(axis=-1)
    return _least(shape, inside[0] * shape[1] + inside[1], cost, items, shares)


def _shares(
    plane: Floats, mask: Flags, triangles: Indices, targets: Floats
) -> tuple[Floats, Floats]:
    """The shares of the first and the second corner for each target, (B, Q, triangles)."""
    corner = plane[:, triangles]
    origin = corner[:, :, 2]
    one, two = corner[:, :, 0] - origin, corner[:, :, 1] - origin
    area = one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0]
    area = np.where(mask[:, triangles].all(axis=-1) & (area != 0), area, np.nan)[:, None]
    x, y = (targets[:, :, None, axis] - origin[:, None, :, axis] for axis in (0, 1))
    first = (x * two[:, None, :, 1] - y * two[:, None, :, 0]) / area
    second = (y * one[:, None, :, 0] - x * one[:, None, :, 1]) / area
    return first, second


def _least(
    shape: tuple[int, ...], target: Indices, cost: Floats, items: Indices, shares: Floats
) -> Triples:
    """The triple of least cost per target; among equals the one with the lowest indices."""
    size = shape[0] * shape[1]
    least = np.full(size, np.inf)
    np.minimum.at(least, target, cost)
    hits = np.flatnonzero(cost == least[target])[::-1]  # written backwards: the first one remains
    best_items, best_shares = np.zeros((size, 3), dtype=np.int64), np.zeros((size, 3))
    best_items[target[hits]], best_shares[target[hits]] = items[hits], shares[hits]
    return Triples(
        least.reshape(shape), best_items.reshape(*shape, 3), best_shares.reshape(*shape, 3)
    )
