"""How few items can carry the very same output, and which?

All weights with one output form a polytope. Along any line the divergence is convex, so one of the
line's two ends is at least as far from the original. Walking to such ends empties one item after
another until at most C carry everything (Carathéodory); from there single items are swapped in as
the simplex method does, while that helps.
"""

import numpy as np

from assay.exact.documents import Documents
from assay.exact.frontier import Flags, Floats, Indices
from assay.exact.overlap import overlap

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


def swapped(proposals: Floats, documents: Documents) -> Floats:
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


def _best_swap(held: Floats, documents: Documents) -> tuple[Floats, Floats]:
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


def basis_table(documents: Documents, basis: Indices) -> Floats:
    """The constraints of the basis (N, C, C); padding has none of its own and carries nothing."""
    chosen = documents.items(basis)
    return constraints(chosen.values) * chosen.mask[..., None]


def _replacements(documents: Documents, basis: Indices) -> tuple[Floats, Flags]:
    """What the basis must give (N, T, C) for a unit of each item, and where it can at all."""
    columns = constraints(documents.values)
    square = basis_table(documents, basis)
    change = -columns @ np.linalg.pinv(square)
    kept = np.abs(change @ square + columns).max(axis=-1) <= RESIDUAL
    return change, kept
