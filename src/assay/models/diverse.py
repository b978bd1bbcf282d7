"""Recurrent encoders whose states differ from each other, and conicity, which measures that.

Mohankumar et al. 2020: the states of an LSTM lie in a narrow cone, so that any weights give nearly
the same context, and shuffling or erasing weights can show little. Conicity is the mean over a
document's items of the cosine between a state and the mean state. Two encoders lower it:

- `DiverseLSTM` is the BiLSTM; learning the task adds `diversity` times the conicity to the loss.
- `OrthogonalLSTM` removes from each new state its part along the mean of the earlier states.

The paper's encoders read in one direction. Ours read in both, like `bilstm`, so that the three
differ in nothing else; each direction is made orthogonal to its own earlier states, of which that
of the start marker is the first.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.encoders import Frame, take
from assay.models.recurrent import Bidirectional, BiLSTM, RecurrentPass

DIVERSITY = 0.5  # weight of the conicity beside the loss of a document


def conicity(states: Tensor, mask: Tensor) -> Tensor:
    """The mean cosine (B,) between the states (B, T, m) of a document's items and their mean."""
    real = mask[..., None].to(states.dtype)
    count = real.sum(1).clamp(min=1)
    mean = (states * real).sum(1, keepdim=True) / count[:, None]
    cosines = F.cosine_similarity(states, mean, dim=-1)
    return (cosines * mask).sum(1) / count[:, 0]


class DiverseLSTM(BiLSTM):
    """A bidirectional LSTM that learns the task with a penalty on the conicity of its states."""

    diversity = DIVERSITY


class OrthogonalLSTM(Bidirectional):
    """A bidirectional LSTM whose every state is orthogonal to the mean of the earlier ones.

    The orthogonal state is also what the next step reads.
    """

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.forwards = nn.LSTM(inputs, size // 2, batch_first=True)
        self.backwards = nn.LSTM(inputs, size // 2, batch_first=True)

    def forward(self, frame: Frame) -> Tensor:
        ahead = orthogonal_states(self.forwards, frame.framed[:, :-1])
        behind = orthogonal_states(self.backwards, frame.reversed.framed[:, :-1])
        return torch.cat([ahead[:, 1:], take(behind[:, 1:], frame.mirror)], -1)

    def last(self, frame: Frame) -> Tensor:
        ahead = orthogonal_states(self.forwards, frame.framed)
        behind = orthogonal_states(self.backwards, frame.reversed.framed)
        final = (frame.lengths + 1)[:, None]
        return torch.cat([take(ahead, final), take(behind, final)], -1)[:, 0]

    def passes(self, frame: Frame) -> tuple[RecurrentPass, RecurrentPass]:
        return OrthogonalPass(self.forwards, frame), OrthogonalPass(self.backwards, frame.reversed)


def orthogonal_states(lstm: nn.LSTM, steps: Tensor) -> Tensor:
    """The states (B, L, H) of one direction over embedded steps (B, L, E); differentiable."""
    return torch.stack(list(_states(lstm, steps)), 1)


def _states(lstm: nn.LSTM, steps: Tensor) -> Iterator[Tensor]:
    from_input, from_state, bias, more_bias = lstm.parameters()
    inputs = F.linear(steps, from_input, bias + more_bias)
    hidden = cell = total = inputs.new_zeros(len(steps), lstm.hidden_size)
    for step in inputs.unbind(1):
        shown, cell = lstm_step(step + F.linear(hidden, from_state), cell)
        hidden = without_part_along(shown, total)
        total = total + hidden
        yield hidden


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The next state and cell of an LSTM, from its gates (N, 4H) before their nonlinearities."""
    write, keep, new, show = gates.chunk(4, -1)  # torch's order: input, forget, new, output
    cell = keep.sigmoid() * cell + write.sigmoid() * new.tanh()
    return show.sigmoid() * cell.tanh(), cell


def without_part_along(states: Tensor, total: Tensor) -> Tensor:
    """States (N, H) minus their projections on `total`; unchanged where that is zero.

    The sum of the earlier states has the direction of their mean.
    """
    length = (total * total).sum(-1, keepdim=True)
    share = (states * total).sum(-1, keepdim=True) / length.clamp(
        min=torch.finfo(length.dtype).tiny
    )
    return states - share * total


class OrthogonalPass(RecurrentPass):
    """One direction of the orthogonal LSTM, with changes of single items by restart.

    The sum of the earlier states is carried along in the second half of the cell.
    """

    def __init__(self, lstm: nn.LSTM, frame: Frame) -> None:
        self.from_input, self.from_state, bias, more_bias = lstm.parameters()
        self.bias = bias + more_bias
        inputs = frame.map_start_and_items(self.project)
        super().__init__(inputs, frame.mask, lstm.hidden_size, 2 * lstm.hidden_size)
        self.read(0)

    def project(self, embedded: Tensor) -> Tensor:
        return F.linear(embedded, self.from_input, self.bias)

    def advance(self, hidden: Tensor, cell: Tensor, inputs: Tensor) -> None:
        hidden = hidden[: len(cell)]
        gates = F.linear(hidden, self.from_state).view(-1, *inputs.shape) + inputs
        own, total = cell.chunk(2, -1)
        shown, memory = lstm_step(gates.view(len(hidden), -1), own)
        hidden.copy_(without_part_along(shown, total))
        own.copy_(memory)
        total.add_(hidden)
