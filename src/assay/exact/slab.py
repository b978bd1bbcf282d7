"""The largest divergence while a weighted sum of the items' values stays between two bounds.

A *slab* is the set of weights whose sum of weight times value lies between two bounds. A convex
function on a polytope is largest at a vertex, and a vertex of the simplex cut by a slab has at most
two non-zero entries. It is a single item inside the slab, or a *mix*: weights on two items, one on
each side of a bound, whose sum hits the bound. The divergence is largest where the overlap with
the original weights (see `numerics`) is least.

To find the best mix, every item below a bound is paired with every item above it. In each mix one
item carries at least half, so pairs of two heavy items are skipped: as its share grows from a half
to one, the overlap is concave, hence no less than at one of these ends. The remaining pairs are
laid out in flat arrays over all documents and bounds, in pieces that stay in the processor's cache:
memory grows with T, not with its square.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.numerics import Flags, Floats, Indices, overlap, x_log_x

PAIRS_AT_ONCE = 1 << 15
ROUNDING = 1e-12  # far above the error of an overlap, so that ties are never lost


@dataclass(frozen=True)
class Mixes:
    """Weights on at most two items: 1 - share on the first, share on the second."""

    overlap: Floats  # infinite where no such mix exists
    first: Indices
    second: Indices
    share: Floats


def least_overlap(
    weights: Floats, values: Floats, mask: Flags, low: Floats, high: Floats, inside: Flags
) -> Mixes:
    """The vertex of least overlap with the weights per document (B, T) and slab (B, E).

    `inside` (B, E, T) is True for single items in the slab; bounds may be infinite. Among equal
    overlaps a single item precedes a pair, and the lower bound precedes the upper.
    """
    slabs = low.shape[1]
    single = _lightest_inside(weights, inside)
    bounds = np.concatenate([low, high], axis=1)
    known = np.concatenate([single.overlap, single.overlap], axis=1)
    pairs = cheapest_pairs(weights, values, mask, bounds, known)
    return _cheaper(single, _cheaper(_part(pairs, slice(slabs)), _part(pairs, slice(slabs, None))))


def _lightest_inside(weights: Floats, inside: Flags) -> Mixes:
    """The best single item: an overlap grows with the weight, so it is the lightest."""
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


def log_odds(more: Floats, less: Floats, nothing: float) -> Floats:
    """A bound on a logit from two probabilities; infinite where `less` is at most `nothing`."""
    bounded = less > nothing
    odds = np.log(more) - np.log(np.where(bounded, less, 1.0))
    return np.where(bounded, odds, np.inf)


@dataclass(frozen=True)
class _Side:
    """The items on one side of each target, flat: ordered by target, then by item."""

    target: Indices
    item: Indices
    distance: Floats  # from the target, positive
    weight: Floats
    weight_term: Floats  # weight ln weight


def cheapest_pairs(
    weights: Floats, values: Floats, mask: Flags, targets: Floats, known: Floats
) -> Mixes:
    """The pair of least overlap per document (B, T) and target (B, K); ties: lowest indices.

    Pairs whose overlap exceeds one that is `known` (B, K) may be left out; infinite if none is.
    """
    gap = np.where(mask, values, np.nan)[:, None] - targets[..., None]
    below, above = _side(weights, -gap), _side(weights, gap)
    lightest = [_lightest(side, targets.size) for side in (below, above)]
    limit = np.minimum(_lightest_pair(below, above, lightest), 2 * known.ravel())
    light_below = _light(below, limit, _half_overlap(above, lightest[1]))
    light_above = _light(above, limit, _half_overlap(below, lightest[0]))
    cost = np.full(len(below.item), np.inf)
    partner = np.zeros(len(below.item), dtype=np.int64)
    for lower, upper in ((light_below, np.ones_like(light_above)), (~light_below, light_above)):
        rows, columns = np.flatnonzero(lower), np.flatnonzero(upper)
        rows, least, partners = _best_partners(below, above, rows, columns)
        cost[rows], partner[rows] = least, partners
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


def _lightest_pair(below: _Side, above: _Side, lightest: list[Indices]) -> Floats:
    """The overlap of the lightest items on both sides: the best pair has no more."""
    both = np.flatnonzero((lightest[0] >= 0) & (lightest[1] >= 0))
    limit = np.full(len(lightest[0]), np.inf)
    limit[both] = _pair_overlap(below, lightest[0][both], above, lightest[1][both])
    return limit


def _lightest(side: _Side, targets: int) -> Indices:
    least = np.full(targets, np.inf)
    np.minimum.at(least, side.target, side.weight)
    place = np.full(targets, -1)
    hits = np.flatnonzero(side.weight == least[side.target])
    place[side.target[hits]] = hits
    return place


def _half_overlap(side: _Side, places: Indices) -> Floats:
    """Twice the overlap with a share of a half, per target, of the items in these places."""
    cost = np.full(len(places), np.inf)
    there = np.flatnonzero(places >= 0)
    cost[there] = _twice_overlap(0.5, _rows(side, places[there]))
    return cost


def _twice_overlap(share: float, side: _Side) -> Floats:
    shared: Floats = x_log_x(share + side.weight) - x_log_x(np.array(share)) - side.weight_term
    return shared


def _light(side: _Side, limit: Floats, other_half: Floats) -> Flags:
    """True for items that can carry half or more in a pair without exceeding the limit.

    With half, the item on the other side adds at least the half of its lightest, `other_half`.
    """
    half = _twice_overlap(0.5, side) + other_half[side.target]
    light: Flags = np.minimum(half, _twice_overlap(1.0, side)) <= limit[side.target] + ROUNDING
    return light


def _rows(side: _Side, rows: Indices) -> _Side:
    return _Side(
        side.target[rows],
        side.item[rows],
        side.distance[rows],
        side.weight[rows],
        side.weight_term[rows],
    )


def _best_partners(
    below: _Side, above: _Side, rows: Indices, columns: Indices
) -> tuple[Indices, Floats, Indices]:
    """The least overlap of each of these lower items that has a partner, and the partner."""
    targets = 1 + max(below.target.max(initial=0), above.target.max(initial=0))
    partners = np.bincount(above.target[columns], minlength=targets)
    first = np.cumsum(partners) - partners
    rows = rows[partners[below.target[rows]] > 0]
    count, begin = partners[below.target[rows]], first[below.target[rows]]
    lower, upper = _rows(below, rows), _rows(above, columns)
    pieces = [
        _piece_best(_rows(lower, piece), upper, count[piece], begin[piece])
        for piece in _pieces(count)
    ]
    if not pieces:
        return rows, np.zeros(0), rows
    cost, place = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return rows, cost, columns[place]


def _pieces(count: Indices) -> list[Indices]:
    """Runs of rows with about PAIRS_AT_ONCE pairs each; a row is never cut."""
    group = np.cumsum(count) // PAIRS_AT_ONCE
    return np.split(np.arange(len(count)), np.flatnonzero(np.diff(group)) + 1) if len(count) else []


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
    """Twice the sum of both overlaps, with `numerics.overlap` written out."""
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
    """The first lower item of least overlap per target, with its partner."""
    size = int(np.prod(shape))
    least = np.full(size, np.inf)
    np.minimum.at(least, below.target, cost)
    # A lower item without a partner has infinite cost and must be left out; `above` may be empty.
    hits = np.flatnonzero(np.isfinite(cost) & (cost == least[below.target]))
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
    """True where a new group begins in a list ordered by group."""
    begins = np.ones(len(groups), dtype=np.bool_)
    begins[1:] = groups[1:] != groups[:-1]
    return begins
