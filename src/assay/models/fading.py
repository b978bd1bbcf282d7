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

TOLERANCE = 3e-4  # largest difference of any unit at which two states count as the same
LOOK_EVERY = 8  # steps between two looks: looking costs as much as a step


class Stored(Protocol):
    """One direction's reading, as `recurrent.Reading` keeps it."""

    inputs: Tensor
    hidden: Tensor
    cell: Tensor
    mask: Tensor

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None: ...


class FadingRestart:
    """Deletions of one direction, each read on until it has faded.

    `until` (T, B), complete when the steps are exhausted: the last item that slot t had to read
    anew. The states under way stand in one dense block, oldest first.
    """

    def __init__(self, reading: Stored, projection: Tensor, stored: Tensor) -> None:
        self.reading = reading
        self.projector = projection.T.contiguous()
        self.stored = stored
        length, batch = reading.mask.shape
        self.until = torch.full((length, batch), length, device=reading.mask.device)

    def steps(self) -> Iterator[Changed]:
        reading, (length, batch) = self.reading, self.until.shape
        documents = torch.arange(batch, device=self.until.device)
        slot = documents[:0]
        document = documents[:0]
        hidden, cell = reading.hidden[0, :0], reading.cell[0, :0]
        for item in range(1, length):
            slot = torch.cat([slot, torch.full_like(documents, item - 1)])
            document = torch.cat([document, documents])
            hidden = torch.cat([hidden, reading.hidden[item]])
            cell = torch.cat([cell, reading.cell[item]])
            reading.advance(hidden, cell, reading.inputs[item + 1][document])
            values = torch.matmul(hidden, self.projector)
            values += self.stored[item][document]
            yield Changed((slot, document), values, reading.mask[item][document])
            if item % LOOK_EVERY == 0:
                alive = self._alive(hidden, cell, document, item)
                self.until[slot[~alive], document[~alive]] = item
                slot, document = slot[alive], document[alive]
                hidden, cell = hidden[alive], cell[alive]

    def _alive(self, hidden: Tensor, cell: Tensor, document: Tensor, item: int) -> Tensor:
        original = self.reading.hidden[item + 2][document], self.reading.cell[item + 2][document]
        apart = torch.maximum((hidden - original[0]).abs(), (cell - original[1]).abs()).amax(-1)
        return (apart > TOLERANCE) & self.reading.mask[item][document]


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
