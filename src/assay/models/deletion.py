"""How far does a deletion reach into a long text, and what lies beyond?

The effect of a deletion on a recurrent state fades: some tens of steps after the gap the state
is the original's again. From there on nothing need be read anew, and the cost of leave-one-out
grows with length times window instead of length squared. A slot is dropped once its state *and*
its cell are within a tolerance of the original's; how good that is, is measured on a sample in
every run.

What would the model say without each item, at less than one encoder pass per item?

The encoder hands over projections of the states that a deletion changes, step by step. Here
they are folded into a running softmax, so that the T^2 states of a document never exist
together: memory is T rows, whatever the length.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.attention import Attention
from assay.models.encoders import Changed, Encoder, Frame
from assay.models.heads import Head

# The largest difference of any unit at which two states count as the same. Trained models forget
# more slowly than fresh ones: the worst TVD of three of them was off by 3e-6 at this, and by 3e-5,
# more than is promised, at ten times as much.
TOLERANCE = 3e-5
LOOK_EVERY = 8  # steps between two looks: looking costs about half a step


class Stored(Protocol):
    """One direction's reading, as `recurrent.Reading` keeps it."""

    inputs: Tensor
    hidden: Tensor
    cell: Tensor
    mask: Tensor

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None: ...


class FadingRestart:
    """Deletions of one direction, each read on until it has faded.

    All slots walk side by side, each at the same distance from its own gap: there are as many
    steps as the slowest takes to fade, not as many as there are items. `until` (T, B), complete
    when the steps are exhausted: the last item that slot t had to read anew.
    """

    def __init__(self, reading: Stored, projection: Tensor, stored: Tensor) -> None:
        self.reading = reading
        self.projector = projection.T.contiguous()
        self.stored = stored.contiguous()
        length, batch = reading.mask.shape
        self.until = torch.full((length, batch), length, device=reading.mask.device)

    def steps(self) -> Iterator[Changed]:
        reading, (length, batch) = self.reading, self.until.shape
        slot, document = torch.nonzero(reading.mask, as_tuple=True)
        before = (slot + 1) * batch + document  # after everything before the deleted item
        hidden, cell = (_rows(states, before) for states in (reading.hidden, reading.cell))
        for distance in range(1, length):
            item = (slot + distance).clamp(max=length - 1)
            real = reading.mask[item, document] & (slot + distance < length)
            at = item * batch + document
            reading.advance(hidden, cell, _rows(reading.inputs, at + batch))
            values = torch.matmul(hidden, self.projector)
            values += _rows(self.stored, at)
            yield Changed((slot, document), values, real)
            if distance % LOOK_EVERY == 0:
                faded = self._faded(hidden, cell, at)
                self.until[slot[faded], document[faded]] = item[faded]
                slot, document, hidden, cell = (
                    rows[real & ~faded] for rows in (slot, document, hidden, cell)
                )
            if not len(slot):
                return

    def _faded(self, hidden: Tensor, cell: Tensor, at: Tensor) -> Tensor:
        """Is this the untouched text's state again, at the same item?"""
        after = at + 2 * self.until.shape[1]  # behind the empty state and the start marker
        same = ((hidden - _rows(self.reading.hidden, after)).abs() <= TOLERANCE).all(-1)
        # A network without a cell has one of no units, which is always the same.
        return same & ((cell - _rows(self.reading.cell, after)).abs() <= TOLERANCE).all(-1)


def _rows(table: Tensor, rows: Tensor) -> Tensor:
    """Rows of a step-major table (S, B, k), counted step by step."""
    return table.flatten(0, 1).index_select(0, rows)


def tails(scores: Tensor, values: Tensor, until: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Top, mass and total of all items behind `until`, from the untouched text.

    scores (T, B) and values (T, B, k) in reading order, until (S, B). In float64, so that what
    a peak leaves over does not underflow.
    """
    scores, values = scores.double(), values.double()
    top = scores.amax(0)
    weight = torch.exp(scores - top)[..., None]
    stacked = torch.cat([weight, weight * values], -1)
    behind = torch.cat([stacked.flip(0).cumsum(0).flip(0), torch.zeros_like(stacked[:1])])
    start = (until + 1).clamp(max=len(scores))[..., None].expand(-1, -1, stacked.shape[-1])
    tail = behind.gather(0, start)
    reference = top.expand_as(until).masked_fill(tail[..., 0] == 0, -math.inf)
    return reference, tail[..., 0], tail[..., 1:]


Where = slice | tuple[Tensor, Tensor]


@dataclass
class Pool:
    """A softmax-weighted sum under way, for each (slot, document)."""

    top: Tensor  # (T, B) largest score so far
    mass: Tensor  # (T, B) sum of exp(score - top)
    total: Tensor  # (T, B, k) the same sum times the values

    @classmethod
    def empty(cls, length: int, batch: int, size: int, like: Tensor) -> "Pool":
        top = like.new_full((length, batch), -math.inf)
        return cls(top, like.new_zeros(length, batch), like.new_zeros(length, batch, size))

    def add(self, rows: Where, scores: Tensor, values: Tensor) -> None:
        """One more item for these slots; a score of -inf adds nothing."""
        top = torch.maximum(self.top[rows], scores)
        finite = top.masked_fill(top == -math.inf, 0)  # nothing yet: any reference will do
        fade, weight = torch.exp(self.top[rows] - finite), torch.exp(scores - finite)
        self.top[rows] = top
        self.mass[rows] = self.mass[rows] * fade + weight
        self.total[rows] = self.total[rows] * fade[..., None] + values * weight[..., None]

    def merge(self, other: "Pool") -> "Pool":
        top = torch.maximum(self.top, other.top)
        finite = top.masked_fill(top == -math.inf, 0)
        mine, its = torch.exp(self.top - finite), torch.exp(other.top - finite)
        mass = self.mass * mine + other.mass * its
        return Pool(top, mass, self.total * mine[..., None] + other.total * its[..., None])

    def reorder(self, slots: Tensor) -> "Pool":
        """Slot s, document b moves to row slots[s, b]; `slots` is an involution."""
        total = self.total.gather(0, slots[..., None].expand_as(self.total))
        return Pool(self.top.gather(0, slots), self.mass.gather(0, slots), total)

    def mean(self) -> Tensor:
        """The context; zero where nothing was left to attend to."""
        return self.total / self.mass.clamp(min=torch.finfo(self.mass.dtype).tiny)[..., None]


@dataclass(frozen=True)
class Readout:
    """Attention and head, as they see projected states. Slots come first: (T, B, k)."""

    attention: Attention
    head: Head
    query: Tensor | None
    allowed: Tensor | None

    @property
    def projection(self) -> Tensor:
        return torch.cat([self.attention.projection(), self.head.projection()])

    def parts(self, values: Tensor, real: Tensor, where: Where) -> tuple[Tensor, Tensor]:
        """Scores, -inf where nothing is real, and what the head reads."""
        sizes = [len(self.attention.projection()), len(self.head.projection())]
        attended, read = torch.split(values, sizes, -1)
        query = self.query
        if query is not None and isinstance(where, tuple):
            query = query[where[1]]
        return self.attention.score(attended, query).masked_fill(~real, -math.inf), read

    def finish(self, pool: Pool, dtype: torch.dtype) -> Tensor:
        logits = self.head.finish(pool.mean().to(dtype), self.query, self.allowed)
        return logits.transpose(0, 1)


def logits_without_each(
    encoder: Encoder, readout: Readout, frame: Frame, *, exactly: bool
) -> Tensor:
    """(B, T, C): the logits of each document without its t-th item."""
    batch, length = frame.mask.shape
    every = slice(0, length)
    projection, size = readout.projection, len(readout.head.projection())
    pool = Pool.empty(length, batch, size, frame.items)
    untouched = encoder.reach is not None or not exactly
    if untouched:
        states = F.linear(encoder(frame).transpose(0, 1), projection)
        scores, values = readout.parts(states, frame.mask.T, every)
    if encoder.reach is not None:
        pool = _untouched(scores, values, encoder.reach)
    for side in encoder.encode_deletions(frame, projection, exactly=exactly):
        part = Pool.empty(length, batch, size, frame.items)
        for step in side.steps:
            part.add(step.where, *readout.parts(step.values, step.real, step.where))
        if side.until is not None:
            order = side.deleted  # reading order to item order; an involution
            read = values.gather(0, order[..., None].expand_as(values))
            part = part.merge(Pool(*tails(scores.gather(0, order), read, side.until)))
        pool = pool.merge(part.reorder(side.deleted))
    return readout.finish(pool, frame.items.dtype)


def _untouched(scores: Tensor, values: Tensor, reach: int) -> Pool:
    """For each deleted item the pool of all items further away than `reach`.

    Prefix and suffix sums, never the whole minus the window: that would cancel where attention
    is peaked. In float64, so that what a peak leaves over does not underflow.
    """
    scores, values = scores.double(), values.double()
    top = scores.amax(0)
    weight = torch.exp(scores - top)
    mass, total = weight[..., None], values * weight[..., None]
    stacked = torch.cat([mass, total], -1)
    before = F.pad(stacked.cumsum(0), (0, 0, 0, 0, reach + 1, 0))[: len(scores)]
    after = F.pad(stacked.flip(0).cumsum(0), (0, 0, 0, 0, reach + 1, 0))[: len(scores)].flip(0)
    outside = before + after
    # Where nothing is outside, the reference must not outrank the window's own.
    reference = top.expand_as(scores).masked_fill(outside[..., 0] == 0, -math.inf)
    return Pool(reference, outside[..., 0], outside[..., 1:])
