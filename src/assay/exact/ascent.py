"""Ascent from feasible weights to feasible weights further from the original.

Terms: all weights with the same logits form a polytope, the *fiber* of that output. A *carrier* is
an item with weight. The *ball* is the set of predictions with TVD <= eps; a *corner* of it is a
prediction in which one class takes from another as much as it may.

Each round of `climb` applies four steps that never reduce the divergence:

1. `gather`: along any line in the fiber the divergence is convex, so one end of the line is at
   least as far from the original. Walking to such ends empties one item after another, until at
   most C items carry all weight (Carathéodory).
2. `swap_items`: items are swapped in one by one, as in the simplex method, while that helps.
3. `move_to_corner`: C carriers reach a given output in one way only. Where that would need a
   negative weight, they go as far towards the corner as they can.
4. `_shift_weight`: weight is shifted from a carrier to another item as far as the bound allows.
   Along such a shift the divergence is convex, so a shift that does not help when made in full
   never helps.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.constraints import ConstrainedDocuments, prediction_shift
from assay.exact.numerics import SMALLEST, TOLERANCE, Flags, Floats, Indices, overlap

LEAST_GAIN = 1e-9  # of divergence: a smaller improvement is not made
PIVOTS = 40  # swaps at most
RESIDUAL = 1e-9  # largest change of the output by a swap
FLAT = 1e-12  # a component of a direction that counts as zero
LARGEST_LOSS = 0.95  # of the probability of a class: probability zero would need infinite logits
ROUNDS = 4
HALVINGS = 30  # of a shift, to find the largest feasible one
HALVINGS_BETWEEN = 4  # after so many, shifts that cannot become the best are given up


@dataclass(frozen=True)
class _Shifts:
    """Shifts of weight within documents from one item to another, flat."""

    document: Indices
    giver: Indices
    taker: Indices

    def only(self, which: Flags | Indices) -> "_Shifts":
        """The selected shifts."""
        return _Shifts(self.document[which], self.giver[which], self.taker[which])


def climb(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """From feasible weights (N, T) to better ones, for documents with one bound each."""
    result = proposals.copy()
    moving = np.arange(len(result))
    for _ in range(ROUNDS):
        before, own = result[moving], documents.rows(moving)
        after = gather(before, own.weights, own.values)
        after = swap_items(after, own)
        after = move_to_corner(after, own)
        after = _shift_weight(after, own)
        result[moving] = after
        moving = moving[(after != before).any(axis=1)]
        if not len(moving):
            break
    return result


def gather(proposals: Floats, weights: Floats, values: Floats) -> Floats:
    """Weights (N, T) with the same output on at most C items, no nearer to the original."""
    size = values.shape[-1]
    order = np.argsort(-proposals, axis=1, kind="stable")
    steps = int((proposals > 0).sum(axis=1).max(initial=0))
    result = proposals.copy()
    slots = order[:, : size + 1].copy()
    for step in range(size, steps):
        slots[:, -1] = order[:, step]
        emptied = _walk_to_end(result, weights, values, slots)
        # The item of the last slot moves to the emptied one, so that the last slot is free again.
        slots[np.arange(len(slots)), emptied] = order[:, step]
    return result


def _walk_to_end(result: Floats, weights: Floats, values: Floats, slots: Indices) -> Indices:
    """Walk within the slots until one is empty and return it. Changes `result` in place."""
    rows = np.arange(len(result))[:, None]
    current, original = result[rows, slots], weights[rows, slots]
    direction = _null_direction(constraint_rows(values[rows, slots]))
    forward, backward = (
        current + max_step(current, d)[:, None] * d for d in (direction, -direction)
    )
    costs = [
        overlap(np.maximum(candidate, 0), original).sum(axis=-1)
        for candidate in (forward, backward)
    ]
    end = np.where((costs[0] <= costs[1])[:, None], forward, backward)
    idle = current[:, -1] == 0
    end = np.where(idle[:, None], current, end)
    emptied: Indices = np.where(idle, slots.shape[1] - 1, end.argmin(axis=1))
    end[rows[:, 0], emptied] = 0
    result[rows, slots] = np.maximum(end, 0)
    return emptied


def _null_direction(table: Floats) -> Floats:
    """A change of C + 1 weights that changes neither their sum nor the output."""
    directions: Floats = np.linalg.qr(table, mode="complete").Q[..., -1]
    return directions


def swap_items(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """Swap one carrier for another item while that increases the divergence."""
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


def _best_swap(current: Floats, documents: ConstrainedDocuments) -> tuple[Floats, Floats]:
    """The weights after the best single swap of each document, and the gain."""
    weights = documents.weights
    rows = np.arange(len(current))
    basis = np.argsort(-current, axis=1, kind="stable")[:, : documents.values.shape[-1]]
    change, kept = _replacements(documents, basis)
    old, original = np.take_along_axis(current, basis, 1), np.take_along_axis(weights, basis, 1)
    step = max_step(old[:, None], change)
    new = np.maximum(old[:, None] + step[..., None] * change, 0)  # (N, T, C)
    cost = overlap(new, original[:, None]).sum(axis=-1)
    cost += overlap(current + step, weights) - overlap(current, weights)
    usable = kept & documents.mask
    np.put_along_axis(usable, basis, False, axis=1)
    cost = np.where(usable, cost, np.inf)
    item = cost.argmin(axis=1)
    result = current.copy()
    np.put_along_axis(result, basis, new[rows, item], axis=1)
    result[rows, item] += step[rows, item]
    return result, overlap(old, original).sum(axis=-1) - cost[rows, item]


def _replacements(documents: ConstrainedDocuments, basis: Indices) -> tuple[Floats, Flags]:
    """The change of the basis (N, T, C) per unit of each item, and where it keeps the output."""
    columns = constraint_rows(documents.values)
    square = basis_constraints(documents, basis)
    change = -columns @ np.linalg.pinv(square)
    kept = np.abs(change @ square + columns).max(axis=-1) <= RESIDUAL
    return change, kept


def move_to_corner(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """Weights (N, T) at the best corner of documents with one bound each, or unchanged."""
    size = documents.values.shape[-1]
    if proposals.shape[1] < size:
        return proposals
    basis = np.argsort(-proposals, axis=1, kind="stable")[:, :size]
    old = np.take_along_axis(proposals, basis, axis=1)
    original = np.take_along_axis(documents.weights, basis, axis=1)
    square = basis_constraints(documents, basis)
    current_output = old[:, None] @ square
    needed = constraint_rows(_corner_logits(documents)) - current_output  # (N, corners, C)
    change = needed @ np.linalg.pinv(square)
    step = np.minimum(max_step(old[:, None], change, never=1.0), 1.0)[..., None]
    new = np.maximum(old[:, None] + step * change, 0)
    output = current_output + step * needed
    cost = overlap(new, original[:, None]).sum(axis=-1)
    missed = np.abs(new @ square - output).max(axis=-1) > RESIDUAL
    output[..., 0] = 0  # as logits: differences to the first class
    outside = prediction_shift(output, documents.original[:, None]) > documents.eps + TOLERANCE / 2
    cost[missed | outside] = np.inf
    best = cost.argmin(axis=1)
    rows = np.arange(len(best))
    gains = cost[rows, best] < overlap(old, original).sum(axis=-1) - LEAST_GAIN
    result = proposals.copy()
    np.put_along_axis(result, basis, np.where(gains[:, None], new[rows, best], old), axis=1)
    return result


def _corner_logits(documents: ConstrainedDocuments) -> Floats:
    """The logits of the corners (N, corners, C), one per ordered pair of classes."""
    size = documents.values.shape[-1]
    taker, giver = np.nonzero(~np.eye(size, dtype=np.bool_))
    original = documents.original
    amount = np.minimum(documents.eps, LARGEST_LOSS * original[:, giver])
    corner = np.repeat(original[:, None], len(taker), axis=1)
    every = np.arange(len(taker))
    corner[:, every, taker] += amount
    corner[:, every, giver] -= amount
    # A class without any probability would have an infinite logit and make the cost NaN, which
    # argmin prefers to every real cost. The smallest positive number stands for zero.
    logits: Floats = np.log(np.maximum(corner, SMALLEST))
    return logits


def _shift_weight(proposals: Floats, documents: ConstrainedDocuments) -> Floats:
    """The best single shift of each document, if one helps."""
    shifts = _promising(proposals, documents)
    amount = _feasible_amount(proposals, documents, shifts)
    gain = -_added_overlap(proposals, documents.weights, shifts, amount)
    order = np.lexsort((-np.arange(len(gain)), gain, shifts.document))
    order = order[gain[order] > LEAST_GAIN]
    best = np.full(len(proposals), -1)
    best[shifts.document[order]] = order  # written from worst to best, so the best remains
    chosen = best[best >= 0]
    document = shifts.document[chosen]
    result = proposals.copy()
    result[document, shifts.giver[chosen]] -= amount[chosen]
    result[document, shifts.taker[chosen]] += amount[chosen]
    return result


def _promising(proposals: Floats, documents: ConstrainedDocuments) -> _Shifts:
    """The shifts that would help if the giver gave all its weight."""
    carriers = documents.values.shape[-1] + 1
    givers = np.argsort(-proposals, axis=1, kind="stable")[:, :carriers]
    current = np.take_along_axis(proposals, givers, axis=1)
    possible = (current > 0)[:, :, None] & documents.mask[:, None]
    np.put_along_axis(possible, givers[..., None], False, axis=2)
    document, slot, taker = np.nonzero(possible)
    shifts = _Shifts(document, givers[document, slot], taker)
    added = _added_overlap(proposals, documents.weights, shifts, current[document, slot])
    return shifts.only(added < -LEAST_GAIN)


def _added_overlap(proposals: Floats, weights: Floats, shifts: _Shifts, amount: Floats) -> Floats:
    """The change of overlap with the original weights by each shift."""
    change = np.zeros(len(amount))
    for item, sign in ((shifts.giver, -1), (shifts.taker, 1)):
        current, original = proposals[shifts.document, item], weights[shifts.document, item]
        change += overlap(np.maximum(current + sign * amount, 0), original) - overlap(
            current, original
        )
    return change


def _feasible_amount(proposals: Floats, documents: ConstrainedDocuments, shifts: _Shifts) -> Floats:
    """The amount that can be shifted before the prediction leaves the bound.

    The gain of a shift is convex in the amount, so between two amounts it is at most that of the
    better one. Shifts that cannot become the best of their document are given up on the way.
    """
    outside = proposals[shifts.document, shifts.giver]
    logits = (proposals[..., None] * documents.values).sum(axis=1)
    inside = np.where(_feasible_shifts(logits, documents, shifts, outside), outside, 0.0)
    alive = np.flatnonzero(inside < outside)
    for halving in range(HALVINGS):
        own = shifts.only(alive)
        middle = (inside[alive] + outside[alive]) / 2
        feasible = _feasible_shifts(logits, documents, own, middle)
        inside[alive] = np.where(feasible, middle, inside[alive])
        outside[alive] = np.where(feasible, outside[alive], middle)
        if halving % HALVINGS_BETWEEN == 0:
            gains = [
                -_added_overlap(proposals, documents.weights, shifts, amount)
                for amount in (inside, outside)
            ]
            best = np.zeros(len(proposals))
            np.maximum.at(best, shifts.document, gains[0])
            alive = alive[np.maximum(*gains)[alive] >= best[shifts.document[alive]]]
    return inside


def _feasible_shifts(
    logits: Floats, documents: ConstrainedDocuments, shifts: _Shifts, amount: Floats
) -> Flags:
    """True where shifting the amount keeps the prediction within the bound."""
    values, document = documents.values, shifts.document
    step = values[document, shifts.taker] - values[document, shifts.giver]
    moved = logits[document] + amount[:, None] * step
    shift = prediction_shift(moved, documents.original[document])
    within: Flags = shift <= documents.eps[document, 0] + TOLERANCE / 2
    return within


def constraint_rows(values: Floats) -> Floats:
    """From logits (N, n, C), the sum of weights and all logit differences, (N, n, C)."""
    ones = np.ones((*values.shape[:-1], 1))
    return np.concatenate([ones, values[..., 1:] - values[..., :1]], axis=-1)


def basis_constraints(documents: ConstrainedDocuments, basis: Indices) -> Floats:
    """The constraints of the basis (N, C, C); zero for padding, which carries nothing."""
    chosen = documents.items(basis)
    return constraint_rows(chosen.values) * chosen.mask[..., None]


def max_step(current: Floats, direction: Floats, never: float = 0.0) -> Floats:
    """The step along the last axis until the first weight is empty; `never` if none ever is."""
    falling = direction < -FLAT
    ratio = np.where(falling, current / np.where(falling, -direction, 1.0), np.inf)
    first = ratio.min(axis=-1)
    return np.where(np.isfinite(first), first, never)
