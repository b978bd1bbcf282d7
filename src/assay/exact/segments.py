"""Which mix of two items moves furthest while a several-class prediction stays within eps?

Along the segment between two items the divergence is convex, so the best feasible mix is an end of
a feasible stretch. Stretches are found on a grid and their ends by halving; a stretch that could
not beat the best grid point is left alone.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.ball import moved
from assay.exact.documents import Documents
from assay.exact.frontier import TOLERANCE, Flags, Floats, Indices
from assay.exact.overlap import overlap
from assay.exact.proposals import placed

GRID = np.linspace(0.0, 1.0, 17)
HALVINGS = 40


@dataclass(frozen=True)
class _Stretch:
    """Pieces of segments, flat: from `low` to `high` as shares of the second item."""

    document: Indices
    one: Indices
    other: Indices
    low: Floats
    high: Floats


def best_pairs(documents: Documents) -> Floats:
    """Weights (B, E, T) on two items at most; not feasible where no such mix is."""
    weights, values, mask = documents.weights, documents.values, documents.mask
    one, other = np.triu_indices(weights.shape[1], 1)
    if not len(one):
        return np.ones((*documents.eps.shape, weights.shape[1]))
    start, step = values[:, one, None], (values[:, other] - values[:, one])[:, :, None]
    shift = moved(start + GRID[:, None] * step, documents.original[:, None, None])
    cost = overlap(1 - GRID, weights[:, one, None]) + overlap(GRID, weights[:, other, None])
    cost = np.where((mask[:, one] & mask[:, other])[..., None], cost, np.inf)
    return np.stack([_within(documents, shift, cost, eps) for eps in documents.eps.T], axis=1)


def _within(documents: Documents, shift: Floats, cost: Floats, eps: Floats) -> Floats:
    length = documents.weights.shape[1]
    pairs = np.stack(np.triu_indices(length, 1), axis=-1)
    feasible = shift <= eps[:, None, None] + TOLERANCE
    on_grid = np.where(feasible, cost, np.inf).reshape(len(shift), -1)
    at = on_grid.argmin(axis=1)
    least = np.take_along_axis(on_grid, at[:, None], axis=1)[:, 0]
    share = GRID[at % len(GRID)]
    items = pairs[at // len(GRID)]
    stretch = _promising(feasible, cost, least, pairs)
    ends = _ends(documents, eps, stretch)
    ended = _stretch_cost(documents, stretch, ends)
    # Written from worst to best and from last to first: the best stays, of equals the first.
    order = np.lexsort((-np.arange(len(ends)), -ended, stretch.document))
    order = order[ended[order] < least[stretch.document[order]]]
    winner = stretch.document[order]
    items[winner] = np.stack([stretch.one, stretch.other], axis=-1)[order]
    share[winner] = ends[order]
    return placed(items, np.stack([1 - share, share], axis=-1), length)


def _promising(feasible: Flags, cost: Floats, least: Floats, pairs: Indices) -> _Stretch:
    """Grid cells with the bound in them whose better end beats the best feasible grid point."""
    crossing = feasible[..., 1:] != feasible[..., :-1]
    reach = np.minimum(cost[..., 1:], cost[..., :-1])
    document, pair, cell = np.nonzero(crossing & (reach < least[:, None, None]))
    one, other = pairs[pair].T
    return _Stretch(document, one, other, GRID[cell], GRID[cell + 1])


def _ends(documents: Documents, eps: Floats, stretch: _Stretch) -> Floats:
    """The feasible side of the bound in each stretch."""
    start = documents.values[stretch.document, stretch.one]
    step = documents.values[stretch.document, stretch.other] - start
    original = documents.original[stretch.document]
    bound = eps[stretch.document] + TOLERANCE

    def is_feasible(share: Floats) -> Flags:
        return moved(start + share[:, None] * step, original) <= bound

    forward = is_feasible(stretch.low)
    inside = np.where(forward, stretch.low, stretch.high)
    outside = np.where(forward, stretch.high, stretch.low)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        there = is_feasible(middle)
        inside, outside = np.where(there, middle, inside), np.where(there, outside, middle)
    return inside


def _stretch_cost(documents: Documents, stretch: _Stretch, share: Floats) -> Floats:
    one = documents.weights[stretch.document, stretch.one]
    other = documents.weights[stretch.document, stretch.other]
    return overlap(1 - share, one) + overlap(share, other)
