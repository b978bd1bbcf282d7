"""Bidirectional recurrent encoders, LSTM and GRU, with changes of single items by restart.

Encoding uses the cells of torch, one per direction, on unpacked input. Padding comes after the text
in both directions, so it cannot change the state of an item.

A restart cannot use torch's cells, because they hide the cell state of each step; `restart` is our
own loop. Deleting or replacing item t leaves the states before t unchanged. Each direction
therefore restarts from the stored state at the gap, or from the state after the substitute, and all
changes of all documents in a batch run in parallel.

The LSTM reads start and end markers. The GRU, used by Serrano & Smith 2019, has none. It shares the
loop of the LSTM: a GRU has no cell, so a column of zeros that never changes takes its place.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.encoders import (
    ChangedStates,
    ChangePass,
    Frame,
    Projection,
    single_pass,
    slots,
    take,
    take_steps,
)
from assay.models.item_changes import FadingRestart
from assay.models.products import FixedMatrix, with_spare_rows

SHRINK = 15 / 16  # documents that have ended are left out once they are more than a sixteenth
# States that advance at once. Fewer leave two threads waiting for each other, more leave the cache.
BLOCK_ROWS = 1024
REGISTER = 16  # numbers in the widest vector register


class RecurrentPass(ABC):
    """One direction over a batch; stores the state after every step. Steps are the first axis."""

    # States are stored as multiples of these powers of two, where that saves arithmetic. Scaling
    # by a power of two is exact.
    hidden_unit = 1.0
    cell_unit = 1.0

    def __init__(self, inputs: Tensor, mask: Tensor, hidden: int, cell: int) -> None:
        """`inputs` (T + 1, B, gates): the input to the gates of the start marker and each item."""
        self.inputs, self.mask = inputs, mask.T
        steps, batch, _ = inputs.shape
        self.hidden = inputs.new_zeros(steps + 1, batch, hidden)
        self.cell = inputs.new_zeros(steps + 1, batch, cell)

    def read(self, first: int) -> None:
        """Run from the start marker (`first` is 0) or, without one, from the first item (1)."""
        for step in range(first, len(self.inputs)):
            self.hidden[step + 1] = self.hidden[step]
            self.cell[step + 1] = self.cell[step]
            self.advance(self.hidden[step + 1], self.cell[step + 1], self.inputs[step])

    @property
    def states(self) -> Tensor:
        """The states (T, B, H) after each item."""
        return self.hidden[2:]

    def starts(self, substitutes: Tensor | None) -> tuple[Tensor, Tensor]:
        """Hidden state and cell (T, B, H) of each slot: after everything before item t, and then,
        unless item t is deleted, after its substitute, one of (B, T, E) in reading order."""
        hidden, cell = self.hidden[1:-1].clone(), self.cell[1:-1].clone()
        if substitutes is not None:
            inputs = self.project(substitutes.transpose(0, 1)).flatten(0, 1)
            self.advance(hidden.flatten(0, 1), cell.flatten(0, 1), inputs)
        return hidden, cell

    def restart(
        self, hidden: Tensor, cell: Tensor, projection: Tensor, stored: Tensor
    ) -> Iterator[ChangedStates]:
        """Changes in parallel: at step j all slots before j read item j.

        `hidden` and `cell` (T, B, H) are the first states of the slots. Documents are sorted, the
        longest first. Those that have ended are left out, some at a time, and the states of the
        others stay contiguous.
        """
        size = len(projection)
        # Sums over a row are faster if the rows start at multiples of a vector register.
        projector = FixedMatrix(F.pad(projection.T, (0, -size % REGISTER)))
        reading = [count for count in self.mask.sum(1).tolist() if count]  # documents with item j
        length, kept = hidden.shape[:2]
        hidden, cell = with_spare_rows(hidden.flatten(0, 1)), cell.flatten(0, 1)
        for item in range(1, len(reading)):
            if reading[item] <= SHRINK * kept:
                hidden, cell = (
                    part[: length * kept].view(length, kept, -1)[:, : reading[item]].flatten(0, 1)
                    for part in (hidden, cell)
                )
                hidden, kept = with_spare_rows(hidden), reading[item]
            real = None if kept == reading[item] else self.mask[item, :kept]
            inputs, beside = self.inputs[item + 1, :kept], stored[item, :kept]
            for some in _blocks(item, kept):
                first, end = some.start * kept, some.stop * kept
                own = hidden[first:]
                self.advance(own, cell[first:end], inputs)
                projected = projector.times(own, end - first)[:, :size]
                values = projected.view(-1, kept, size).add_(beside)
                there = None if real is None else real.expand(values.shape[0], -1)
                yield ChangedStates((some, slice(kept)), values, there)

    @abstractmethod
    def project(self, embedded: Tensor) -> Tensor:
        """The input to the gates of embedded items."""

    @abstractmethod
    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        """One step, in place, for states (N, H); N / B times the inputs (B, gates).

        N is that of the cells. Further rows behind the hidden states are read along, unchanged.
        """


def _blocks(slots: int, documents: int) -> list[slice]:
    """The slots 0, 1, ... in equal parts of about `BLOCK_ROWS` states."""
    count = max(1, round(slots * documents / BLOCK_ROWS))
    each = -(-slots // count)
    return [slice(start, min(start + each, slots)) for start in range(0, slots, each)]


class Bidirectional(nn.Module, ABC):
    """An encoder that concatenates the states of both directions."""

    reach: int | None = None

    @abstractmethod
    def passes(self, frame: Frame) -> tuple[RecurrentPass, RecurrentPass]:
        """The forward and the backward pass."""

    def encode_changes(
        self, frame: Frame, projection: Projection, substitutes: Tensor | None, *, exact: bool
    ) -> Iterator[ChangePass]:
        """One pass of changes per direction, and the states of substitutes, new in both halves."""
        forward, backward = self.passes(frame)
        forward_half, backward_half = (
            half * current.hidden_unit
            for half, current in zip(projection.halves(), (forward, backward), strict=True)
        )
        mirror = frame.mirror
        mirrored = None if substitutes is None else take(substitutes, mirror)
        starts = {forward: forward.starts(substitutes), backward: backward.starts(mirrored)}
        if substitutes is not None:
            ahead, behind = (
                one.hidden_unit * starts[one][0].transpose(0, 1) for one in (forward, backward)
            )
            states = torch.cat([ahead, take(behind, mirror)], -1)
            yield single_pass(states, projection, frame.mask)
        # A changed state joins the new half of one direction to the stored half of the other.
        # Each pass is in its own reading order, so the stored half is mirrored into that order.
        for current, own_half, other, other_half in (
            (forward, forward_half, backward, backward_half),
            (backward, backward_half, forward, forward_half),
        ):
            behind = F.linear(other.states, other_half) + projection.offset
            stored = take_steps(behind, mirror)
            changed = mirror.T if current is backward else slots(frame.mask)
            if exact:
                yield ChangePass(changed, current.restart(*starts[current], own_half, stored))
            else:
                fading = FadingRestart(current, own_half, stored)
                yield ChangePass(changed, fading.steps(*starts[current]), fading.until)


class BiLSTM(Bidirectional):
    """One layer, two directions; `last` joins the final states of both."""

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.forwards = nn.LSTM(inputs, size // 2, batch_first=True)
        self.backwards = nn.LSTM(inputs, size // 2, batch_first=True)

    def forward(self, frame: Frame) -> Tensor:
        # Without the last column: no item follows the end of the longest text.
        forward, _ = self.forwards(frame.framed[:, :-1])
        backward, _ = self.backwards(frame.reversed.framed[:, :-1])
        return torch.cat([forward[:, 1:], take(backward[:, 1:], frame.mirror)], -1)

    def last(self, frame: Frame) -> Tensor:
        forward, _ = self.forwards(frame.framed)
        backward, _ = self.backwards(frame.reversed.framed)
        final = (frame.lengths + 1)[:, None]
        return torch.cat([take(forward, final), take(backward, final)], -1)[:, 0]

    def passes(self, frame: Frame) -> "tuple[LSTMPass, LSTMPass]":
        if isinstance(frame, ReadFrame):
            return frame.passes
        return LSTMPass(self.forwards, frame), LSTMPass(self.backwards, frame.reversed)

    def read(self, frame: Frame) -> "ReadFrame":
        """Read a frame in both directions and keep every step."""
        passes = (
            LSTMPass(self.forwards, frame, keep_gates=True),
            LSTMPass(self.backwards, frame.reversed, keep_gates=True),
        )
        return ReadFrame(
            frame.items, frame.mask, frame.start, frame.end, frame.names, passes=passes
        )


class LSTMPass(RecurrentPass):
    """One direction of the LSTM; the start marker is read first, the end marker is not needed.

    With tanh(x) = 2 sigmoid(2x) - 1, half of the hidden state is (sigmoid(2 cell) - 1/2) * show.
    """

    hidden_unit = 2.0
    cell_unit = 0.5

    def __init__(self, lstm: nn.LSTM, frame: Frame, *, keep_gates: bool = False) -> None:
        self.from_input, from_state, bias, more_bias = gates_for_sigmoid(lstm)
        self.bias = bias + more_bias
        self.recurrent = FixedMatrix(self.hidden_unit * from_state.T)  # (H, 4H)
        inputs = frame.map_start_and_items(self.project)
        super().__init__(inputs, frame.mask, lstm.hidden_size, lstm.hidden_size)
        # (T + 1, B, 4H) the gates of every step, which a backward pass needs; None: not kept.
        self.read_gates = inputs.clone() if keep_gates else None
        self.read(0)

    def project(self, embedded: Tensor) -> Tensor:
        return F.linear(embedded, self.from_input, self.bias)

    def read(self, first: int) -> None:
        if self.read_gates is None:
            super().read(first)
            return
        # One view of every step, made at once: indexing at each step costs as much as its sums.
        hidden, cell = self.hidden.unbind(), self.cell.unbind()
        for step, gates in enumerate(self.read_gates.unbind()):
            gates.add_(self.recurrent.times(hidden[step]))
            advance_gates(gates, cell[step], cell[step + 1], hidden[step + 1])

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        count = cell.shape[0]
        gates = self.recurrent.times(hidden, count)
        gates.view(-1, *inputs.shape).add_(inputs)
        advance_gates(gates, cell, cell, hidden[:count])


def advance_gates(gates: Tensor, before: Tensor, cell: Tensor, hidden: Tensor) -> None:
    """One step of an LSTM: cell and hidden state in their units, from the inputs (..., 4H).

    Gates replace their inputs. The cell before may be the memory of the cell.
    """
    write, keep, new, show = gates.sigmoid_().chunk(4, -1)
    # new = 2 sigmoid - 1
    torch.mul(before, keep, out=cell).addcmul_(write, new, value=4).sub_(write, alpha=2)
    torch.sigmoid(cell, out=hidden).sub_(0.5).mul_(show)


@dataclass(frozen=True)
class ReadFrame(Frame):
    """A frame that a BiLSTM has read, with everything that it stored."""

    passes: tuple[LSTMPass, LSTMPass] = field(kw_only=True)

    @property
    def states(self) -> Tensor:
        """The states (B, T, m) of the items."""
        ahead, behind = (one.states.transpose(0, 1) for one in self.passes)
        unit = LSTMPass.hidden_unit
        return unit * torch.cat([ahead, take(behind.contiguous(), self.mirror)], -1)


def gates_for_sigmoid(lstm: nn.LSTM) -> list[Tensor]:
    """The parameters with the tanh gate doubled, so that one sigmoid serves all four gates.

    tanh(x) = 2 sigmoid(2x) - 1, and torch's sigmoid is several times faster than its tanh.
    """
    doubled = []
    for parameter in lstm.parameters():
        write, keep, new, show = parameter.chunk(4)  # torch's order: input, forget, new, output
        doubled.append(torch.cat([write, keep, 2 * new, show]))
    return doubled


NO_CELL = 1  # width of the column of zeros that takes the place of a cell


class BiGRU(Bidirectional):
    """One layer, two directions, without markers."""

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.forwards = nn.GRU(inputs, size // 2, batch_first=True)
        self.backwards = nn.GRU(inputs, size // 2, batch_first=True)

    def forward(self, frame: Frame) -> Tensor:
        forward, _ = self.forwards(frame.items)
        backward, _ = self.backwards(frame.reversed.items)
        return torch.cat([forward, take(backward, frame.mirror)], -1)

    def passes(self, frame: Frame) -> tuple[RecurrentPass, RecurrentPass]:
        return GRUPass(self.forwards, frame), GRUPass(self.backwards, frame.reversed)


class GRUPass(RecurrentPass):
    """One direction of the GRU; the first input is the first item."""

    def __init__(self, gru: nn.GRU, frame: Frame) -> None:
        self.from_input, from_state, bias, more_bias = gru.parameters()
        self.size = gru.hidden_size
        self.recurrent = FixedMatrix(from_state.T)  # (H, 3H)
        both, self.new_bias = torch.split(more_bias, [2 * self.size, self.size])
        self.bias = bias + F.pad(both, (0, self.size))
        # The inputs of the start marker are not read: the GRU has none.
        inputs = frame.map_start_and_items(self.project)
        super().__init__(inputs, frame.mask, self.size, NO_CELL)
        self.read(1)

    def project(self, embedded: Tensor) -> Tensor:
        return F.linear(embedded, self.from_input, self.bias)

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        product = self.recurrent.times(hidden, len(cell)).view(-1, *inputs.shape)
        hidden = hidden[: len(cell)].view(*product.shape[:-1], -1)
        sizes = [2 * self.size, self.size]
        gates, new = torch.split(product, sizes, -1)
        from_items, from_items_new = torch.split(inputs, sizes, -1)
        reset, keep = gates.add_(from_items).sigmoid_().chunk(2, -1)
        # tanh(x) = 2 sigmoid(2x) - 1, and torch's sigmoid is several times faster than its tanh.
        inside = new.add_(self.new_bias).mul_(reset).add_(from_items_new)
        candidate = inside.mul_(2).sigmoid_().mul_(2).sub_(1)
        torch.lerp(candidate, hidden, keep, out=hidden)
