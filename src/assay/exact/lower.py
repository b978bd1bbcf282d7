"""Which weights, far from the original, certainly keep a several-class prediction within eps?

Single items; pairs of items moved onto the bound; for three classes also triples that hit points of
its surface; then ascent from the best of these and from the original gathered on few items. Each
proposal is scored whole before it counts, so whatever is reported is feasible.
"""

import numpy as np

from assay.exact.ascent import climb
from assay.exact.ball import moved, surface
from assay.exact.documents import Documents
from assay.exact.frontier import TOLERANCE, Floats, Indices
from assay.exact.pairs import Mixes
from assay.exact.planar import PLANAR_CLASSES, cheapest_triples, plane
from assay.exact.proposals import Best, consider, placed, stay
from assay.exact.segments import best_pairs

POOL = 20  # items that pairs and triples are made of; of longer documents the most promising


def feasible_best(documents: Documents, optima: list[Mixes]) -> Best:
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


def _singles(documents: Documents) -> Floats:
    """The lightest item that keeps the prediction alone: overlap grows with the weight."""
    shift = moved(documents.values, documents.original[:, None])[:, None]
    inside = documents.mask[:, None] & (shift <= documents.eps[..., None] + TOLERANCE)
    lightest = np.where(inside, documents.weights[:, None], np.inf).argmin(axis=-1)[..., None]
    return placed(lightest, np.ones(lightest.shape), documents.weights.shape[1])


def _pool(documents: Documents, optima: list[Mixes]) -> Indices:
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


def _triples(few: Documents) -> Floats:
    """For each point of the ball's surface the best triple that hits it: (B, E, points, P)."""
    logits = surface(few.original, few.eps)
    targets = plane(logits)
    flat = targets.reshape(len(targets), -1, 2)
    found = cheapest_triples(few.weights, plane(few.values), few.mask, flat)
    weights = placed(found.items, found.shares, few.weights.shape[1])
    return weights.reshape(*targets.shape[:3], -1)


def _ascended(documents: Documents, start: Floats) -> Floats:
    """Every document under every eps climbs on its own."""
    flat = start.reshape(-1, start.shape[-1])
    return climb(flat, documents.under_each_bound()).reshape(start.shape)
