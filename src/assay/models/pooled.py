"""What if every item looks the same to attention and head?

The mean of the items' vectors, linear, tanh; and that one state for every item. Whatever the
weights, the context and so the prediction are the same: attention cannot matter. Only the models
whose answer is known are built with it (`assay controls`).
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.encoders import Changed, DeletionPass
from assay.models.frame import Frame


class Pooled(nn.Module):
    """One state for all."""

    reach: int | None = None

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.map = nn.Linear(inputs, size)

    def forward(self, frame: Frame) -> Tensor:
        return self.last(frame)[:, None].expand(-1, frame.mask.shape[1], -1)

    def last(self, frame: Frame) -> Tensor:
        total = (frame.items * frame.mask[..., None]).sum(1)
        return torch.tanh(self.map(total / frame.lengths.clamp(min=1)[:, None]))

    def encode_deletions(
        self, frame: Frame, projection: Tensor, *, exactly: bool
    ) -> Iterator[DeletionPass]:
        """States that are all equal need no softmax: one stands for the rest of the document."""
        batch, length = frame.mask.shape
        real = frame.items * frame.mask[..., None]
        left = (frame.lengths - 1).clamp(min=1)[:, None, None]
        states = torch.tanh(self.map((real.sum(1, keepdim=True) - real) / left))
        values = F.linear(states, projection).transpose(0, 1)
        there = (frame.mask & (frame.lengths > 1)[:, None]).T
        deleted = torch.arange(length, device=frame.mask.device)[:, None].expand(length, batch)
        yield DeletionPass(deleted, iter([Changed(slice(0, length), values, there)]))
