"""How does a document look to an encoder: start marker, items, end marker, padding?"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Frame:
    """Embedded items with the two markers around them, read in either direction."""

    items: Tensor  # (B, T, E), zero on padding: that is how padding is embedded
    mask: Tensor  # (B, T)
    start: Tensor  # (E,)
    end: Tensor  # (E,)

    @cached_property
    def lengths(self) -> Tensor:
        return self.mask.sum(1)

    @cached_property
    def framed(self) -> Tensor:
        """(B, T + 2, E): start, items, end directly after the last item, zeros."""
        batch, _, size = self.items.shape
        start = self.start.expand(batch, 1, size)
        framed = torch.cat([start, self.items, self.items.new_zeros(batch, 1, size)], 1)
        framed[torch.arange(batch, device=self.mask.device), self.lengths + 1] = self.end
        return framed

    @cached_property
    def mirror(self) -> Tensor:
        """(B, T): where item t stands when the items alone are read backwards; an involution."""
        positions = torch.arange(self.mask.shape[1], device=self.mask.device)
        return torch.where(self.mask, self.lengths[:, None] - 1 - positions, positions)

    @cached_property
    def reversed(self) -> "Frame":
        """The same document read from its end: the markers change places."""
        items = take(self.items, self.mirror)
        return Frame(items, self.mask, self.end, self.start)


def take(values: Tensor, positions: Tensor) -> Tensor:
    """values (B, T, k) at positions (B, S): (B, S, k)."""
    return values.gather(1, positions[..., None].expand(-1, -1, values.shape[-1]))
