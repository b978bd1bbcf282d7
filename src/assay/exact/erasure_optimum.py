"""Which is the smallest set of items whose erasure changes the decision? Exactly, of all 2^n.

A rest decides against class c if some class k overtakes it: with m_i = v_ic - v_ik the sum of m
over the rest is negative, or zero with k before c. To make that sum fall fastest, take away the
largest m first; no other set of the same size leaves less. So one sort per class and the least
count over classes are optimal. An empty rest is the bias's to decide. Among the classes that need
equally few items the set of least mass is reported; within a class, of items with equal m those of
less mass go first.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.erasure import AffineErasure, after, total
from assay.exact.erasure_flips import FEWEST, Flips, decided, item_counts, removal_order
from assay.exact.frontier import Flags, Floats, Indices

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SmallestSets(Flips):
    """Also which items they are: (B, T), empty where no set flips."""

    members: Flags


def smallest_flipping_sets(erasure: AffineErasure) -> SmallestSets:
    """Over all subsets of each document's items."""
    n, c = item_counts(erasure), decided(erasure.intact)
    orders = _largest_lead_first(erasure, c)
    counts = np.minimum(_class_counts(erasure, orders, c, n), _whole(erasure, c, n)[:, None])
    rank = np.argsort(orders, axis=1)
    # Where everything must go, every class's set is everything.
    members = (rank < np.where(counts == NEVER, 0, counts)[:, None]) & erasure.present[..., None]
    mass = (erasure.weights[..., None] * members).sum(1)
    best = np.lexsort((mass, counts), axis=1)[:, :1]
    count, least = (np.take_along_axis(table, best, axis=1)[:, 0] for table in (counts, mass))
    chosen = np.take_along_axis(members, best[:, None], axis=2)[..., 0]
    return _reported(erasure, count, least, chosen)


def _largest_lead_first(erasure: AffineErasure, c: Indices) -> Indices:
    """(B, T, C): per rival class the items by what they add to the lead of c."""
    light = removal_order(-erasure.weights, erasure.present)[..., None]
    lead = np.where(erasure.present[..., None], _leads(erasure, c), -np.inf)
    by_weight = np.take_along_axis(lead, light, axis=1)
    stable = np.argsort(-by_weight, axis=1, kind="stable")
    return np.take_along_axis(np.broadcast_to(light, stable.shape), stable, axis=1)


def _leads(erasure: AffineErasure, c: Indices) -> Floats:
    own = np.take_along_axis(erasure.votes, c[:, None, None], axis=2)
    ahead: Floats = own - erasure.votes
    return ahead


def _class_counts(erasure: AffineErasure, orders: Indices, c: Indices, n: Indices) -> Indices:
    """(B, C): how many items must go until the class overtakes c, with some left."""
    rest = after(np.take_along_axis(_leads(erasure, c), orders, axis=1))
    classes = np.arange(orders.shape[2])
    wins_ties = (classes < c[:, None])[:, None]
    overtaken = (rest < 0) | ((rest == 0) & wins_ties)
    some_left = np.arange(1, orders.shape[1] + 1) < n[:, None]
    overtaken &= some_left[..., None] & (classes != c[:, None])[:, None]
    return np.where(overtaken.any(1), overtaken.argmax(1) + 1, NEVER)


def _whole(erasure: AffineErasure, c: Indices, n: Indices) -> Indices:
    """(B,): all items, where the bias alone decides otherwise."""
    return np.where(decided(erasure.empty) != c, n, NEVER)


def _reported(erasure: AffineErasure, count: Indices, mass: Floats, members: Flags) -> SmallestSets:
    several, ever = item_counts(erasure) >= FEWEST, count != NEVER
    share = mass / np.maximum(total(erasure.weights), np.finfo(np.float64).tiny)
    return SmallestSets(
        np.where(ever & several, count.astype(np.float64), np.nan),
        np.where(ever & several, share, np.nan),
        np.where(several, (~ever).astype(np.float64), np.nan),
        members & several[:, None],
    )
