"""Beyond which divergence can no weights go while a several-class prediction stays within eps?

Any set that holds all feasible weights bounds them. A slab on the difference of two classes' logits
does, and is solved exactly; the least over class pairs is reported. The three slabs of three
classes are a polygon in the plane; with few items all its vertices can be listed: tighter still.
"""

from itertools import combinations

import numpy as np

from assay.exact.ball import class_pairs, difference_bounds
from assay.exact.documents import Documents
from assay.exact.frontier import TOLERANCE, Flags, Floats, ordered_sum
from assay.exact.overlap import divergence, overlap
from assay.exact.pairs import Mixes
from assay.exact.planar import PLANAR_CLASSES, cheapest_triples
from assay.exact.slab import least_overlap

LIKELIEST = 4  # classes whose triples are looked at
BOUND_SLACK = 1e-9  # on a logit difference: what rounding puts just outside must stay listed


def slab_optima(documents: Documents) -> list[Mixes]:
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


def slab_bound(documents: Documents, optima: list[Mixes]) -> Floats:
    """(B, E): every slab holds all feasible weights, so the tightest bound is valid."""
    return _beyond(documents, np.max([mixes.overlap for mixes in optima], axis=0))


def polygon_bound(documents: Documents) -> Floats:
    """(B, E): the least of the polygons' optima among the likeliest classes.

    Only three classes at a time are looked at. An unlikely class is hardly bounded, for it has
    little to lose, so the likeliest make the tightest polygons.
    """
    likeliest = np.argsort(-documents.original, axis=1, kind="stable")[:, :LIKELIEST]
    choices = combinations(range(likeliest.shape[1]), PLANAR_CLASSES)
    optima = [_polygon_optimum(documents.classes(likeliest[:, list(c)])) for c in choices]
    least: Floats = np.min(optima, axis=0)
    return least


def _polygon_optimum(documents: Documents) -> Floats:
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


def _beyond(documents: Documents, cost: Floats) -> Floats:
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
