"""The positions of every item: a ragged table from vocabulary indices to a tokenizer's ids.

A batch holds vocabulary indices, one per item. Here they become the input of the model: the ids of
the items' positions in their order, between the special tokens that the tokenizer adds. Deleting,
copying and replacing items in a batch therefore needs no tokenizer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.adapters.site import APART, ItemPositions


@dataclass(frozen=True)
class Positions:
    """Documents as positions: what the model reads, and which item each position belongs to."""

    ids: Tensor  # (B, S)
    mask: Tensor  # (B, S) True at real positions
    layout: ItemPositions
    place: Tensor  # (B, S) of the position within its item; 0 elsewhere

    @cached_property
    def first(self) -> Tensor:
        """The first real position of each document, (B,)."""
        return self.mask.long().argmax(1)

    @cached_property
    def last(self) -> Tensor:
        """The last real position of each document, (B,)."""
        return self.mask.shape[1] - 1 - self.mask.flip(1).long().argmax(1)

    @property
    def padded(self) -> bool:
        """Whether any document is shorter than the longest."""
        return not bool(self.mask.all())

    def take(self, rows: Tensor) -> "Positions":
        """The documents in these rows, each as often as it is listed."""
        apart = {name: at[rows] for name, at in self.layout.apart.items()}
        layout = replace(self.layout, owner=self.layout.owner[rows], apart=apart)
        return Positions(self.ids[rows], self.mask[rows], layout, self.place[rows])

    def to_items(self, values: Tensor) -> Tensor:
        """Vectors of positions (B, S, m) joined to vectors of items (B, T, K * m).

        K is the largest number of positions of an item in the batch; shorter items end in zeros.
        """
        documents, _, size = values.shape
        widest = self._widest
        items = values.new_zeros(documents, self.layout.items * widest, size)
        column = (self.layout.owner * widest + self.place).clamp(min=0)
        real = (self.layout.owner != APART)[..., None]
        items = items.scatter_add(1, column[..., None].expand_as(values), values * real)
        return items.view(documents, self.layout.items, widest * size)

    def to_positions(self, items: Tensor, apart: Tensor) -> Tensor:
        """The inverse of `to_items`; positions that stand apart get their vectors from `apart`."""
        split = items.reshape(len(items), self.layout.items * self._widest, apart.shape[-1])
        column = (self.layout.owner * self._widest + self.place).clamp(min=0)
        own = split.gather(1, column[..., None].expand_as(apart))
        return torch.where((self.layout.owner != APART)[..., None], own, apart)

    @cached_property
    def _widest(self) -> int:
        return int(self.place.max()) + 1


@dataclass(frozen=True)
class ItemTable:
    """The ids of every vocabulary index, and what surrounds a document."""

    ids: Sequence[Sequence[int]]  # by vocabulary index
    prefix: tuple[int, ...]  # special tokens before the items
    suffix: tuple[int, ...]  # special tokens after them
    names: tuple[str, ...]  # of the special tokens, those of the prefix first
    pad: int  # id of padding

    @cached_property
    def counts(self) -> Tensor:
        """Number of positions by vocabulary index."""
        return torch.tensor([len(one) for one in self.ids], dtype=torch.long)

    @cached_property
    def starts(self) -> Tensor:
        """Where the ids of each vocabulary index start in `flat`."""
        return F.pad(self.counts.cumsum(0), (1, 0))[:-1]

    @cached_property
    def flat(self) -> Tensor:
        """All ids one after another, and one more that is never read."""
        return torch.tensor([*(i for one in self.ids for i in one), self.pad], dtype=torch.long)

    def lengths(self, items: Tensor, mask: Tensor) -> Tensor:
        """Number of positions (B,) of documents (B, T), with the special tokens."""
        counts = self.counts.to(items.device)[items] * mask
        return counts.sum(1) + len(self.prefix) + len(self.suffix)

    def positions(self, items: Tensor, mask: Tensor, *, left: bool = False) -> Positions:
        """Documents (B, T) as positions, padded on the right or on the left."""
        device = items.device
        counts = self.counts.to(device)[items] * mask
        ends = counts.cumsum(1)
        total = ends[:, -1:] + len(self.prefix) + len(self.suffix)
        width = max(int(total.max()), 1)
        column = torch.arange(width, device=device).expand(len(items), width)
        column = column - (width - total) if left else column
        inner = column - len(self.prefix)
        owner = torch.searchsorted(ends, inner.clamp(min=0), right=True)
        within = (inner >= 0) & (owner < items.shape[1])
        owner = owner.clamp(max=items.shape[1] - 1)
        place = inner - (ends - counts).gather(1, owner)
        source = self.starts.to(device)[items].gather(1, owner) + place
        ids = self.flat.to(device)[torch.where(within, source, -1)]
        apart: dict[str, Tensor] = {}
        for number, (name, one) in enumerate(
            zip(self.names, self.prefix + self.suffix, strict=True)
        ):
            after = number - len(self.prefix)
            at = column == number if after < 0 else column == ends[:, -1:] + number
            ids = torch.where(at, one, ids)
            apart[name] = apart[name] | at if name in apart else at
        layout = ItemPositions(torch.where(within, owner, APART), items.shape[1], apart)
        real = (column >= 0) & (column < total)
        return Positions(ids, real, layout, torch.where(within, place, 0))


def without_each(items: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Every document (B, T) without each of its items: (N, T) items and mask, in their order.

    N is the number of real items of all documents.
    """
    length = items.shape[1]
    column = torch.arange(length, device=items.device)
    source = column + (column >= column[:, None])  # (T, T): row t skips column t
    document, position = mask.nonzero(as_tuple=True)
    chosen = source[position]
    inside = chosen < length
    chosen = chosen.clamp(max=length - 1)
    kept = mask[document[:, None], chosen] & inside
    return items[document[:, None], chosen] * kept, kept


def with_each_replaced(items: Tensor, mask: Tensor, replacement: Tensor) -> tuple[Tensor, Tensor]:
    """Every document with `replacement` (B, R, T) in place of each of its items, one at a time.

    The copies (N, T) are in the order of documents, replacements and items.
    """
    real = mask[:, None].expand_as(replacement)
    document, _, position = real.nonzero(as_tuple=True)
    copies = items[document].scatter(1, position[:, None], replacement[real][:, None])
    return copies, mask[document]


def placed(values: Tensor, real: Tensor) -> Tensor:
    """Values (N, C) of the copies at the places (..., T) of their items; zero on padding."""
    result = values.new_zeros(*real.shape, values.shape[-1])
    result[real] = values
    return result
