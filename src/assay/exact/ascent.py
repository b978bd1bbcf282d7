"""How few items can carry the very same output, and which?

All weights with one output form a polytope. Along any line the divergence is convex, so one of the
line's two ends is at least as far from the original. Walking to such ends empties one item after
another until at most C carry everything (Carathéodory); from there single items are swapped in as
the simplex method does, while that helps.

Can the items that carry the weights carry them to a corner of the bound instead?

The ball TVD <= eps has a corner for each two classes: one takes from the other as much as it may.
C items that carry the weights reach a given output in one way only; where that would need a
negative weight, they go as far towards it as they can.

Can feasible weights move further by small changes?

One change shifts weight from a carrying item to another as far as the prediction allows; along
such a shift the divergence is convex, so a shift that would not help if made in full never helps.
Between shifts the weights are gathered on few items again (see `fibre`), and those try the corners
of the bound.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.constraints import ConstrainedDocuments, moved
from assay.exact.numerics import TOLERANCE, Flags, Floats, Indices, overlap

LEAST_GAIN = 1e-9
PIVOTS = 40
RESIDUAL = 1e-9  # a swap must keep the output to this
FLAT = 1e-12  # a direction's component that counts as none


def gathered(proposals: Floats, weights: Floats, values: Floats) -> Floats:
    """Weights (N, T) with the same output on at most C items, no nearer to the original."""
    size = values.shape[-1]
    order = np.argsort(-proposals, axis=1, kind="stable")
    steps = int((proposals > 0).sum(axis=1).max(initial=0))
    result = proposals.copy()
    slots = order[:, : size + 1].copy()
    for step in range(size, steps):
        slots[:, -1] = order[:, step]
        emptied = _to_an_end(result, weights, values, slots)
        # The last slot's item moves to the emptied one, so that the last is free for the next.
        slots[np.arange(len(slots)), emptied] = order[:, step]
    return result


def _to_an_end(result: Floats, weights: Floats, values: Floats, slots: Indices) -> Indices:
    """Walk within the slots until one is empty; says which. Changes `result` in place."""
    rows = np.arange(len(result))[:, None]
    held, original = result[rows, slots], weights[rows, slots]
    direction = _null_direction(constraints(values[rows, slots]))
    forward, backward = (held + reach(held, d)[:, None] * d for d in (direction, -direction))
    costs = [overlap(np.maximum(end, 0), original).sum(axis=-1) for end in (forward, backward)]
    ended = np.where((costs[0] <= costs[1])[:, None], forward, backward)
    idle = held[:, -1] == 0
    ended = np.where(idle[:, None], held, ended)
    emptied: Indices = np.where(idle, slots.shape[1] - 1, ended.argmin(axis=1))
    ended[rows[:, 0], emptied] = 0
    result[rows, slots] = np.maximum(ended, 0)
    return emptied


def constraints(values: Floats) -> Floats:
    """(N, n, C) logits to (N, n, C): the sum of weights, and all logit differences."""
    ones = np.ones((*values.shape[:-1], 1))
    return np.concatenate([ones, values[..., 1:] - values[..., :1]], axis=-1)


def _null_direction(table: Floats) -> Floats:
    """A change of C + 1 weights that moves neither their sum nor the output."""
    directions: Floats = np.linalg.qr(table, mode="complete").Q[..., -1]
    return directions


def reach(held: Floats, direction: Floats, never: float = 0.0) -> Floats:
    """How far along the last axis until the first weight is empty; `never` if none ever is."""
    falling = direction < -FLAT
    ratio = np.where(falling, held / np.where(falling, -direction, 1.0), np.inf)
    first = ratio.min(axis=-1)
    return np.where(np.isfinite(first), first, never)


def swapped(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """Swap one carrying item for another while that moves further and keeps the output."""
    result = proposals.copy()
    if result.shape[1] <= documents.values.shape[-1]:
        return result
    active = np.arange(len(result))
    for _ in range(PIVOTS):
        better, gain = _best_swap(result[active], documents.rows(active))
        active, better = active[gain > LEAST_GAIN], better[gain > LEAST_GAIN]
        result[active] = better
        if not len(active):
            break
    return result


def _best_swap(held: Floats, documents: ConstrainedDocuments) -> tuple[Floats, Floats]:
    """The best single item to bring in, for each document: the weights then, and the gain."""
    weights = documents.weights
    rows = np.arange(len(held))
    basis = np.argsort(-held, axis=1, kind="stable")[:, : documents.values.shape[-1]]
    change, kept = _replacements(documents, basis)
    old, original = np.take_along_axis(held, basis, 1), np.take_along_axis(weights, basis, 1)
    step = reach(old[:, None], change)
    new = np.maximum(old[:, None] + step[..., None] * change, 0)  # (N, T, C)
    cost = overlap(new, original[:, None]).sum(axis=-1)
    cost += overlap(held + step, weights) - overlap(held, weights)
    usable = kept & documents.mask
    np.put_along_axis(usable, basis, False, axis=1)
    cost = np.where(usable, cost, np.inf)
    item = cost.argmin(axis=1)
    moved = held.copy()
    np.put_along_axis(moved, basis, new[rows, item], axis=1)
    moved[rows, item] += step[rows, item]
    return moved, overlap(old, original).sum(axis=-1) - cost[rows, item]


def basis_table(documents: ConstrainedDocuments, basis: Indices) -> Floats:
    """The constraints of the basis (N, C, C); padding has none of its own and carries nothing."""
    chosen = documents.items(basis)
    return constraints(chosen.values) * chosen.mask[..., None]


def _replacements(documents: ConstrainedDocuments, basis: Indices) -> tuple[Floats, Flags]:
    """What the basis must give (N, T, C) for a unit of each item, and where it can at all."""
    columns = constraints(documents.values)
    square = basis_table(documents, basis)
    change = -columns @ np.linalg.pinv(square)
    kept = np.abs(change @ square + columns).max(axis=-1) <= RESIDUAL
    return change, kept


LARGEST_LOSS = 0.95  # of a class's probability: a class that lost all would need infinite logits


def cornered(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """For documents with one bound each (N, T): at the best corner, or where they were."""
    size = documents.values.shape[-1]
    if proposals.shape[1] < size:
        return proposals
    basis = np.argsort(-proposals, axis=1, kind="stable")[:, :size]
    old = np.take_along_axis(proposals, basis, axis=1)
    original = np.take_along_axis(documents.weights, basis, axis=1)
    square = basis_table(documents, basis)
    here = old[:, None] @ square
    wanted = constraints(np.log(_corner_probabilities(documents))) - here  # (N, corners, C)
    change = wanted @ np.linalg.pinv(square)
    step = np.minimum(reach(old[:, None], change, never=1.0), 1.0)[..., None]
    new = np.maximum(old[:, None] + step * change, 0)
    output = here + step * wanted
    cost = overlap(new, original[:, None]).sum(axis=-1)
    missed = np.abs(new @ square - output).max(axis=-1) > RESIDUAL
    output[..., 0] = 0  # as logits: the differences to the first class
    outside = moved(output, documents.original[:, None]) > documents.eps + TOLERANCE / 2
    cost[missed | outside] = np.inf
    best = cost.argmin(axis=1)
    rows = np.arange(len(best))
    gains = cost[rows, best] < overlap(old, original).sum(axis=-1) - LEAST_GAIN
    result = proposals.copy()
    np.put_along_axis(result, basis, np.where(gains[:, None], new[rows, best], old), axis=1)
    return result


def _corner_probabilities(documents: ConstrainedDocuments) -> Floats:
    """(N, corners, C): every ordered pair of classes."""
    size = documents.values.shape[-1]
    taker, giver = np.nonzero(~np.eye(size, dtype=np.bool_))
    original = documents.original
    amount = np.minimum(documents.eps, LARGEST_LOSS * original[:, giver])
    corner = np.repeat(original[:, None], len(taker), axis=1)
    every = np.arange(len(taker))
    corner[:, every, taker] += amount
    corner[:, every, giver] -= amount
    return corner


ROUNDS = 4
HALVINGS = 30


@dataclass(frozen=True)
class _Shifts:
    """Flat: in this document, from one item to another."""

    document: Indices
    giver: Indices
    taker: Indices

    def only(self, which: Flags) -> "_Shifts":
        return _Shifts(self.document[which], self.giver[which], self.taker[which])


def climb(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """From feasible weights (N, T) to better ones, for documents with one bound each."""
    result = proposals
    for _ in range(ROUNDS):
        result = gathered(result, documents.weights, documents.values)
        result = swapped(result, documents)
        result = cornered(result, documents)
        result = _shifted(result, documents)
    return result


def _shifted(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """The best single shift of each document, if one helps."""
    shifts = _promising(proposals, documents)
    amount = _feasible_amount(proposals, documents, shifts)
    gain = -_added_overlap(proposals, documents.weights, shifts, amount)
    order = np.lexsort((-np.arange(len(gain)), gain, shifts.document))
    order = order[gain[order] > LEAST_GAIN]
    best = np.full(len(proposals), -1)
    best[shifts.document[order]] = order  # written from worst to best: the best stays
    chosen = best[best >= 0]
    document = shifts.document[chosen]
    result = proposals.copy()
    result[document, shifts.giver[chosen]] -= amount[chosen]
    result[document, shifts.taker[chosen]] += amount[chosen]
    return result


def _promising(proposals: Floats, documents: ConstrainedDocuments) -> _Shifts:
    """Shifts that would help if the giver gave all it has."""
    carriers = documents.values.shape[-1] + 1
    givers = np.argsort(-proposals, axis=1, kind="stable")[:, :carriers]
    held = np.take_along_axis(proposals, givers, axis=1)
    possible = (held > 0)[:, :, None] & documents.mask[:, None]
    np.put_along_axis(possible, givers[..., None], False, axis=2)
    document, slot, taker = np.nonzero(possible)
    shifts = _Shifts(document, givers[document, slot], taker)
    added = _added_overlap(proposals, documents.weights, shifts, held[document, slot])
    return shifts.only(added < -LEAST_GAIN)


def _added_overlap(proposals: Floats, weights: Floats, shifts: _Shifts, amount: Floats) -> Floats:
    change = np.zeros(len(amount))
    for item, sign in ((shifts.giver, -1), (shifts.taker, 1)):
        held, original = proposals[shifts.document, item], weights[shifts.document, item]
        change += overlap(np.maximum(held + sign * amount, 0), original) - overlap(held, original)
    return change


def _feasible_amount(proposals: Floats, documents: ConstrainedDocuments, shifts: _Shifts) -> Floats:
    """How much can be shifted before the prediction leaves the bound."""
    values, document = documents.values, shifts.document
    start = (proposals[..., None] * values).sum(axis=1)[document]
    step = values[document, shifts.taker] - values[document, shifts.giver]
    target, bound = documents.original[document], documents.eps[document, 0] + TOLERANCE / 2

    def is_feasible(amount: Floats) -> Flags:
        within: Flags = moved(start + amount[:, None] * step, target) <= bound
        return within

    outside = proposals[document, shifts.giver]
    inside = np.where(is_feasible(outside), outside, 0.0)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        there = is_feasible(middle)
        inside, outside = np.where(there, middle, inside), np.where(there, outside, middle)
    return inside
