"""An encoding that is kept: its states, its gradients and leave-one-out without encoding again.

Three parts of an audit read the same documents: the states, the gradients and leave-one-out. A
`Recording` of a bidirectional LSTM keeps the gates, hidden states and cells of every step, which is
all that a backward pass needs and all that a restart begins with. The backward pass is written out
here. torch's own also computes the gradients of the parameters, which nobody reads, and needs a
forward pass of its own; together that costs several times as much.

Along the inputs of the gates, the gradient has the product with the embedding already: an input is
an affine map of the embedding. The gradient along the embedding itself is computed when it is
asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.encoders import take, take_steps
from assay.models.protocol import States
from assay.models.recurrent import LSTMPass, ReadFrame

GATES = 4


@dataclass(frozen=True)
class EmbeddingSlopes:
    """The slopes of one number per document along its embedded items."""

    input_product: Tensor  # (B, T) the slope times the embedding, summed over its dimensions
    gradients: Callable[[], Tensor]  # (B, T, E)


@dataclass(frozen=True)
class Recording:
    """The states of a batch, and the passes that led to them."""

    states: States
    frame: ReadFrame  # the documents, the longest first
    order: Tensor  # (B,) the documents of the batch in that order

    @torch.no_grad()
    def pull_back(self, slopes: Tensor) -> EmbeddingSlopes:
        """The slopes along the embeddings, from those along the states, (B, T, m)."""
        forward, backward = self.frame.passes
        ahead, behind = slopes[self.order].transpose(0, 1).chunk(2, -1)
        both = gate_slopes(forward, ahead), gate_slopes(backward, take_steps(behind, self._mirror))
        products = [
            _along_inputs(one, own) for one, own in zip((forward, backward), both, strict=True)
        ]
        product = products[0] + products[1].gather(1, self._mirror)

        def gradients() -> Tensor:
            one, other = (
                torch.matmul(own, direction.from_input).transpose(0, 1)
                for direction, own in zip((forward, backward), both, strict=True)
            )
            return self._in_batch_order(one + take(other.contiguous(), self._mirror))

        return EmbeddingSlopes(self._in_batch_order(product), gradients)

    @property
    def _mirror(self) -> Tensor:
        return self.frame.mirror

    def _in_batch_order(self, values: Tensor) -> Tensor:
        return values[self.order.argsort()]


@runtime_checkable
class SupportsRecording(Protocol):
    """A model that can keep an encoding for its gradients and for leave-one-out."""

    def record(self, batch: Batch) -> Recording | None:
        """The kept encoding; None if there is none for this batch."""
        ...

    def logits_without_each(
        self, batch: Batch, *, exact: bool = True, recording: Recording | None = None
    ) -> Tensor:
        """As in `SupportsFading`; a recording of the same batch saves its encoding."""
        ...


def gate_slopes(reading: LSTMPass, slopes: Tensor) -> Tensor:
    """The slopes (T, B, 4H) along the inputs of the gates, from those along the states (T, B, H).

    In the units of `LSTMPass`: cell = keep * cell + write * (4 new - 2), and
    hidden = (sigmoid(cell) - 1/2) * show. Every gate is a sigmoid, whose slope is g (1 - g).
    """
    assert reading.read_gates is not None
    gates = reading.read_gates[1:]  # without those of the start marker
    write, keep, new, show = gates.chunk(GATES, -1)
    found = torch.addcmul(gates, gates, gates, value=-1)
    of_write, of_keep, of_new, of_show = found.chunk(GATES, -1)
    of_write.mul_((4 * new).sub_(2))
    of_keep.mul_(reading.cell[1:-1])
    of_new.mul_(4 * write)
    hidden = reading.hidden[2:]
    torch.addcmul(hidden, hidden, show, value=-1, out=of_show)
    shown = reading.cell[2:].sigmoid()
    to_cell = shown.addcmul_(shown, shown, value=-1).mul_(show)
    of_hidden = (reading.hidden_unit * slopes).unbind()
    of_cell = torch.zeros_like(of_hidden[0])
    recurrent = reading.recurrent.matrix.T
    by_gate = found.view(*found.shape[:2], GATES, -1)
    through_cell, through_hidden = by_gate[:, :, :-1].unbind(), by_gate[:, :, -1].unbind()
    inputs, kept, to_cells = found.unbind(), keep.unbind(), to_cell.unbind()
    for step in reversed(range(len(found))):
        if step + 1 < len(found):
            of_hidden[step].addmm_(inputs[step + 1], recurrent)
            of_cell.mul_(kept[step + 1])
        of_cell.addcmul_(of_hidden[step], to_cells[step])
        through_cell[step].mul_(of_cell[:, None])
        through_hidden[step].mul_(of_hidden[step])
    return found


def _along_inputs(reading: LSTMPass, slopes: Tensor) -> Tensor:
    """The slopes (T, B, 4H) times what the embeddings add to the inputs of the gates: (B, T)."""
    return (reading.inputs[1:] - reading.bias).mul_(slopes).sum(-1).T
