"""Which three items, mixed so that they hit a point of the plane, overlap least with the weights?

With three classes an item is a point in the plane of two logit differences. Weights on three
items hit a target if it lies in their triangle, and then in one way only.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.exact.frontier import Flags, Floats, Indices
from assay.exact.overlap import overlap

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
