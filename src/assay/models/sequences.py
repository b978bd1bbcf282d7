"""Logits of many texts that begin or end alike, read by a BiLSTM without reading anything twice.

Copies of a document that lack some items, or have other items in their place, are equal before the
first change and after the last one. The state of a recurrent encoder at an item depends, in each
direction, only on the items that were read so far. Texts that begin alike therefore share their
states until they differ, and texts that have ended cost nothing. The input to the gates is computed
once for every distinct item.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from assay.models.encoders import Projection
from assay.models.products import FixedMatrix, complete_bundle
from assay.models.recurrent import BiLSTM, advance_gates
from assay.models.scaled_items import CELL_UNIT, HIDDEN_UNIT, Direction

ENDED = -1  # in place of an item: the text has ended


@dataclass(frozen=True)
class Step:
    """The distinct beginnings of the texts that have a further item, after it was read."""

    parents: Tensor | None  # (N,) the beginning that each one continues; None before the first item
    items: Tensor  # (N,) the item that was read
    texts: Tensor  # (R,) the rows that have this item
    of_texts: Tensor  # (R,) which beginning each of these rows has


def shared_beginnings(texts: Tensor) -> Iterator[Step]:
    """The distinct beginnings of texts (N, T), item by item; `ENDED` follows the last item."""
    distinct, place = torch.unique(texts, dim=0, return_inverse=True)  # sorted
    differs = (distinct[1:] != distinct[:-1]).int()
    # A row begins something new from the first item on that differs from the row before it.
    new_from = torch.cat([differs.new_zeros(1), differs.argmax(1)])
    number: Tensor | None = None
    columns = zip(distinct.unbind(1), texts.unbind(1), strict=True)
    for depth, (column, of_texts) in enumerate(columns):
        starts = (new_from <= depth) & (column != ENDED)
        first = starts.nonzero()[:, 0]
        if not len(first):
            return
        parents = None if number is None else number[first]
        number = starts.cumsum(0) - 1
        rows = (of_texts != ENDED).nonzero()[:, 0]
        yield Step(parents, column[first], rows, number[place[rows]])


def projected_texts(
    encoder: BiLSTM,
    embedded: Tensor,
    texts: Tensor,
    markers: tuple[Tensor, Tensor],
    projection: Projection,
) -> Tensor:
    """Projections (T, N, k) of the states of texts (N, T), whose numbers are rows of `embedded`.

    `markers` are the embedded start and end. Meaningless where a text has ended.
    """
    count, length = texts.shape
    lengths = (texts != ENDED).sum(1)
    places = torch.arange(length, device=texts.device)
    mirror = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    values = embedded.new_zeros(length, count, len(projection.weight))
    values += projection.offset
    readings = ((encoder.forwards, texts), (encoder.backwards, texts.gather(1, mirror)))
    for (lstm, read), marker, half in zip(readings, markers, projection.halves(), strict=True):
        direction = Direction.of(lstm, embedded[None], marker)
        projector = FixedMatrix(HIDDEN_UNIT * half.T)
        ahead = lstm is encoder.forwards
        for place, (rows, own) in enumerate(_read(direction, read)):
            at = place if ahead else lengths[rows] - 1 - place
            states, of_texts = own
            values.flatten(0, 1).index_add_(0, at * count + rows, projector.times(states)[of_texts])
    return values


def _read(direction: Direction, texts: Tensor) -> Iterator[tuple[Tensor, tuple[Tensor, Tensor]]]:
    """Per item the rows that have it, the distinct states (in `HIDDEN_UNIT`) and whose they are.

    Some states behind them complete a bundle of `products`; they are nobody's.
    """
    hidden, cell = (
        (state / unit)[None]
        for state, unit in zip(direction.start, (HIDDEN_UNIT, CELL_UNIT), strict=True)
    )
    recurrent = FixedMatrix(HIDDEN_UNIT * direction.recurrent)
    inputs = direction.inputs[:, 0, 0] + direction.bias
    for step in shared_beginnings(texts):
        parents = step.items.new_zeros(len(step.items)) if step.parents is None else step.parents
        hidden, cell = hidden[complete_bundle(parents)], cell[parents]
        gates = recurrent.times(hidden, len(cell)).add_(inputs[step.items])
        advance_gates(gates, cell, cell, hidden[: len(cell)])
        yield step.texts, (hidden, step.of_texts)
