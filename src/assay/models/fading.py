"""How far does a deletion reach into a long text, and what lies beyond?

The effect of a deletion on a recurrent state fades: some tens of steps after the gap the state
is the original's again. From there on nothing need be read anew, and the cost of leave-one-out
grows with length times window instead of length squared. A slot is dropped once its state *and*
its cell are within a tolerance of the original's; how good that is, is measured on a sample in
every run.
"""

import math
from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor

from assay.models.encoders import Changed

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
