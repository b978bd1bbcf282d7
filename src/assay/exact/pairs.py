"""Which two items, mixed so that their value hits a target, overlap least with the weights?

Every item below the target is paired with every item above it; each pair has one mix that hits.
Only such pairs are laid out, side by side over all documents and targets, in pieces that stay in
the processor's cache. Memory therefore grows with T, not with its square.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.frontier import Flags, Floats, Indices
from assay.exact.overlap import x_log_x

PAIRS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Mixes:
    """Weights on two items at most: 1 - share on the first, share on the second."""

    overlap: Floats  # infinite where there is no such mix
    first: Indices
    second: Indices
    share: Floats


@dataclass(frozen=True)
class _Side:
    """The items on one side of each target, flat: ordered by target, then by item."""

    target: Indices
    item: Indices
    distance: Floats  # from the target, positive
    weight: Floats
    weight_term: Floats  # weight ln weight


def cheapest_pairs(weights: Floats, values: Floats, mask: Flags, targets: Floats) -> Mixes:
    """Per document (B, T) and target (B, K) the pair of least overlap; equals: lowest indices."""
    gap = np.where(mask, values, np.nan)[:, None] - targets[..., None]
    below = _side(weights, -gap)
    above = _side(weights, gap)
    count = np.bincount(above.target, minlength=targets.size)
    begin = np.cumsum(count) - count
    below = _rows(below, np.flatnonzero(count[below.target]))
    cost, partner = _best_partners(below, above, count[below.target], begin[below.target])
    return _first_of_least(below, above, cost, partner, targets.shape)


def _side(weights: Floats, distance: Floats) -> _Side:
    documents, targets, items = np.nonzero((distance > 0) & np.isfinite(distance))
    weight = weights[documents, items]
    return _Side(
        documents * distance.shape[1] + targets,
        items,
        distance[documents, targets, items],
        weight,
        x_log_x(weight),
    )


def _rows(side: _Side, rows: Indices) -> _Side:
    return _Side(
        side.target[rows],
        side.item[rows],
        side.distance[rows],
        side.weight[rows],
        side.weight_term[rows],
    )


def _best_partners(
    below: _Side, above: _Side, count: Indices, begin: Indices
) -> tuple[Floats, Indices]:
    """For each lower item the least overlap, and where in `above` the item that gives it is."""
    cost = np.empty(len(count))
    partner = np.empty(len(count), dtype=np.int64)
    end = np.cumsum(count)
    start = 0
    while start < len(count):
        done = end[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(end, done + PAIRS_AT_ONCE, side="right")))
        rows = np.arange(start, stop)
        piece = _rows(below, rows)
        cost[rows], partner[rows] = _piece_best(piece, above, count[rows], begin[rows])
        start = stop
    return cost, partner


def _piece_best(
    below: _Side, above: _Side, count: Indices, begin: Indices
) -> tuple[Floats, Indices]:
    starts = np.cumsum(count) - count
    total = int(count.sum())
    upper = np.arange(total) + np.repeat(begin - starts, count)
    row = np.repeat(np.arange(len(count)), count)
    cost = _pair_overlap(below, row, above, upper)
    least = np.minimum.reduceat(cost, starts)
    hits = np.flatnonzero(cost == least[row])
    return least, upper[hits[_first_of_each(row[hits])]]


def _pair_overlap(below: _Side, row: Indices, above: _Side, upper: Indices) -> Floats:
    """Twice the sum of both overlaps, as written out in `overlap`."""
    share = _share(below.distance[row], above.distance[upper])
    rest = 1 - share
    cost = x_log_x(rest + below.weight[row])
    cost += x_log_x(share + above.weight[upper])
    cost -= x_log_x(rest)
    cost -= x_log_x(share)
    cost -= below.weight_term[row]
    cost -= above.weight_term[upper]
    return cost


def _share(lower_distance: Floats, upper_distance: Floats) -> Floats:
    return lower_distance / (lower_distance + upper_distance)


def _first_of_least(
    below: _Side, above: _Side, cost: Floats, partner: Indices, shape: tuple[int, ...]
) -> Mixes:
    """Per target the first lower item of least overlap, with its partner."""
    size = int(np.prod(shape))
    least = np.full(size, np.inf)
    np.minimum.at(least, below.target, cost)
    hits = np.flatnonzero(cost == least[below.target])
    hits = hits[_first_of_each(below.target[hits])]
    target, upper = below.target[hits], partner[hits]
    first, second = np.zeros((2, size), dtype=np.int64)
    share = np.zeros(size)
    first[target] = below.item[hits]
    second[target] = above.item[upper]
    share[target] = _share(below.distance[hits], above.distance[upper])
    return Mixes(
        least.reshape(shape) / 2, first.reshape(shape), second.reshape(shape), share.reshape(shape)
    )


def _first_of_each(groups: Indices) -> Flags:
    """Where a new group begins in a list ordered by group."""
    begins = np.ones(len(groups), dtype=np.bool_)
    begins[1:] = groups[1:] != groups[:-1]
    return begins
