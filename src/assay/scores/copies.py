"""How many changed copies of a document are encoded in one pass, and how are they made?"""

from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from assay.batches import Batch
from assay.models.view import View

PASS_BYTES = 16 * 2**20  # of states in one pass; convolutions unfold to some ten times as much
_BYTES_PER_STATE = 4 * 8  # input, gates, state and cell of one item, per unit of its state
_KEPT_FOR_GRADIENT = 2  # what a backward pass needs on top of that


def rows_per_pass(view: View, length: int, *, gradient: bool = False) -> int:
    """Documents of this length that fit into one pass of this model."""
    state = view.states.items.shape[-1] * _BYTES_PER_STATE
    needed = length * state * (1 + _KEPT_FOR_GRADIENT * gradient)
    return max(1, PASS_BYTES // max(1, needed))


def copies(batch: Batch, rows: Tensor) -> Batch:
    """A batch of these rows, each as often as it is named."""
    taken: dict[str, Any] = {name: value[rows] for name, value in _tensors(batch)}
    return replace(batch, ids=tuple(batch.ids[row] for row in rows.tolist()), **taken)


def repeat(batch: Batch, times: int) -> Batch:
    """The whole batch so many times, one after the other."""
    return copies(batch, torch.arange(len(batch.ids), device=batch.items.device).repeat(times))


def alone(batch: Batch, row: int) -> Batch:
    """One document without padding: its numbers cannot depend on the company it keeps."""
    one = batch.rows(slice(row, row + 1))
    length = int(one.mask.sum())
    return replace(one, items=one.items[:, :length], mask=one.mask[:, :length])


def _tensors(batch: Batch) -> list[tuple[str, Tensor]]:
    named = [(field.name, getattr(batch, field.name)) for field in fields(batch)]
    return [(name, value) for name, value in named if isinstance(value, Tensor)]
