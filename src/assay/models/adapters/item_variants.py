"""Copies of documents in which single items are deleted or replaced, one item per copy."""

import torch
from torch import Tensor


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
