"""The logits after the change of each single item, at less than one encoder pass per item.

A change deletes an item or replaces it by another one. The encoder yields projections of the states
that a change affects, step by step. Here they are folded into a running softmax, so that the T^2
states of a document never exist at the same time: memory is T rows, whatever the length.

For long texts there is an approximation. The effect of a change on a recurrent state fades: some
tens of steps after the item, the state equals the original one again. From there on nothing needs
to be computed, so the cost grows with length times window instead of length squared. A slot is
dropped once its state *and* its cell are within a tolerance of the original ones. Every run
measures the error on a sample (`assay.scores.leave_one_out`).

A *slot* is one change: slot t of a document is the document without its t-th item in reading order,
or with a substitute in its place.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.attention import Attention
from assay.models.encoders import EVERY, ChangedStates, Encoder, Frame, Projection, Where
from assay.models.heads import Head
from assay.models.products import FixedMatrix, complete_bundle

BLOCK_BYTES = 2**20  # of the scores and values that are folded into a softmax at once
# The largest difference of any unit at which two states count as equal. Trained models forget more
# slowly than untrained ones: with this tolerance the largest error in TVD over three trained models
# was 3e-6; with ten times as much it was 3e-5, which is more than `TVD_BOUND` allows.
TOLERANCE = 3e-5
CHECK_EVERY = 8  # steps between two comparisons, each of which costs about half a step


@dataclass
class RunningSoftmax:
    """A softmax-weighted sum in progress, for each (slot, document)."""

    top: Tensor  # (T, B) the largest score so far
    mass: Tensor  # (T, B) the sum of exp(score - top)
    total: Tensor  # (T, B, k) the sum of exp(score - top) * value

    @classmethod
    def empty(cls, length: int, batch: int, size: int, like: Tensor) -> "RunningSoftmax":
        """A sum without items."""
        top = like.new_full((length, batch), -math.inf)
        return cls(top, like.new_zeros(length, batch), like.new_zeros(length, batch, size))

    def add(self, rows: Where, scores: Tensor, values: Tensor) -> None:
        """Add one item to each of these slots, in place; a score of -inf adds nothing."""
        top = torch.maximum(self.top[rows], scores)
        finite = top.masked_fill(top == -math.inf, 0)  # no item yet: any reference will do
        fade, weight = torch.exp(self.top[rows] - finite), torch.exp(scores - finite)
        self.top[rows] = top
        self.mass[rows] = self.mass[rows] * fade + weight
        self.total[rows] = self.total[rows] * fade[..., None] + values * weight[..., None]

    def add_block(self, scores: Tensor, values: Tensor) -> None:
        """Add several items (S, T, B) and (S, T, B, k) to all slots, in place."""
        top = torch.maximum(self.top, scores.amax(0))
        finite = top.masked_fill(top == -math.inf, 0)
        fade, weight = torch.exp(self.top - finite), torch.exp(scores - finite)
        self.top = top
        self.mass.mul_(fade).add_(weight.sum(0))
        self.total.mul_(fade[..., None]).add_((values * weight[..., None]).sum(0))

    def merge(self, other: "RunningSoftmax") -> "RunningSoftmax":
        """The sum over the items of both."""
        top = torch.maximum(self.top, other.top)
        finite = top.masked_fill(top == -math.inf, 0)
        mine, its = torch.exp(self.top - finite), torch.exp(other.top - finite)
        mass = self.mass * mine + other.mass * its
        return RunningSoftmax(
            top, mass, self.total * mine[..., None] + other.total * its[..., None]
        )

    def reorder(self, slots: Tensor) -> "RunningSoftmax":
        """Move slot s of document b to row slots[s, b]; `slots` is an involution."""
        total = self.total.gather(0, slots[..., None].expand_as(self.total))
        return RunningSoftmax(self.top.gather(0, slots), self.mass.gather(0, slots), total)

    def mean(self) -> Tensor:
        """The context; zero if no item is left."""
        return self.total / self.mass.clamp(min=torch.finfo(self.mass.dtype).tiny)[..., None]


@dataclass(frozen=True)
class Readout:
    """Attention and head applied to projected states. Slots are the first axis: (T, B, k)."""

    attention: Attention
    head: Head
    query: Tensor | None
    allowed: Tensor | None

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of values that attention and head read."""
        return [len(self.attention.projection()), len(self.head.projection())]

    @property
    def projection(self) -> Projection:
        """The joint affine part of attention and head."""
        weight = torch.cat([self.attention.projection(), self.head.projection()])
        offset = self.attention.offset(self.query)
        if offset is None:
            offset = weight.new_zeros(self.sizes[0])
        return Projection(weight, F.pad(offset, (0, self.sizes[1])))

    def parts(self, changed: ChangedStates) -> tuple[Tensor, Tensor]:
        """Scores, -inf where there is no item, and the values that the head reads."""
        size, more = self.sizes
        attended, read = changed.values.narrow(-1, 0, size), changed.values.narrow(-1, size, more)
        query = None if self.query is None else self.query[changed.where[1]]
        scores = self.attention.score(attended, query)
        return scores if changed.real is None else scores.masked_fill_(
            ~changed.real, -math.inf
        ), read

    def of_copies(self, projected: Tensor) -> Tensor:
        """Logits (B, S, C) of S copies per document, from projected states (T, B, S, k)."""
        size = self.sizes[0]
        attended, read = projected[..., :size], projected[..., size:]
        query, allowed = (
            None if part is None else part[:, None] for part in (self.query, self.allowed)
        )
        weights = self.attention.score(attended, query).softmax(0)
        context = (read * weights[..., None]).sum(0)
        return self.head.finish(context, query, allowed)

    def of_texts(self, projected: Tensor, real: Tensor) -> Tensor:
        """Logits (N, C) of texts, from projected states (T, N, k); `real` (T, N) at their items."""
        size = self.sizes[0]
        scores = self.attention.score(projected[..., :size], self.query)
        # The second fill is for a text without items, whose softmax is NaN.
        weights = scores.masked_fill(~real, -math.inf).softmax(0).masked_fill(~real, 0)
        context = (projected[..., size:] * weights[..., None]).sum(0)
        return self.head.finish(context, self.query, self.allowed)

    def finish(self, pool: RunningSoftmax, dtype: torch.dtype) -> Tensor:
        """Logits (B, T, C) of the pooled values."""
        logits = self.head.finish(pool.mean().to(dtype), self.query, self.allowed)
        return logits.transpose(0, 1)


def logits_after_each_change(
    encoder: Encoder, readout: Readout, frame: Frame, substitutes: Tensor | None, *, exact: bool
) -> Tensor:
    """Logits (B, T, C) of each document with `substitutes[:, t]` for its t-th item.

    `substitutes` (B, T, E) are embedded items; with None the t-th item is deleted.
    """
    batch, length = frame.mask.shape
    projection, size = readout.projection, len(readout.head.projection())
    pool = RunningSoftmax.empty(length, batch, size, frame.items)
    needs_original = encoder.reach is not None or not exact
    if needs_original:
        states = projection.of(encoder(frame).transpose(0, 1))
        scores, values = readout.parts(ChangedStates((EVERY, EVERY), states, frame.mask.T))
    if encoder.reach is not None:
        pool = _outside(scores, values, encoder.reach)
    for changes in encoder.encode_changes(frame, projection, substitutes, exact=exact):
        part = RunningSoftmax.empty(length, batch, size, frame.items)
        if changes.until is None:
            _add_in_blocks(part, readout, changes.steps)
        else:
            for step in changes.steps:
                part.add(step.where, *readout.parts(step))
            order = changes.changed  # from reading order to item order; an involution
            read = values.gather(0, order[..., None].expand_as(values))
            part = part.merge(_tail(scores.gather(0, order), read, changes.until))
        pool = pool.merge(part.reorder(changes.changed))
    return readout.finish(pool, frame.items.dtype)


def _add_in_blocks(part: RunningSoftmax, readout: Readout, steps: Iterator[ChangedStates]) -> None:
    """Add steps whose slots and documents are slices, many at once: each by itself is small."""
    shape, size = part.top.shape, part.total.shape[-1]
    each = part.top.numel() * (1 + size) * part.top.element_size()
    count = max(1, BLOCK_BYTES // max(1, each))
    scores = part.top.new_empty(count, *shape)
    values = part.top.new_zeros(count, *shape, size)
    filled = 0
    for step in steps:
        slots = step.where[0]
        assert isinstance(slots, slice)
        if not slots.start:  # the first slots: a new item
            if filled == count:
                part.add_block(scores, values)
                filled = 0
            if filled == 0:
                scores.fill_(-math.inf)
            filled += 1
        scores[filled - 1][step.where], values[filled - 1][step.where] = readout.parts(step)
    if filled:
        part.add_block(scores[:filled], values[:filled])


def _outside(scores: Tensor, values: Tensor, reach: int) -> RunningSoftmax:
    """The softmax over all items further from each changed item than `reach`.

    It uses prefix and suffix sums, never the whole minus the window, which would cancel where
    attention is peaked. Computed in float64, so that the rest beside a dominant weight does not
    underflow.
    """
    scores, values = scores.double(), values.double()
    top = scores.amax(0)
    weight = torch.exp(scores - top)
    mass, total = weight[..., None], values * weight[..., None]
    stacked = torch.cat([mass, total], -1)
    before = F.pad(stacked.cumsum(0), (0, 0, 0, 0, reach + 1, 0))[: len(scores)]
    after = F.pad(stacked.flip(0).cumsum(0), (0, 0, 0, 0, reach + 1, 0))[: len(scores)].flip(0)
    outside = before + after
    # Where no item is outside, the reference must not exceed that of the window.
    reference = top.expand_as(scores).masked_fill(outside[..., 0] == 0, -math.inf)
    return RunningSoftmax(reference, outside[..., 0], outside[..., 1:])


def _tail(scores: Tensor, values: Tensor, until: Tensor) -> RunningSoftmax:
    """The softmax over all items after `until`, from the unchanged text.

    scores (T, B) and values (T, B, k) are in reading order, until is (S, B). In float64, so
    that the rest beside a dominant weight does not underflow.
    """
    scores, values = scores.double(), values.double()
    top = scores.amax(0)
    weight = torch.exp(scores - top)[..., None]
    stacked = torch.cat([weight, weight * values], -1)
    suffix = torch.cat([stacked.flip(0).cumsum(0).flip(0), torch.zeros_like(stacked[:1])])
    start = (until + 1).clamp(max=len(scores))[..., None].expand(-1, -1, stacked.shape[-1])
    tail = suffix.gather(0, start)
    reference = top.expand_as(until).masked_fill(tail[..., 0] == 0, -math.inf)
    return RunningSoftmax(reference, tail[..., 0], tail[..., 1:])


class StoredPass(Protocol):
    """The stored states of one direction, see `recurrent.RecurrentPass`."""

    inputs: Tensor
    hidden: Tensor
    cell: Tensor
    mask: Tensor

    hidden_unit: float
    cell_unit: float

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None: ...


class FadingRestart:
    """Changes of one direction, each continued until its effect has faded.

    All slots advance in parallel, each at the same distance from its own item. There are as many
    steps as the slowest effect takes to fade, not as many as there are items. `until` (T, B) is
    complete when the steps are exhausted: the last item whose state slot t computed anew.
    """

    def __init__(self, reading: StoredPass, projection: Tensor, stored: Tensor) -> None:
        self.reading = reading
        self.projector = FixedMatrix(projection.T)
        self.stored = stored.contiguous()
        length, batch = reading.mask.shape
        self.until = torch.full((length, batch), length, device=reading.mask.device)

    def steps(self, hidden: Tensor, cell: Tensor) -> Iterator[ChangedStates]:
        """The changed states, one distance from the item at a time, from the slots' first states.

        These are (T, B, H).
        """
        reading, (length, batch) = self.reading, self.until.shape
        slot, document = torch.nonzero(reading.mask, as_tuple=True)
        rows = slot * batch + document
        hidden, cell = _rows(hidden, complete_bundle(rows)), _rows(cell, rows)
        for distance in range(1, length):
            item = (slot + distance).clamp(max=length - 1)
            real = reading.mask[item, document] & (slot + distance < length)
            at = item * batch + document
            reading.advance(hidden, cell, _rows(reading.inputs, at + batch))
            values = self.projector.times(hidden, len(slot)).add_(_rows(self.stored, at))
            yield ChangedStates((slot, document), values, real)
            if distance % CHECK_EVERY == 0:
                faded = self._faded(hidden[: len(slot)], cell, at)
                self.until[slot[faded], document[faded]] = item[faded]
                left = (real & ~faded).nonzero()[:, 0]
                slot, document, cell = slot[left], document[left], cell[left]
                hidden = hidden[complete_bundle(left)]
            if not len(slot):
                return

    def _faded(self, hidden: Tensor, cell: Tensor, at: Tensor) -> Tensor:
        """True where the state equals the original state at the same item."""
        after = at + 2 * self.until.shape[1]  # after the empty state and the start marker
        reading = self.reading
        allowed = TOLERANCE / reading.hidden_unit
        same = ((hidden - _rows(reading.hidden, after)).abs() <= allowed).all(-1)
        # The GRU has a constant column for a cell, which is always equal.
        allowed = TOLERANCE / reading.cell_unit
        return same & ((cell - _rows(reading.cell, after)).abs() <= allowed).all(-1)


def _rows(table: Tensor, rows: Tensor) -> Tensor:
    """Rows of a step-major table (S, B, k), numbered step by step."""
    return table.flatten(0, 1).index_select(0, rows)
