"""Feasible weights far from the original for several classes: the lower end of the bracket.

The proposals are single items; mixes of two items on the bound; for three classes also mixes of
three items that hit points of the ball's surface; then ascent from the best of these. Where the
bracket remains wide, `sequential_programs` proposes more. Every proposal is scored in full before
it counts, so the reported weights are feasible.

A *mix* is a set of weights on a few items. The *ball* is the set of predictions with TVD <= eps
(see `constraints`). Along the segment between two items the divergence is convex, so the best
feasible mix of two items is an end of a feasible stretch of the segment. A *stretch* is a cell of a
grid on the segment in which the bound is crossed; the crossing is found by bisection. A stretch
that cannot beat the best grid point is skipped.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.ascent import climb
from assay.exact.constraints import (
    ConstrainedDocuments,
    ball_surface,
    prediction_shift,
    weighted_logits,
)
from assay.exact.numerics import TOLERANCE, Flags, Floats, Indices, dense_jsd, overlap
from assay.exact.slab import Mixes
from assay.exact.upper_bound import PLANAR_CLASSES, cheapest_triples, to_plane

GRID = np.linspace(0.0, 1.0, 17)  # shares of the second of two items
HALVINGS = 40  # of a stretch, to find the crossing
POOL = 20  # items that pairs and triples are made of; the most promising ones of a long document


@dataclass(frozen=True)
class BestFound:
    """The best feasible weights found so far, per document and eps."""

    jsd: Floats  # (B, E)
    tvd: Floats  # (B, E)
    weights: Floats  # (B, E, T)

    def rows(self, rows: Indices) -> "BestFound":
        """These of the B · E answers, as documents with one bound each."""
        length = self.weights.shape[-1]
        return BestFound(
            self.jsd.reshape(-1, 1)[rows],
            self.tvd.reshape(-1, 1)[rows],
            self.weights.reshape(-1, 1, length)[rows],
        )

    def replace_rows(self, rows: Indices, better: "BestFound") -> "BestFound":
        """All answers, with those of `rows` replaced."""
        parts = {}
        for name, part in vars(self).items():
            changed = part.reshape(-1, *part.shape[2:]).copy()
            changed[rows] = getattr(better, name)[:, 0]
            parts[name] = changed.reshape(part.shape)
        return BestFound(**parts)


@dataclass(frozen=True)
class _Stretch:
    """Stretches of segments, flat: from `low` to `high` as shares of the second item."""

    document: Indices
    one: Indices
    other: Indices
    low: Floats
    high: Floats


def feasible_best(documents: ConstrainedDocuments, optima: list[Mixes]) -> BestFound:
    """The best feasible weights found; the optima of the slabs suggest items."""
    best = keep_better(documents, keep_original(documents), _singles(documents))
    pool = _pool(documents, optima)
    few, length = documents.items(pool), documents.weights.shape[1]
    best = keep_better(documents, best, _expand(best_pairs(few), pool, length))
    if documents.values.shape[-1] == PLANAR_CLASSES:
        triples = _triples(few)
        for point in range(triples.shape[2]):
            best = keep_better(documents, best, _expand(triples[:, :, point], pool, length))
    return keep_better(documents, best, _ascend(documents, best.weights))


def keep_original(documents: ConstrainedDocuments) -> BestFound:
    """The starting point: the original weights, which are feasible under any bound."""
    shape = documents.eps.shape
    kept = np.repeat(documents.weights[:, None], shape[1], axis=1)
    return BestFound(np.zeros(shape), np.zeros(shape), kept)


def keep_better(documents: ConstrainedDocuments, best: BestFound, proposed: Floats) -> BestFound:
    """The better of the best so far and the proposed weights (B, E, T), if those are feasible."""
    tvd = prediction_shift(weighted_logits(proposed, documents.values), documents.original[:, None])
    jsd = dense_jsd(proposed, documents.weights[:, None])
    better = (tvd <= documents.eps + TOLERANCE) & (jsd > best.jsd)
    better &= _are_weights(proposed, documents)
    return BestFound(
        np.where(better, jsd, best.jsd),
        np.where(better, tvd, best.tvd),
        np.where(better[..., None], proposed, best.weights),
    )


def _are_weights(proposed: Floats, documents: ConstrainedDocuments) -> Flags:
    """True where proposals sum to one, are not negative and are zero on padding."""
    sums = np.abs(proposed.sum(axis=-1) - 1) <= TOLERANCE
    allowed = np.where(documents.mask[:, None], proposed >= 0, proposed == 0)
    both: Flags = sums & np.logical_and.reduce(allowed, axis=-1)
    return both


def scatter(items: Indices, shares: Floats, length: int) -> Floats:
    """Dense weights from (..., n) items and their shares; no item may occur twice."""
    weights = np.zeros((*items.shape[:-1], length))
    np.put_along_axis(weights, items, shares, axis=-1)
    return weights


def _singles(documents: ConstrainedDocuments) -> Floats:
    """The lightest item that keeps the prediction alone, because overlap grows with the weight."""
    shift = prediction_shift(documents.values, documents.original[:, None])[:, None]
    inside = documents.mask[:, None] & (shift <= documents.eps[..., None] + TOLERANCE)
    lightest = np.where(inside, documents.weights[:, None], np.inf).argmin(axis=-1)[..., None]
    return scatter(lightest, np.ones(lightest.shape), documents.weights.shape[1])


def _pool(documents: ConstrainedDocuments, optima: list[Mixes]) -> Indices:
    """The items (B, P) to combine: those that solve a slab, then the lightest, then padding."""
    rank = np.where(documents.mask, documents.weights, np.inf)
    for mixes in optima:
        rows, bounds = np.nonzero(np.isfinite(mixes.overlap))  # a slab without a mix names no items
        for items in (mixes.first, mixes.second):
            rank[rows, items[rows, bounds]] = -1.0
    chosen = np.argsort(rank, axis=1, kind="stable")[:, :POOL]
    return np.sort(chosen, axis=1)


def _expand(proposed: Floats, pool: Indices, length: int) -> Floats:
    """Weights over the pool (B, E, P) as weights over all items."""
    return scatter(np.broadcast_to(pool[:, None], proposed.shape), proposed, length)


def _triples(few: ConstrainedDocuments) -> Floats:
    """The best triple for each point of the ball's surface, (B, E, points, P)."""
    logits = ball_surface(few.original, few.eps)
    targets = to_plane(logits)
    flat = targets.reshape(len(targets), -1, 2)
    found = cheapest_triples(few.weights, to_plane(few.values), few.mask, flat)
    weights = scatter(found.items, found.shares, few.weights.shape[1])
    return weights.reshape(*targets.shape[:3], -1)


def _ascend(documents: ConstrainedDocuments, start: Floats) -> Floats:
    """The ascent of every document under every eps."""
    flat = start.reshape(-1, start.shape[-1])
    return climb(flat, documents.under_each_bound()).reshape(start.shape)


def best_pairs(documents: ConstrainedDocuments) -> Floats:
    """Weights (B, E, T) on at most two items; infeasible where no such mix is feasible."""
    weights, values, mask = documents.weights, documents.values, documents.mask
    one, other = np.triu_indices(weights.shape[1], 1)
    if not len(one):
        return np.ones((*documents.eps.shape, weights.shape[1]))
    start, step = values[:, one, None], (values[:, other] - values[:, one])[:, :, None]
    shift = prediction_shift(start + GRID[:, None] * step, documents.original[:, None, None])
    cost = overlap(1 - GRID, weights[:, one, None]) + overlap(GRID, weights[:, other, None])
    cost = np.where((mask[:, one] & mask[:, other])[..., None], cost, np.inf)
    return np.stack(
        [_best_pairs_under(documents, shift, cost, eps) for eps in documents.eps.T], axis=1
    )


def _best_pairs_under(
    documents: ConstrainedDocuments, shift: Floats, cost: Floats, eps: Floats
) -> Floats:
    """The best pairs (B, T) under one bound per document."""
    length = documents.weights.shape[1]
    pairs = np.stack(np.triu_indices(length, 1), axis=-1)
    feasible = shift <= eps[:, None, None] + TOLERANCE
    on_grid = np.where(feasible, cost, np.inf).reshape(len(shift), -1)
    at = on_grid.argmin(axis=1)
    least = np.take_along_axis(on_grid, at[:, None], axis=1)[:, 0]
    share = GRID[at % len(GRID)]
    items = pairs[at // len(GRID)]
    stretch = _promising(feasible, cost, least, pairs)
    ends = _feasible_ends(documents, eps, stretch)
    ended = _stretch_cost(documents, stretch, ends)
    # Written from worst to best and from last to first: the best remains, the first among equals.
    order = np.lexsort((-np.arange(len(ends)), -ended, stretch.document))
    order = order[ended[order] < least[stretch.document[order]]]
    winner = stretch.document[order]
    items[winner] = np.stack([stretch.one, stretch.other], axis=-1)[order]
    share[winner] = ends[order]
    return scatter(items, np.stack([1 - share, share], axis=-1), length)


def _promising(feasible: Flags, cost: Floats, least: Floats, pairs: Indices) -> _Stretch:
    """The grid cells that cross the bound and whose better end beats the best grid point."""
    crossing = feasible[..., 1:] != feasible[..., :-1]
    reach = np.minimum(cost[..., 1:], cost[..., :-1])
    document, pair, cell = np.nonzero(crossing & (reach < least[:, None, None]))
    one, other = pairs[pair].T
    return _Stretch(document, one, other, GRID[cell], GRID[cell + 1])


def _feasible_ends(documents: ConstrainedDocuments, eps: Floats, stretch: _Stretch) -> Floats:
    """The feasible side of the crossing in each stretch."""
    start = documents.values[stretch.document, stretch.one]
    step = documents.values[stretch.document, stretch.other] - start
    original = documents.original[stretch.document]
    bound = eps[stretch.document] + TOLERANCE / 2  # rounding elsewhere must not undo it

    def is_feasible(share: Floats) -> Flags:
        return prediction_shift(start + share[:, None] * step, original) <= bound

    forward = is_feasible(stretch.low)
    inside = np.where(forward, stretch.low, stretch.high)
    outside = np.where(forward, stretch.high, stretch.low)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        feasible = is_feasible(middle)
        inside, outside = np.where(feasible, middle, inside), np.where(feasible, outside, middle)
    return inside


def _stretch_cost(documents: ConstrainedDocuments, stretch: _Stretch, share: Floats) -> Floats:
    one = documents.weights[stretch.document, stretch.one]
    other = documents.weights[stretch.document, stretch.other]
    return overlap(1 - share, one) + overlap(share, other)
