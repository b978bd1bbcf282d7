"""The columns of attention rows, and the computations in which rows of one kind appear.

Not every column is a position of the document. A learned prefix puts columns before them, and a
decoder that reads the document one position late has a start token in front. Such columns stand
apart, under a name of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.adapters.item_table import Positions
from assay.models.adapters.site import APART, ItemPositions


@dataclass(frozen=True)
class KeyColumns:
    """What the columns of an attention row are, for documents that are given as positions."""

    leading: int = 0  # columns before those of the positions
    name: str = ""  # of these
    late: bool = False  # the last positions have no column: the leading ones took their place

    def layout(self, positions: Positions) -> ItemPositions:
        """Which columns form which item."""
        own = positions.layout
        if not self.leading:
            return own
        width = positions.ids.shape[1] + (0 if self.late else self.leading)
        apart = {name: self._moved(at, False)[:, :width] for name, at in own.apart.items()}
        columns = torch.arange(width, device=own.owner.device) < self.leading
        first = columns.expand(len(own.owner), -1)
        if self.late:  # documents that are padded on the left begin later
            start = positions.first[:, None]
            first = torch.arange(width, device=own.owner.device) == start
        apart[self.name] = first
        owner = self._moved(own.owner, APART)[:, :width]
        return ItemPositions(owner, own.items, apart)

    def mask(self, positions: Positions) -> Tensor:
        """(B, K): True at columns that hold something."""
        return positions.mask if self.late else self._moved(positions.mask, True)

    def square(self, weights: Tensor) -> Tensor:
        """Weights (..., S, K) of one layer as (..., K, K): a learned prefix sees only itself."""
        missing = weights.shape[-1] - weights.shape[-2]
        if not missing:
            return weights
        own = torch.eye(missing, weights.shape[-1], dtype=weights.dtype, device=weights.device)
        return torch.cat([own.expand(*weights.shape[:-2], -1, -1), weights], -2)

    def _moved(self, values: Tensor, filling: Any) -> Tensor:
        return F.pad(values, (self.leading, 0), value=filling)


@dataclass(frozen=True)
class AttentionPart:
    """The attention computations of one kind in a forward pass, one per layer."""

    calls: Sequence[int]  # in the order of the forward pass; all computations are counted
    heads: int
    columns: KeyColumns
