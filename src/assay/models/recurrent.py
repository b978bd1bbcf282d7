"""What does an item look like to a network that reads the text both ways?

Encoding uses torch's own cells, one per direction on unpacked input: padding stands behind the
text in both readings, so it can touch no real state. Leave-one-out cannot use them, because they
hide the cell state of each step; `restart` is our own loop. Deleting item t leaves the states
before t untouched, so each direction starts again from the stored state at the gap, and all
deletions of all documents of a batch run side by side.

What does an item look like to Serrano & Smith's recurrent encoder?

A bidirectional GRU without start and end markers. Leave-one-out shares the LSTM's loop; a GRU
has no cell, so a column of zeros that never moves stands for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.deletion import FadingRestart
from assay.models.encoders import Changed, DeletionPass, Frame, take


class Reading(ABC):
    """One direction over a batch, with the state after every step kept. Step-major layout."""

    def __init__(self, inputs: Tensor, mask: Tensor, hidden: int, cell: int) -> None:
        """`inputs` (T + 1, B, gates): what the start marker and each item say to the gates."""
        self.inputs, self.mask = inputs, mask.T
        steps, batch, _ = inputs.shape
        self.hidden = inputs.new_zeros(steps + 1, batch, hidden)
        self.cell = inputs.new_zeros(steps + 1, batch, cell)

    def read(self, first: int) -> None:
        """From the start marker (0) or, without one, from the first item (1)."""
        for step in range(first, len(self.inputs)):
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
        cell = torch.empty_like(self.cell[1 : length + 1])
        projector = projection.T.contiguous()
        for item in range(1, length):
            hidden[item - 1] = self.hidden[item]  # after everything before the deleted item
            cell[item - 1] = self.cell[item]
            self.advance(hidden[:item], cell[:item], self.inputs[item + 1])
            values = torch.matmul(hidden[:item], projector)
            values += stored[item]
            yield Changed(slice(0, item), values, self.mask[item].expand(item, -1))

    @abstractmethod
    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        """One step in place for states (..., B, H)."""


class TwoWays(nn.Module, ABC):
    """An encoder that joins the states of two readings."""

    reach: int | None = None

    @abstractmethod
    def readings(self, frame: Frame) -> tuple[Reading, Reading]:
        """Forwards and backwards."""

    def encode_deletions(
        self, frame: Frame, projection: Tensor, *, exactly: bool
    ) -> Iterator[DeletionPass]:
        ahead, back = self.readings(frame)
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


class BiLSTM(TwoWays):
    """One layer, two directions; `last` is the final state of each."""

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

    def readings(self, frame: Frame) -> tuple[Reading, Reading]:
        return LSTMReading(self.forwards, frame), LSTMReading(self.backwards, frame.reversed)


class LSTMReading(Reading):
    """Framed: the start marker is read first, and no item stands behind the end marker."""

    def __init__(self, lstm: nn.LSTM, frame: Frame) -> None:
        from_input, from_state, bias, more_bias = _gates_for_sigmoid(lstm)
        self.recurrent = from_state.T.contiguous()  # (H, 4H)
        framed = frame.framed[:, :-1].transpose(0, 1).contiguous()
        inputs = F.linear(framed, from_input, bias + more_bias)
        super().__init__(inputs, frame.mask, lstm.hidden_size, lstm.hidden_size)
        self.read(0)

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


NO_CELL = 1  # width


class BiGRU(TwoWays):
    """One layer, two directions, items only."""

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.forwards = nn.GRU(inputs, size // 2, batch_first=True)
        self.backwards = nn.GRU(inputs, size // 2, batch_first=True)

    def forward(self, frame: Frame) -> Tensor:
        ahead, _ = self.forwards(frame.items)
        back, _ = self.backwards(frame.reversed.items)
        return torch.cat([ahead, take(back, frame.mirror)], -1)

    def readings(self, frame: Frame) -> tuple[Reading, Reading]:
        return GRUReading(self.forwards, frame), GRUReading(self.backwards, frame.reversed)


class GRUReading(Reading):
    """Unframed: the first thing read is the first item."""

    def __init__(self, gru: nn.GRU, frame: Frame) -> None:
        from_input, from_state, bias, more_bias = gru.parameters()
        self.size = gru.hidden_size
        self.recurrent = from_state.T.contiguous()  # (H, 3H)
        both, self.new_bias = torch.split(more_bias, [2 * self.size, self.size])
        items = frame.items.transpose(0, 1).contiguous()
        spoken = F.linear(items, from_input, bias + F.pad(both, (0, self.size)))
        # A first row that is never read, where the layout has the start marker.
        super().__init__(F.pad(spoken, (0, 0, 0, 0, 1, 0)), frame.mask, self.size, NO_CELL)
        self.read(1)

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        sizes = [2 * self.size, self.size]
        gates, new = torch.split(torch.matmul(hidden, self.recurrent), sizes, -1)
        spoken, spoken_new = torch.split(inputs, sizes, -1)
        heed, keep = (gates + spoken).sigmoid_().chunk(2, -1)
        # tanh(x) = 2 sigmoid(2x) - 1, and torch's sigmoid is several times faster than its tanh.
        inside = torch.addcmul(spoken_new, heed, new + self.new_bias)
        fresh = inside.mul_(2).sigmoid_().mul_(2).sub_(1)
        hidden.copy_(torch.lerp(fresh, hidden, keep))
