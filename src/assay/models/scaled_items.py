"""States of documents whose item embeddings are scaled, at a fraction of the usual cost.

LIME, kernel SHAP and integrated gradients all read changed copies of a document in which the
embedding of item t is multiplied by a number s_t. For the first two it is 0 or 1, absent or
present. For integrated gradients it is the place on the line from zero to the document, and the
gradient along the embedding, (df/de_t) . e_t, is the derivative df/ds_t.

A convolution and the input to the gates of an LSTM are linear in the embedding. Each item is
therefore projected once per document, and a copy only multiplies the projection by its scale. Of
the two matrix products of an LSTM's step only the recurrent one is left, which is a third of the
work. Its derivative with respect to the scales needs no product with the embedding either; it is
written out below, because torch's own backward pass records some twenty operations per step.

Without a derivative no state is kept: attention and head read the projections of each state as soon
as it is computed, while it is still in the cache. Copies that begin alike share their states until
they differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.encoders import Convolution, Encoder, Frame, Projection
from assay.models.recurrent import BiLSTM
from assay.models.shared_prefixes import shared_prefixes

# Halves of hidden states and doubled cells save arithmetic, because tanh(x) = 2 sigmoid(2x) - 1.
# Scaling by a power of two is exact.
HIDDEN_UNIT = 2.0
CELL_UNIT = 0.5
STEPS_AT_ONCE = 8  # of a derivative, so that their factors stay in the cache


def scaled_states(encoder: Encoder, frame: Frame, scales: Tensor) -> Tensor:
    """States (B, S, T, m) of S copies of each document; `scales` (B, S, T) of its items.

    The documents have no padding. Differentiable in the scales.
    """
    scales = scales.to(frame.items.dtype)
    if isinstance(encoder, BiLSTM):
        both = _both_directions(encoder, frame)
        return cast(Tensor, _ScaledBiLSTM.apply(scales, *both))  # type: ignore[no-untyped-call]
    if isinstance(encoder, Convolution):
        return _scaled_convolution(encoder, frame, scales)
    copies = scales.shape[1]
    items = (frame.items[:, None] * scales[..., None]).flatten(0, 1)
    mask = frame.mask.repeat_interleave(copies, 0)
    states = encoder(Frame(items, mask, frame.start, frame.end))
    return states.view(-1, copies, *states.shape[1:])


@torch.no_grad()
def scaled_projections(
    encoder: BiLSTM, frame: Frame, scales: Tensor, projection: Projection
) -> Tensor:
    """Projections (T, B, S, k) of the states of S copies of each document, without a derivative."""
    scales = scales.to(frame.items.dtype)
    documents, copies, length = scales.shape
    offset = projection.offset.expand(documents, -1).repeat_interleave(copies, 0)
    values = scales.new_empty(length, *offset.shape)
    product, spare = torch.empty_like(offset), torch.empty_like(offset)
    for number, (direction, half, order) in enumerate(
        zip(_both_directions(encoder, frame), projection.halves(), _orders(length), strict=True)
    ):
        projector = (HIDDEN_UNIT * half).T.contiguous()
        for item, hidden, of_copies in direction.read_shared(scales, order):
            own = torch.mm(hidden, projector, out=product[: len(hidden)])
            if number == 0:
                torch.index_select(own, 0, of_copies, out=values[item])
            else:
                torch.index_select(own, 0, of_copies, out=spare)
                values[item].add_(spare).add_(offset)
    return values.view(length, documents, copies, -1)


def _scaled_convolution(encoder: Convolution, frame: Frame, scales: Tensor) -> Tensor:
    """A convolution is a sum of one linear map per tap: each item is mapped once per tap."""
    taps, bias = (part.detach() for part in encoder.taps(frame.framed))  # (L, B, taps, m), (m,)
    length, count = len(taps), taps.shape[2]
    reach = count // 2
    rows = F.pad(taps, (0, 0, 0, 0, 0, 0, reach, reach))
    aligned = torch.stack([rows[tap : tap + length, :, tap] for tap in range(count)], 2)
    # The markers are never scaled, and nothing is beyond them.
    framed = F.pad(F.pad(scales, (1, 1), value=1), (reach, reach))
    windows = framed.unfold(-1, count, 1).permute(2, 0, 1, 3)  # (L, B, S, taps)
    states = F.relu(torch.matmul(windows, aligned) + bias)
    return states[1:-1].permute(1, 2, 0, 3)


class _ScaledBiLSTM(torch.autograd.Function):
    """Both directions over scaled items; the only derivative is that of the scales."""

    @staticmethod
    def forward(
        context: Any, scales: Tensor, forwards: "_Direction", backwards: "_Direction"
    ) -> Tensor:
        documents, copies, length = scales.shape
        size = len(forwards.recurrent)
        states = scales.new_empty(documents, copies, length, 2 * size)
        context.passes = []
        for direction, order, half in zip(
            (forwards, backwards), _orders(length), states.chunk(2, -1), strict=True
        ):
            activations = _Activations.empty(documents * copies, length, size, scales)
            direction.read(scales, order, half, activations)
            context.passes.append((direction, order, activations))
        return states

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        halves = gradients[0].chunk(2, -1)
        slopes = gradients[0].new_zeros(gradients[0].shape[:3])
        for (direction, order, activations), half in zip(context.passes, halves, strict=True):
            direction.add_slopes(slopes, half, order, activations)
        return slopes, None, None


def _both_directions(encoder: BiLSTM, frame: Frame) -> tuple["_Direction", "_Direction"]:
    return (
        _Direction.of(encoder.forwards, frame.items, frame.start),
        _Direction.of(encoder.backwards, frame.items, frame.end),
    )


def _orders(length: int) -> tuple[range, range]:
    return range(length), range(length - 1, -1, -1)


@dataclass(frozen=True)
class _Activations:
    """The gates (T, R, 4H) and cells (T + 1, R, H) of R copies, step by step.

    The cells are multiples of `CELL_UNIT`.
    """

    gates: Tensor
    cells: Tensor

    @classmethod
    def empty(cls, rows: int, length: int, size: int, like: Tensor) -> "_Activations":
        """Memory for the activations."""
        return cls(like.new_empty(length, rows, 4 * size), like.new_empty(length + 1, rows, size))

    def factors(self, first: int, end: int) -> tuple[Tensor, Tensor, Tensor]:
        """The derivatives of N = end - first steps with respect to the next cell and hidden state.

        Of the cell by the cell before (N, R, H), of the cell by the hidden state (N, R, H), and of
        the inputs of the four gates (N, R, 4, H) by the cell or, for the last gate, by the hidden
        state. They are computed for some steps at once, so that a step is a few operations.
        """
        gates = self.gates[first:end].view(end - first, len(self.gates[0]), 4, -1)
        cells = self.cells[first : end + 1]
        write, keep, new, show = gates.unbind(2)
        shown = cells[1:].sigmoid().mul_(2).sub_(1)
        by_gate = gates * (1 - gates)  # the slope of each sigmoid
        by_gate[:, :, 0].mul_(2 * new - 1)
        by_gate[:, :, 1].mul_(cells[:-1]).mul_(CELL_UNIT)
        by_gate[:, :, 2].mul_(2 * write)
        by_gate[:, :, 3].mul_(shown)
        return keep, show * (1 - shown * shown), by_gate


@dataclass(frozen=True)
class _Direction:
    """One direction of an LSTM over the items of some documents, before any scaling.

    One sigmoid serves all four gates, as in `recurrent`: tanh(x) = 2 sigmoid(2x) - 1.
    """

    inputs: Tensor  # (T, B, 1, 4H) what the items add to the gates
    bias: Tensor  # (4H,)
    recurrent: Tensor  # (H, 4H)
    start: tuple[Tensor, Tensor]  # hidden state and cell (H,) after the marker

    @classmethod
    def of(cls, lstm: nn.LSTM, items: Tensor, marker: Tensor) -> "_Direction":
        from_input, from_state, bias, more_bias = (
            _double_tanh_gate(parameter.detach()) for parameter in lstm.parameters()
        )
        total = bias + more_bias
        write, _, new, show = F.linear(marker.detach(), from_input, total).sigmoid().chunk(4)
        cell = write * (2 * new - 1)
        inputs = F.linear(items.detach().transpose(0, 1), from_input)
        recurrent = from_state.T.contiguous()
        return cls(inputs[:, :, None], total, recurrent, (show * torch.tanh(cell), cell))

    def first_states(self, rows: int) -> tuple[Tensor, Tensor]:
        """Hidden state and cell (R, H) after the marker, in their units."""
        hidden, cell = self.start[0] / HIDDEN_UNIT, self.start[1] / CELL_UNIT
        return hidden.repeat(rows, 1), cell.repeat(rows, 1)

    def read_shared(self, scales: Tensor, order: range) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Each item, its distinct states (N, H) and which of them each copy has (R,).

        The states are in units of `HIDDEN_UNIT` and are used before the next step overwrites them.
        """
        documents, copies, _ = scales.shape
        hidden, cell = self.first_states(documents)
        recurrent = HIDDEN_UNIT * self.recurrent
        memory = scales.new_empty(documents * copies, recurrent.shape[1])
        prefixes = shared_prefixes(scales[..., list(order)])
        for item, prefix in zip(order, prefixes, strict=True):
            if prefix.parents is not None:
                hidden, cell = hidden[prefix.parents], cell[prefix.parents]
            inputs, gates = self.inputs[item, :, 0], memory[: len(hidden)]
            own = inputs if documents == 1 else inputs[prefix.documents]
            torch.addcmul(self.bias, prefix.scales, own, out=gates)
            _advance(gates.addmm_(hidden, recurrent), hidden, cell)
            yield item, hidden, prefix.of_copies

    def read(self, scales: Tensor, order: range, states: Tensor, kept: _Activations) -> None:
        """Write the states (B, S, T, H) of all copies, and keep what the derivative needs."""
        documents, copies = scales.shape[:2]
        hidden, cell = self.first_states(documents * copies)
        recurrent = HIDDEN_UNIT * self.recurrent
        kept.cells[0] = cell
        steps = scales.permute(2, 0, 1)[..., None].contiguous()
        for number, item in enumerate(order):
            gates = kept.gates[number]
            apart = gates.view(documents, copies, -1)
            torch.addcmul(self.bias, steps[item], self.inputs[item], out=apart)
            _advance(gates.addmm_(hidden, recurrent), hidden, cell)
            torch.mul(hidden.view(documents, copies, -1), HIDDEN_UNIT, out=states[:, :, item])
            kept.cells[number + 1] = cell

    def add_slopes(
        self, slopes: Tensor, gradients: Tensor, order: range, activations: _Activations
    ) -> None:
        """Add the derivatives (B, S, T) with respect to the scales, given those of the states."""
        documents, copies, length, size = gradients.shape
        rows = documents * copies
        from_gates = self.recurrent.T.contiguous()
        hidden, cell = (gradients.new_zeros(rows, size) for _ in range(2))
        for end in range(length, 0, -STEPS_AT_ONCE):
            first = max(0, end - STEPS_AT_ONCE)
            keep, cell_by_hidden, by_gate = activations.factors(first, end)
            for number in range(end - 1, first - 1, -1):
                step = number - first
                hidden += gradients[:, :, order[number]].reshape(rows, size)
                cell.addcmul_(hidden, cell_by_hidden[step])
                by_gate[step, :, :3].mul_(cell[:, None])
                by_gate[step, :, 3].mul_(hidden)
                torch.mm(by_gate[step].view(rows, -1), from_gates, out=hidden)
                cell.mul_(keep[step])
            items = list(order[first:end])
            by_item = by_gate.view(end - first, documents, copies, -1)
            found = torch.matmul(by_item, self.inputs[items].mT)[..., 0]
            slopes[..., items] += found.permute(1, 2, 0)


def _advance(gates: Tensor, hidden: Tensor, cell: Tensor) -> None:
    """One step of states (R, H) in their units, in place, given the inputs (R, 4H) of the gates."""
    write, keep, new, show = gates.sigmoid_().chunk(4, -1)
    cell.mul_(keep).addcmul_(write, new, value=4).sub_(write, alpha=2)
    torch.sigmoid(cell, out=hidden)
    hidden.sub_(0.5).mul_(show)


def _double_tanh_gate(parameter: Tensor) -> Tensor:
    write, keep, new, show = parameter.chunk(4)  # torch's order: input, forget, new, output
    return torch.cat([write, keep, 2 * new, show])
