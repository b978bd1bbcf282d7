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
from assay.models.products import FixedMatrix, complete_bundle
from assay.models.recurrent import BiLSTM, LSTMPass, advance_gates, gates_for_sigmoid
from assay.models.shared_beginnings import beginnings_of_copies

HIDDEN_UNIT, CELL_UNIT = LSTMPass.hidden_unit, LSTMPass.cell_unit
STEPS_AT_ONCE = 8  # of a derivative, so that their factors stay in the cache


def scaled_states(encoder: Encoder, frame: Frame, scales: Tensor) -> Tensor:
    """States (B, S, T, m) of S copies of each document; `scales` (B, S, T) of its items.

    The documents have no padding. Differentiable in the scales.
    """
    scales = scales.to(frame.items.dtype)
    if isinstance(encoder, Convolution):
        return _scaled_convolution(encoder, frame, scales)
    copies = scales.shape[1]
    items = (frame.items[:, None] * scales[..., None]).flatten(0, 1)
    mask = frame.mask.repeat_interleave(copies, 0)
    states = encoder(Frame(items, mask, frame.start, frame.end))
    return states.view(-1, copies, *states.shape[1:])


def scaled_projections(
    encoder: BiLSTM, frame: Frame, scales: Tensor, projection: Projection
) -> Tensor:
    """Projections (T, B, S, k) of the states of S copies of each document.

    Differentiable in the scales.
    """
    scales = scales.to(frame.items.dtype)
    directions = (
        Direction.of(encoder.forwards, frame.items, frame.start),
        Direction.of(encoder.backwards, frame.items, frame.end),
    )
    if scales.requires_grad:
        both = _BothDirections.of(*directions, projection)
        return cast(Tensor, _ScaledBiLSTM.apply(scales, both))  # type: ignore[no-untyped-call]
    return _shared_projections(directions, scales, projection)


@torch.no_grad()
def _shared_projections(
    directions: tuple["Direction", "Direction"], scales: Tensor, projection: Projection
) -> Tensor:
    """The projections without a derivative; copies that begin alike share their states."""
    documents, copies, length = scales.shape
    offset = projection.offset.expand(documents, -1).repeat_interleave(copies, 0)
    values = scales.new_empty(length, *offset.shape)
    spare = torch.empty_like(offset)
    orders = range(length), range(length - 1, -1, -1)
    for number, (direction, half, order) in enumerate(
        zip(directions, projection.halves(), orders, strict=True)
    ):
        projector = FixedMatrix(HIDDEN_UNIT * half.T)
        for item, hidden, of_copies in direction.read_shared(scales, order):
            own = projector.times(hidden)
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
    """Projections (T, B, S, k) over scaled items; the only derivative is that of the scales."""

    @staticmethod
    def forward(context: Any, scales: Tensor, both: "_BothDirections") -> Tensor:
        projected, context.activations = both.read(scales)
        context.both = both
        return projected

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return context.both.slopes(gradients[0], context.activations), None


@dataclass(frozen=True)
class _Activations:
    """The gates (2, T, R, 4H) and cells (2, T + 1, R, H) of R copies in both directions.

    The cells are multiples of `CELL_UNIT`.
    """

    gates: Tensor
    cells: Tensor

    def factors(self, first: int, end: int) -> tuple[Tensor, Tensor, Tensor]:
        """The derivatives of N = end - first steps with respect to the next cell and hidden state.

        Of the cell by the cell before (2, N, R, H), of the cell by the hidden state (2, N, R, H),
        and of the inputs of the four gates (2, N, R, 4, H) by the cell or, for the last gate, by
        the hidden state. They are computed for some steps at once, so that a step is a few
        operations.
        """
        gates = self.gates[:, first:end]
        gates = gates.view(*gates.shape[:3], 4, -1)
        before, after = self.cells[:, first:end], self.cells[:, first + 1 : end + 1]
        write, keep, new, show = gates.unbind(-2)
        shown = after.sigmoid().mul_(2).sub_(1)
        by_gate = torch.addcmul(gates, gates, gates, value=-1)  # the slope of each sigmoid
        by_write, by_keep, by_new, by_show = by_gate.unbind(-2)
        by_write.mul_(2 * new - 1)
        by_keep.mul_(before).mul_(CELL_UNIT)
        by_new.mul_(2 * write)
        by_show.mul_(shown)
        return keep, torch.addcmul(show, show * shown, shown, value=-1), by_gate


@dataclass(frozen=True)
class _BothDirections:
    """Both directions side by side, each in its own reading order, and what is read of a state.

    Sums and gates of both are computed at once, which halves the number of operations.
    """

    inputs: Tensor  # (2, T, B, 1, 4H) what the items add to the gates
    bias: Tensor  # (2, 1, 1, 4H)
    recurrent: Tensor  # (2, H, 4H)
    hidden: Tensor  # (2, 1, H) after the marker
    cell: Tensor  # (2, 1, H) after the marker
    projector: Tensor  # (2, H, k)
    offset: Tensor  # (1 or B, 1, k)

    @classmethod
    def of(
        cls, forwards: "Direction", backwards: "Direction", projection: Projection
    ) -> "_BothDirections":
        both = forwards, backwards
        hidden, cell = (
            torch.stack([states[number] for states in (forwards.start, backwards.start)])
            for number in range(2)
        )
        return cls(
            torch.stack([forwards.inputs, backwards.inputs.flip(0)]),
            torch.stack([one.bias for one in both])[:, None, None],
            torch.stack([one.recurrent for one in both]),
            hidden[:, None],
            cell[:, None],
            torch.stack([half.detach().T for half in projection.halves()]),
            projection.offset.detach().view(-1, 1, len(projection.weight)),
        )

    def read(self, scales: Tensor) -> tuple[Tensor, _Activations]:
        """Projections (T, B, S, k) of all copies, and what the derivative needs."""
        documents, copies, length = scales.shape
        rows, size = documents * copies, self.hidden.shape[-1]
        steps = scales.permute(2, 0, 1)[..., None]
        steps = torch.stack([steps, steps.flip(0)])
        gates = scales.new_empty(2, length, rows, 4 * size)
        cells, states = (scales.new_empty(2, length + 1, rows, size) for _ in range(2))
        states[:, 0], cells[:, 0] = self.hidden / HIDDEN_UNIT, self.cell / CELL_UNIT
        products = [FixedMatrix(HIDDEN_UNIT * one) for one in self.recurrent]
        for step, own in enumerate(gates.unbind(1)):
            by_copy = own.view(2, documents, copies, -1)
            torch.addcmul(self.bias, steps[:, step], self.inputs[:, step], out=by_copy)
            for one, before, product in zip(own, states[:, step], products, strict=True):
                one.add_(product.times(before))
            cell, hidden = cells[:, step + 1], states[:, step + 1]
            advance_gates(own, cells[:, step], cell, hidden)
        ahead, behind = torch.bmm(states[:, 1:].flatten(1, 2), HIDDEN_UNIT * self.projector)
        ahead, behind = (half.view(length, documents, copies, -1) for half in (ahead, behind))
        projected = ahead + behind.flip(0)
        return projected.add_(self.offset), _Activations(gates, cells)

    def slopes(self, gradients: Tensor, activations: _Activations) -> Tensor:
        """The derivatives (B, S, T) with respect to the scales, given those of the projections."""
        length, documents, copies, _ = gradients.shape
        by_state = torch.stack([gradients, gradients.flip(0)]).flatten(1, 3)
        by_state = torch.bmm(by_state, self.projector.mT).view(2, length, documents * copies, -1)
        products = [FixedMatrix(one.T) for one in self.recurrent]
        cell = torch.zeros_like(by_state[:, 0])
        found = gradients.new_empty(2, length, documents, copies)
        for end in range(length, 0, -STEPS_AT_ONCE):
            first = max(0, end - STEPS_AT_ONCE)
            keep, cell_by_hidden, by_gate = activations.factors(first, end)
            for number in range(end - 1, first - 1, -1):
                step, hidden = number - first, by_state[:, number]
                cell.addcmul_(hidden, cell_by_hidden[:, step])
                own = by_gate[:, step]
                own[..., :3, :].mul_(cell[..., None, :])
                own[..., 3, :].mul_(hidden)
                cell.mul_(keep[:, step])
                if number:
                    earlier = zip(by_state[:, number - 1], own.flatten(2), products, strict=True)
                    for one, after, product in earlier:
                        one.add_(product.times(after))
            by_copy = by_gate.view(2, end - first, documents, copies, -1)
            torch.sum(by_copy.mul_(self.inputs[:, first:end]), -1, out=found[:, first:end])
        return (found[0] + found[1].flip(0)).permute(1, 2, 0)


@dataclass(frozen=True)
class Direction:
    """One direction of an LSTM over the items of some documents, before any scaling.

    One sigmoid serves all four gates, as in `recurrent`: tanh(x) = 2 sigmoid(2x) - 1.
    """

    inputs: Tensor  # (T, B, 1, 4H) what the items add to the gates
    bias: Tensor  # (4H,)
    recurrent: Tensor  # (H, 4H)
    start: tuple[Tensor, Tensor]  # hidden state and cell (H,) after the marker

    @classmethod
    def of(cls, lstm: nn.LSTM, items: Tensor, marker: Tensor) -> "Direction":
        from_input, from_state, bias, more_bias = (
            part.detach() for part in gates_for_sigmoid(lstm)
        )
        total = bias + more_bias
        write, _, new, show = F.linear(marker.detach(), from_input, total).sigmoid().chunk(4)
        cell = write * (2 * new - 1)
        inputs = F.linear(items.detach().transpose(0, 1), from_input)
        recurrent = from_state.T.contiguous()
        return cls(inputs[:, :, None], total, recurrent, (show * torch.tanh(cell), cell))

    def read_shared(self, scales: Tensor, order: range) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Each item, its distinct states (N, H) and which of them each copy has (R,).

        The states are in units of `HIDDEN_UNIT` and are used before the next step overwrites them.
        Some states behind them complete a bundle of `products`, and no copy has them.
        """
        documents, copies, _ = scales.shape
        hidden, cell = (
            (state / unit).repeat(documents, 1)
            for state, unit in zip(self.start, (HIDDEN_UNIT, CELL_UNIT), strict=True)
        )
        recurrent = FixedMatrix(HIDDEN_UNIT * self.recurrent)
        memory = scales.new_empty(documents * copies, len(self.bias))
        beginnings = beginnings_of_copies(scales[..., list(order)])
        for item, beginning in zip(order, beginnings, strict=True):
            if beginning.parents is not None:
                hidden = hidden[complete_bundle(beginning.parents)]
                cell = cell[beginning.parents]
            inputs = self.inputs[item, :, 0]
            own = inputs if documents == 1 else inputs[beginning.documents]
            read = torch.addcmul(self.bias, beginning.scales, own, out=memory[: len(cell)])
            gates = recurrent.times(hidden, len(cell)).add_(read)
            advance_gates(gates, cell, cell, hidden[: len(cell)])
            yield item, hidden, beginning.of_copies
