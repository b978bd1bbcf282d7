"""Which three items, mixed so that they hit a point of the plane, overlap least with the weights?

With three classes an item is a point in the plane of two logit differences. Weights on three
items hit a target if it lies in their triangle, and then in one way only.

Beyond which divergence can no weights go while a several-class prediction stays within eps?

Any set that holds all feasible weights bounds them. A slab on the difference of two classes' logits
does, and is solved exactly; the least over class pairs is reported. The three slabs of three
classes are a polygon in the plane; with few items all its vertices can be listed: tighter still.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.exact.constraints import ConstrainedDocuments, class_pairs, difference_bounds
from assay.exact.numerics import TOLERANCE, Flags, Floats, Indices, divergence, ordered_sum, overlap
from assay.exact.slab import Mixes, least_overlap

PLANAR_CLASSES = 3
EDGE_SLACK = 1e-9  # a target on the edge of a triangle counts as inside


@dataclass(frozen=True)
class Triples:
    """Per document and target (B, Q) the best triangle; overlap infinite where none holds it."""

    overlap: Floats
    items: Indices  # (B, Q, 3)
    shares: Floats  # (B, Q, 3)


def plane(logits: Floats) -> Floats:
    """Logits (..., 3) as points: the first less the second, the first less the third."""
    return logits[..., :1] - logits[..., 1:]


def cheapest_triples(weights: Floats, plane: Floats, mask: Flags, targets: Floats) -> Triples:
    """For items (B, T, 2) and targets (B, Q, 2; NaN for none); equals: lowest indices."""
    triangles = np.array(list(combinations(range(weights.shape[1]), 3)), dtype=np.int64)
    shape = targets.shape[:2]
    if not len(triangles):
        nobody = np.zeros((*shape, 3))
        return Triples(np.full(shape, np.inf), nobody.astype(np.int64), nobody)
    first, second = _shares(plane, mask, triangles, targets)
    third = 1 - first - second
    held = np.nonzero((first >= -EDGE_SLACK) & (second >= -EDGE_SLACK) & (third >= -EDGE_SLACK))
    shares = np.maximum(np.stack([first[held], second[held], third[held]], axis=-1), 0.0)
    items = triangles[held[2]]
    cost = overlap(shares, weights[held[0][:, None], items]).sum(axis=-1)
    return _least(shape, held[0] * shape[1] + held[1], cost, items, shares)


def _shares(
    plane: Floats, mask: Flags, triangles: Indices, targets: Floats
) -> tuple[Floats, Floats]:
    """How much of each target (B, Q, triangles) the first and the second corner must carry."""
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
    size = shape[0] * shape[1]
    least = np.full(size, np.inf)
    np.minimum.at(least, target, cost)
    hits = np.flatnonzero(cost == least[target])[::-1]  # written backwards: the first one stays
    best_items, best_shares = np.zeros((size, 3), dtype=np.int64), np.zeros((size, 3))
    best_items[target[hits]], best_shares[target[hits]] = items[hits], shares[hits]
    return Triples(
        least.reshape(shape), best_items.reshape(*shape, 3), best_shares.reshape(*shape, 3)
    )


LIKELIEST = 4  # classes whose triples are looked at
BOUND_SLACK = 1e-9  # on a logit difference: what rounding puts just outside must stay listed


def slab_optima(documents: ConstrainedDocuments) -> list[Mixes]:
    """The exact optimum (B, E) of each class pair's slab."""
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
    """(B, E): every slab holds all feasible weights, so the tightest bound is valid."""
    return _beyond(documents, np.max([mixes.overlap for mixes in optima], axis=0))


def polygon_bound(documents: ConstrainedDocuments) -> Floats:
    """(B, E): the least of the polygons' optima among the likeliest classes.

    Only three classes at a time are looked at. An unlikely class is hardly bounded, for it has
    little to lose, so the likeliest make the tightest polygons.
    """
    likeliest = np.argsort(-documents.original, axis=1, kind="stable")[:, :LIKELIEST]
    choices = combinations(range(likeliest.shape[1]), PLANAR_CLASSES)
    optima = [_polygon_optimum(documents.classes(likeliest[:, list(c)])) for c in choices]
    least: Floats = np.min(optima, axis=0)
    return least


def _polygon_optimum(documents: ConstrainedDocuments) -> Floats:
    """For three classes: the best vertex of the simplex cut by all three slabs."""
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
    return _beyond(documents, cost)


def _beyond(documents: ConstrainedDocuments, cost: Floats) -> Floats:
    """No vertex at all (an empty document, or rounding): then only the largest JSD is certain."""
    least = np.where(np.isfinite(cost), cost, 0.0)
    return divergence(least, ordered_sum(documents.weights)[:, None])


def _inside(differences: Floats, low: Floats, high: Floats) -> Flags:
    each = (differences >= low - BOUND_SLACK) & (differences <= high + BOUND_SLACK)
    within: Flags = np.logical_and.reduce(each, axis=-1)
    return within


def _on_edges(
    weights: Floats, differences: Floats, mask: Flags, low: Floats, high: Floats
) -> Floats:
    """Pairs of items whose segment crosses a side of the polygon."""
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
    """Where two sides meet inside the third slab: (B, E, corners, 2), NaN for none.

    The plane's axes are the first two differences, x = z0 - z1 and y = z0 - z2; the third is y - x.
    """
    found = []
    with np.errstate(invalid="ignore"):  # infinite bounds meet nowhere
        for one in (low, high):
            for other in (low, high):
                x, y = one[..., 0], other[..., 1]
                found += [(x, y), (x, x + other[..., 2]), (y - one[..., 2], y)]
        corners = np.stack([np.stack(point, axis=-1) for point in found], axis=2)
        third = corners[..., 1:] - corners[..., :1]
        valid = _inside(np.concatenate([corners, third], -1), low[:, :, None], high[:, :, None])
    valid &= np.isfinite(corners).all(axis=-1)
    return _packed(np.where(valid[..., None], corners, np.nan), valid)


def _packed(corners: Floats, valid: Flags) -> Floats:
    """Valid ones first, and no more places than the fullest polygon needs: six, as a rule."""
    order = np.argsort(~valid, axis=-1, kind="stable")[..., : valid.sum(axis=-1).max(initial=1)]
    return np.take_along_axis(corners, order[..., None], axis=2)
