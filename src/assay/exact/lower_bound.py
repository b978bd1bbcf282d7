"""Which proposed weights are feasible, and which is the best so far?

Which mix of two items moves furthest while a several-class prediction stays within eps?

Along the segment between two items the divergence is convex, so the best feasible mix is an end of
a feasible stretch. Stretches are found on a grid and their ends by halving; a stretch that could
not beat the best grid point is left alone.

Which weights, far from the original, certainly keep a several-class prediction within eps?

Single items; pairs of items moved onto the bound; for three classes also triples that hit points of
its surface; then ascent from the best of these and from the original gathered on few items. Each
proposal is scored whole before it counts, so whatever is reported is feasible.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.ascent import climb
from assay.exact.constraints import ConstrainedDocuments, moved, surface, weighted_logits
from assay.exact.numerics import TOLERANCE, Flags, Floats, Indices, dense_jsd, overlap
from assay.exact.slab import Mixes
from assay.exact.upper_bound import PLANAR_CLASSES, cheapest_triples, plane


@dataclass(frozen=True)
class Best:
    """Per document and eps the best feasible weights met so far."""

    jsd: Floats  # (B, E)
    tvd: Floats  # (B, E)
    weights: Floats  # (B, E, T)


def stay(documents: ConstrainedDocuments) -> Best:
    """Where everyone begins: the original weights are feasible under any bound."""
    shape = documents.eps.shape
    kept = np.repeat(documents.weights[:, None], shape[1], axis=1)
    return Best(np.zeros(shape), np.zeros(shape), kept)


def consider(documents: ConstrainedDocuments, best: Best, proposed: Floats) -> Best:
    """The better of the two, judged by scoring the proposed weights (B, E, T) themselves."""
    tvd = moved(weighted_logits(proposed, documents.values), documents.original[:, None])
    jsd = dense_jsd(proposed, documents.weights[:, None])
    better = (tvd <= documents.eps + TOLERANCE) & (jsd > best.jsd)
    better &= _are_weights(proposed, documents)
    return Best(
        np.where(better, jsd, best.jsd),
        np.where(better, tvd, best.tvd),
        np.where(better[..., None], proposed, best.weights),
    )


def _are_weights(proposed: Floats, documents: ConstrainedDocuments) -> Flags:
    """They sum to one, are not negative and never lie on padding."""
    sums = np.abs(proposed.sum(axis=-1) - 1) <= TOLERANCE
    allowed = np.where(documents.mask[:, None], proposed >= 0, proposed == 0)
    both: Flags = sums & np.logical_and.reduce(allowed, axis=-1)
    return both


def placed(items: Indices, shares: Floats, length: int) -> Floats:
    """Weights over all items from (..., n) items and their shares; no item is named twice."""
    weights = np.zeros((*items.shape[:-1], length))
    np.put_along_axis(weights, items, shares, axis=-1)
    return weights


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


def best_pairs(documents: ConstrainedDocuments) -> Floats:
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


def _within(documents: ConstrainedDocuments, shift: Floats, cost: Floats, eps: Floats) -> Floats:
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


def _ends(documents: ConstrainedDocuments, eps: Floats, stretch: _Stretch) -> Floats:
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


def _stretch_cost(documents: ConstrainedDocuments, stretch: _Stretch, share: Floats) -> Floats:
    one = documents.weights[stretch.document, stretch.one]
    other = documents.weights[stretch.document, stretch.other]
    return overlap(1 - share, one) + overlap(share, other)


POOL = 20  # items that pairs and triples are made of; of longer documents the most promising


def feasible_best(documents: ConstrainedDocuments, optima: list[Mixes]) -> Best:
    """The best feasible weights found; the slabs' optima hint at good items."""
    best = consider(documents, stay(documents), _singles(documents))
    pool = _pool(documents, optima)
    few, length = documents.items(pool), documents.weights.shape[1]
    best = consider(documents, best, _in_full(best_pairs(few), pool, length))
    if documents.values.shape[-1] == PLANAR_CLASSES:
        triples = _triples(few)
        for point in range(triples.shape[2]):
            best = consider(documents, best, _in_full(triples[:, :, point], pool, length))
    kept = np.repeat(documents.weights[:, None], documents.eps.shape[1], axis=1)
    for start in (best.weights, kept):
        best = consider(documents, best, _ascended(documents, start))
    return best


def _singles(documents: ConstrainedDocuments) -> Floats:
    """The lightest item that keeps the prediction alone: overlap grows with the weight."""
    shift = moved(documents.values, documents.original[:, None])[:, None]
    inside = documents.mask[:, None] & (shift <= documents.eps[..., None] + TOLERANCE)
    lightest = np.where(inside, documents.weights[:, None], np.inf).argmin(axis=-1)[..., None]
    return placed(lightest, np.ones(lightest.shape), documents.weights.shape[1])


def _pool(documents: ConstrainedDocuments, optima: list[Mixes]) -> Indices:
    """The items (B, P) to combine: those that solve a slab, then the lightest, then padding."""
    rank = np.where(documents.mask, documents.weights, np.inf)
    for mixes in optima:
        rows, bounds = np.nonzero(np.isfinite(mixes.overlap))  # a slab without a mix names nobody
        for items in (mixes.first, mixes.second):
            rank[rows, items[rows, bounds]] = -1.0
    chosen = np.argsort(rank, axis=1, kind="stable")[:, :POOL]
    return np.sort(chosen, axis=1)


def _in_full(proposed: Floats, pool: Indices, length: int) -> Floats:
    """Weights over the pool (B, E, P) as weights over all items."""
    return placed(np.broadcast_to(pool[:, None], proposed.shape), proposed, length)


def _triples(few: ConstrainedDocuments) -> Floats:
    """For each point of the ball's surface the best triple that hits it: (B, E, points, P)."""
    logits = surface(few.original, few.eps)
    targets = plane(logits)
    flat = targets.reshape(len(targets), -1, 2)
    found = cheapest_triples(few.weights, plane(few.values), few.mask, flat)
    weights = placed(found.items, found.shares, few.weights.shape[1])
    return weights.reshape(*targets.shape[:3], -1)


def _ascended(documents: ConstrainedDocuments, start: Floats) -> Floats:
    """Every document under every eps climbs on its own."""
    flat = start.reshape(-1, start.shape[-1])
    return climb(flat, documents.under_each_bound()).reshape(start.shape)
