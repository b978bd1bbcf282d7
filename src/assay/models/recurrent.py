"""What does an item look like to a network that reads the text both ways?

Encoding uses torch's LSTM, one per direction on unpacked input: padding stands behind the
text in both readings, so it can touch no real state. Leave-one-out cannot use it, because it
hides the cell state of each step; `restart` is our own loop. Deleting item t leaves the states
before t untouched, so each direction starts again from the stored state at the gap, and all
deletions of all documents of a batch run side by side.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.encoders import Changed, DeletionPass
from assay.models.fading import FadingRestart
from assay.models.frame import Frame, take


class BiLSTM(nn.Module):
    """One layer, two directions; `last` is the final state of each."""

    reach: int | None = None

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.forwards = nn.LSTM(inputs, size // 2, batch_first=True)
        self.backwards = nn.LSTM(inputs, size // 2, batch_first=True)

    def forward(self, frame: Frame) -> Tensor:
        # Without the last column: no item stands behind the end of the longest text.
        ahead, _ = self.forwards(frame.framed[:, :-1])
        back, _ = self.backwards(frame.reversed.framed[:, :-1])
        return torch.cat([ahead[:, 1:], take(back[:, 1:], frame.mirror)], -1)

    def last(self, frame: Frame) -> Tensor:
        ahead, _ = self.forwards(frame.framed)
        back, _ = self.backwards(frame.reversed.framed)
        final = (frame.lengths + 1)[:, None]
        return torch.cat([take(ahead, final), take(back, final)], -1)[:, 0]

    def encode_deletions(
        self, frame: Frame, projection: Tensor, *, exactly: bool
    ) -> Iterator[DeletionPass]:
        ahead = Reading(self.forwards, frame)
        back = Reading(self.backwards, frame.reversed)
        first, second = projection.chunk(2, 1)
        mirror = frame.mirror
        # A changed state joins one direction's new half to the other's stored half. Each pass
        # is in its own reading order, so the stored half is mirrored into it.
        for reading, own, other, its in (
            (ahead, first, back, second),
            (back, second, ahead, first),
        ):
            stored = take(F.linear(other.states.transpose(0, 1), its), mirror).transpose(0, 1)
            deleted = (mirror if reading is back else _positions(mirror)).T
            if exactly:
                yield DeletionPass(deleted, reading.restart(own, stored))
            else:
                fading = FadingRestart(reading, own, stored)
                yield DeletionPass(deleted, fading.steps(), fading.until)


class Reading:
    """One direction over a batch, with the state after every step kept. Step-major layout."""

    def __init__(self, lstm: nn.LSTM, frame: Frame) -> None:
        from_input, from_state, bias, more_bias = _gates_for_sigmoid(lstm)
        self.recurrent = from_state.T.contiguous()  # (H, 4H)
        # The frame without its end: no item stands behind the end marker.
        inputs = frame.framed[:, :-1].transpose(0, 1).contiguous()
        self.inputs = F.linear(inputs, from_input, bias + more_bias)  # (T + 1, B, 4H)
        self.mask = frame.mask.T
        steps, batch, _ = self.inputs.shape
        self.hidden = inputs.new_zeros(steps + 1, batch, lstm.hidden_size)
        self.cell = torch.zeros_like(self.hidden)
        for step in range(steps):
            self.hidden[step + 1] = self.hidden[step]
            self.cell[step + 1] = self.cell[step]
            self.advance(self.hidden[step + 1], self.cell[step + 1], self.inputs[step])

    @property
    def states(self) -> Tensor:
        """(T, B, H): after start marker and item t."""
        return self.hidden[2:]

    def restart(self, projection: Tensor, stored: Tensor) -> Iterator[Changed]:
        """Slot t lacks item t. At step j all slots before j read item j."""
        length = len(self.inputs) - 1
        hidden = torch.empty_like(self.hidden[1 : length + 1])
        cell = torch.empty_like(hidden)
        projector = projection.T.contiguous()
        for item in range(1, length):
            hidden[item - 1] = self.hidden[item]  # after everything before the deleted item
            cell[item - 1] = self.cell[item]
            self.advance(hidden[:item], cell[:item], self.inputs[item + 1])
            values = torch.matmul(hidden[:item], projector)
            values += stored[item]
            yield Changed(slice(0, item), values, self.mask[item].expand(item, -1))

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        """One step in place for states (..., B, H)."""
        gates = torch.matmul(hidden, self.recurrent)
        gates += inputs
        write, keep, new, show = gates.sigmoid_().chunk(4, -1)
        # new = 2 sigmoid - 1 and tanh(cell) = 2 sigmoid(2 cell) - 1, multiplied out.
        cell.mul_(keep).addcmul_(write, new, value=2).sub_(write)
        torch.mul(cell, 2, out=hidden)
        hidden.sigmoid_().mul_(2).sub_(1).mul_(show)


def _gates_for_sigmoid(lstm: nn.LSTM) -> list[Tensor]:
    """The parameters with the tanh gate doubled, so that one sigmoid serves all four gates.

    tanh(x) = 2 sigmoid(2x) - 1, and torch's sigmoid is several times faster than its tanh.
    """
    doubled = []
    for parameter in lstm.parameters():
        write, keep, new, show = parameter.chunk(4)  # torch's order: input, forget, new, output
        doubled.append(torch.cat([write, keep, 2 * new, show]))
    return doubled


def _positions(like: Tensor) -> Tensor:
    return torch.arange(like.shape[1], device=like.device).expand_as(like)
