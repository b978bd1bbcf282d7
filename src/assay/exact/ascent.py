"""Can feasible weights move further by small changes?

One change shifts weight from a carrying item to another as far as the prediction allows; along
such a shift the divergence is convex, so a shift that would not help if made in full never helps.
Between shifts the weights are gathered on few items again (see `fibre`), and those try the corners
of the bound.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.ball import moved
from assay.exact.corners import cornered
from assay.exact.documents import Documents
from assay.exact.fibre import LEAST_GAIN, gathered, swapped
from assay.exact.frontier import TOLERANCE, Flags, Floats, Indices
from assay.exact.overlap import overlap

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


def climb(proposals: Floats, documents: Documents) -> Floats:
    """From feasible weights (N, T) to better ones, for documents with one bound each."""
    result = proposals
    for _ in range(ROUNDS):
        result = gathered(result, documents.weights, documents.values)
        result = swapped(result, documents)
        result = cornered(result, documents)
        result = _shifted(result, documents)
    return result


def _shifted(proposals: Floats, documents: Documents) -> Floats:
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


def _promising(proposals: Floats, documents: Documents) -> _Shifts:
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


def _feasible_amount(proposals: Floats, documents: Documents, shifts: _Shifts) -> Floats:
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
