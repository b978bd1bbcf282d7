"""A tighter upper end of the bracket: chords, narrower boxes and branching.

The divergence is largest where the overlap with the original weights is least (see `numerics`). The
overlap of an item is a concave function of its weight. Between two bounds on the weight it is
nowhere below its *chord*, the straight line between its ends. The least sum of chords over all
weights that keep the prediction is a linear program (see `linear_programs`) and bounds the overlap
from below. Three steps make this *relaxation* tight:

1. `tighten`: the least and the largest weight of an item that keep the prediction are two more
   linear programs. With as many classes as items they leave little room, and a chord over a narrow
   range is close to its function. This step matters most.
2. `split`: the range of the item whose chord is furthest below its function is cut in two. A
   *node* is one of the resulting boxes. The node of least overlap is split next, a fixed number of
   times, so that the result depends neither on time nor on other documents.
3. Nodes that cannot beat the best known weights are left alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from assay.exact.linear_programs import Programs, maximize
from assay.exact.numerics import Floats, Indices, ordered_sum, overlap

TIGHTENED = 16  # items whose range is narrowed, those with the worst chords first
SPLITS = 12  # of each document and eps
NARROW = 1e-6  # a narrower range is not split, and its chord is flat
SLACK = 1e-9  # on each bound, far above rounding
MARGIN = 0.1  # of a range, at least, on both sides of a cut
CLOSE = 1e-3  # of divergence: a node that promises less than this is not split


@dataclass(frozen=True)
class Relaxation:
    """The solved relaxation of N programs."""

    overlap: Floats  # (N,): no feasible weights have less
    weights: Floats  # (N, T): of the solution
    error: Floats  # (N, T): how far the chords are below the overlaps there


@dataclass
class Nodes:
    """The nodes (N, K) of N documents; unused ones have infinite overlap. Changed in place."""

    overlap: Floats  # (N, K)
    weights: Floats  # (N, K, T)
    error: Floats  # (N, K, T)
    low: Floats  # (N, K, T)
    high: Floats  # (N, K, T)

    def put(self, documents: Indices, slots: Indices, part: Relaxation, box: Programs) -> None:
        """Store one node for each of the documents."""
        self.overlap[documents, slots] = part.overlap
        self.weights[documents, slots] = part.weights
        self.error[documents, slots] = part.error
        self.low[documents, slots], self.high[documents, slots] = box.low, box.high

    def best_weights(self, original: Floats, known: Floats) -> Floats:
        """The weights (N, T) of least overlap among the nodes that may beat the known overlap."""
        met = ordered_sum(overlap(self.weights, original[:, None]))
        chosen = np.where(self.overlap < known[:, None], met, np.inf).argmin(axis=1)
        best: Floats = self.weights[np.arange(len(chosen)), chosen]
        return best

    def least_overlap(self) -> Floats:
        """The bound (N,) of each document."""
        least: Floats = self.overlap.min(axis=1)
        return least


def relax(program: Programs, original: Floats, start: Floats) -> Relaxation:
    """The least sum of chords, from weights (N, T) of the box to start with."""
    low, high = program.low, program.high
    at_low, at_high = overlap(low, original), overlap(high, original)
    wide = high - low > NARROW
    slope = np.where(wide, (at_high - at_low) / np.where(wide, high - low, 1.0), 0.0)
    base = np.where(wide, at_low - slope * low, np.minimum(at_low, at_high))
    found = maximize(program, -slope, start)
    error = overlap(found.weights, original) - slope * found.weights - base
    least = ordered_sum(base) - found.bound - SLACK
    return Relaxation(least, found.weights, np.where(wide, error, 0.0))


def tighten(program: Programs, original: Floats, items: Indices) -> Programs:
    """The programs with the ranges of these items (N, K) narrowed to what the prediction allows."""
    count, picks = items.shape
    rows = np.repeat(np.arange(count), 2 * picks)
    gain = np.zeros((count, picks, 2, original.shape[1]))
    gain[np.arange(count)[:, None], np.arange(picks), 0, items] = 1.0
    gain[:, :, 1] = -gain[:, :, 0]
    found = maximize(program.rows(rows), gain.reshape(len(rows), -1), original[rows])
    reach = found.bound.reshape(count, picks, 2) + SLACK
    low, high = program.low.copy(), program.high.copy()
    # The original weights keep the prediction, so a range that excludes them is due to rounding.
    own = np.take_along_axis(original, items, axis=1)
    most = np.minimum(np.take_along_axis(high, items, axis=1), np.maximum(reach[..., 0], own))
    least = np.maximum(np.take_along_axis(low, items, axis=1), np.minimum(-reach[..., 1], own))
    np.put_along_axis(high, items, most, axis=1)
    np.put_along_axis(low, items, least, axis=1)
    return replace(program, low=low, high=high)


def root(program: Programs, original: Floats) -> tuple[Programs, Nodes]:
    """The first node of each document, after tightening, with room for all splits."""
    first = relax(program, original, original)
    items = np.argsort(-first.error, axis=1, kind="stable")[:, :TIGHTENED]
    tight = tighten(program, original, items)
    found = relax(tight, original, original)
    shape = (len(original), SPLITS + 1)
    each = [np.zeros((*shape, original.shape[1])) for _ in range(4)]
    nodes = Nodes(np.full(shape, np.inf), *each)
    every = np.arange(len(original))
    better = replace(found, overlap=np.maximum(found.overlap, first.overlap))
    nodes.put(every, np.zeros_like(every), better, tight)
    return tight, nodes


def branch(program: Programs, original: Floats, nodes: Nodes, known: Floats) -> None:
    """Split the nodes of least overlap; `known` (N,) is the least overlap known to be feasible."""
    every = np.arange(len(original))
    for split in range(SPLITS):
        slot = nodes.overlap.argmin(axis=1)
        promising = nodes.overlap[every, slot] < known - CLOSE
        documents = every[promising & (nodes.error[every, slot].max(axis=1) > 0)]
        if not len(documents):
            break
        slot = slot[documents]
        low, high, start = _halves(nodes, documents, slot)
        both = np.concatenate([documents, documents])
        halves = replace(program.rows(both), low=low, high=high)
        found = relax(halves, original[both], start)
        parent = nodes.overlap[both, np.concatenate([slot, slot])]
        found = replace(found, overlap=np.maximum(found.overlap, parent))
        for part, place in ((0, slot), (1, np.full_like(slot, split + 1))):
            own = np.arange(len(documents)) + part * len(documents)
            half = Relaxation(found.overlap[own], found.weights[own], found.error[own])
            nodes.put(documents, place, half, halves.rows(own))


def _halves(nodes: Nodes, documents: Indices, slot: Indices) -> tuple[Floats, Floats, Floats]:
    """The bounds of both halves of the nodes, first all lower then all upper, and their starts."""
    low, high = nodes.low[documents, slot], nodes.high[documents, slot]
    weights = nodes.weights[documents, slot]
    rows = np.arange(len(documents))
    item = nodes.error[documents, slot].argmax(axis=1)
    least, most = low[rows, item], high[rows, item]
    margin = MARGIN * (most - least)
    cut = np.clip(weights[rows, item], least + margin, most - margin)
    low, high = np.concatenate([low, low]), np.concatenate([high, high])
    high[rows, item] = cut
    low[len(rows) + rows, item] = cut
    # An item cannot have more than the lower bounds of the others leave.
    left = 1 - ordered_sum(low)[:, None] + low
    high = np.minimum(high, np.maximum(left, low))
    return low, high, _into_box(np.concatenate([weights, weights]), low, high)


def _into_box(weights: Floats, low: Floats, high: Floats) -> Floats:
    """The weights moved into their ranges; what then misses from one is spread over the room."""
    inside = np.clip(weights, low, high)
    missing = 1 - ordered_sum(inside)[:, None]
    room = np.where(missing > 0, high - inside, inside - low)
    whole = ordered_sum(room)[:, None]
    moved: Floats = inside + room * np.where(whole > 0, missing / np.where(whole > 0, whole, 1), 0)
    return moved
