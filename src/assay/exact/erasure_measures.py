"""Which is the smallest set of items whose erasure changes the decision? Exactly, of all 2^n.

A rest decides against class c if some class k overtakes it: with m_i = v_ic - v_ik the sum of m
over the rest is negative, or zero with k before c. To make that sum fall fastest, take away the
largest m first; no other set of the same size leaves less. So one sort per class and the least
count over classes are optimal. An empty rest is the bias's to decide. Among the classes that need
equally few items the set of least mass is reported; within a class, of items with equal m those of
less mass go first.

How does the probability of the decided class fall as items are erased, and rise as they return?

DeYoung et al. 2020 call the fall with the first few items erased comprehensiveness, and the fall
with only those left sufficiency, both averaged over several sizes (AOPC). The areas under the whole
curves, by trapezoids over 0, 1, ..., n items, are known as deletion and insertion. NaN where a
document has fewer than two items.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.erasure import (
    FEWEST,
    AffineErasure,
    Erasure,
    Flips,
    after,
    decided,
    item_counts,
    removal_order,
    several,
    total,
)
from assay.exact.numerics import Flags, Floats, Indices

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SmallestSets(Flips):
    """Also which items they are: (B, T), empty where no set flips."""

    members: Flags


def smallest_flipping_sets(erasure: AffineErasure) -> SmallestSets:
    """Over all subsets of each document's items."""
    n, c = item_counts(erasure), decided(erasure.intact)
    # Items from light to heavy, so that a stable sort takes the lighter of equals first.
    light = removal_order(-erasure.weights, erasure.present)
    lead = np.take_along_axis(_leads(erasure, c), light[:, None], axis=2)
    there = np.take_along_axis(erasure.present, light, axis=1)[:, None]
    order = np.argsort(np.where(there, -lead, np.inf), axis=2, kind="stable")
    counts = _class_counts(np.take_along_axis(lead, order, axis=2), c, n)
    counts = np.minimum(counts, _whole(erasure, c, n)[:, None])
    weights = np.take_along_axis(erasure.weights, light, axis=1)[:, None]
    mass = np.cumsum(np.take_along_axis(weights, order, axis=2), axis=2)
    mass = np.take_along_axis(mass, np.minimum(counts, n[:, None])[..., None] - 1, axis=2)[..., 0]
    best = np.lexsort((mass, counts), axis=1)[:, :1]
    count = np.take_along_axis(counts, best, axis=1)[:, 0]
    least = np.take_along_axis(mass, best, axis=1)[:, 0]
    chosen = np.take_along_axis(order, best[..., None], axis=1)[:, 0]
    return _reported(erasure, count, least, np.take_along_axis(light, chosen, axis=1))


def _leads(erasure: AffineErasure, c: Indices) -> Floats:
    """(B, C, T): what each item adds to the lead of c over each class."""
    votes = np.ascontiguousarray(erasure.votes.transpose(0, 2, 1))
    ahead: Floats = np.take_along_axis(votes, c[:, None, None], axis=1) - votes
    return ahead


def _class_counts(lead: Floats, c: Indices, n: Indices) -> Indices:
    """(B, C): how many items, in the order of `lead`, must go until the class overtakes c."""
    rest = after(lead.reshape(-1, lead.shape[2])).reshape(lead.shape)
    classes = np.arange(lead.shape[1])
    wins_ties = (classes < c[:, None])[..., None]
    overtaken = (rest < 0) | ((rest == 0) & wins_ties)
    # With some left: an empty rest is not decided by sums.
    overtaken &= (np.arange(1, lead.shape[2] + 1) < n[:, None])[:, None]
    overtaken &= (classes != c[:, None])[..., None]
    return np.where(overtaken.any(2), overtaken.argmax(2) + 1, NEVER)


def _whole(erasure: AffineErasure, c: Indices, n: Indices) -> Indices:
    """(B,): all items, where the bias alone decides otherwise."""
    return np.where(decided(erasure.empty) != c, n, NEVER)


def _reported(erasure: AffineErasure, count: Indices, mass: Floats, order: Indices) -> SmallestSets:
    """`order` (B, T) begins with the items of the set."""
    asked, ever = item_counts(erasure) >= FEWEST, count != NEVER
    share = mass / np.maximum(total(erasure.weights), np.finfo(np.float64).tiny)
    members = np.zeros_like(erasure.present)
    gone = np.arange(order.shape[1]) < np.where(ever & asked, count, 0)[:, None]
    np.put_along_axis(members, order, gone, axis=1)
    return SmallestSets(
        np.where(ever & asked, count.astype(np.float64), np.nan),
        np.where(ever & asked, share, np.nan),
        np.where(asked, (~ever).astype(np.float64), np.nan),
        members,
    )


PERCENTS = (1, 5, 10, 20, 50)  # of a document's items, rounded up


@dataclass(frozen=True)
class Curves:
    """Per document, or per order and document, of the decided class's probability."""

    comprehensiveness: Floats
    sufficiency: Floats
    deletion_auc: Floats
    insertion_auc: Floats


def curves(erasure: Erasure, removed: Floats, kept: Floats) -> Curves:
    """From the logits (O * B, T, C) with the first items erased, and with only them left."""
    c, n = (several(part, removed) for part in (decided(erasure.intact), item_counts(erasure)))
    whole, nothing = (
        chance(several(logits, removed), c) for logits in (erasure.intact, erasure.empty)
    )
    out, back = (chance(logits, c[:, None]) for logits in (removed, kept))
    values = (
        whole - at_percents(out, n),
        whole - at_percents(back, n),
        area(whole, out, n),
        area(nothing, back, n),
    )
    return Curves(*(np.where(n >= FEWEST, column, np.nan) for column in values))


def chance(logits: Floats, c: Indices) -> Floats:
    """The probability of class c under the logits (..., C)."""
    own = np.take_along_axis(logits, c[..., None], axis=-1)
    with np.errstate(over="ignore"):  # a rival that is infinitely ahead leaves nothing
        odds: Floats = np.exp(logits - own).sum(-1)
    return 1 / odds


def at_percents(p: Floats, n: Indices) -> Floats:
    """The mean of p (B, T), after 1 to T items, at PERCENTS of the n items of each document."""
    items = -(np.outer(n, PERCENTS) // -100)
    mean: Floats = np.take_along_axis(p, np.maximum(items, 1) - 1, axis=1).mean(1)
    return mean


def area(start: Floats, p: Floats, n: Indices) -> Floats:
    """Under the curve through `start` (B,) at 0 and p (B, T) at 1 to n items, 0 to 1 wide."""
    inside = np.arange(p.shape[1]) < n[:, None]
    end = np.take_along_axis(p, np.maximum(n, 1)[:, None] - 1, axis=1)[:, 0]
    total: Floats = (p * inside).sum(1) + (start - end) / 2  # both ends count half
    return total / np.maximum(n, 1)
