"""What does an item look like to Serrano & Smith's recurrent encoder?

A bidirectional GRU without start and end markers. Leave-one-out shares the LSTM's loop; a GRU
has no cell, so a column of zeros that never moves stands for it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.frame import Frame, take
from assay.models.recurrent import Reading, TwoWays

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
