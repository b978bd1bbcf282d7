"""Logits of many texts that begin or end alike, read by a BiLSTM without reading anything twice.

Copies of a document that lack some items, or have other items in their place, are equal before the
first change and after the last one. The state of a recurrent encoder at an item depends, in each
direction, only on the items that were read so far. Texts that begin alike therefore share their
states until they differ, and texts that have ended cost nothing. The input to the gates is computed
once for every distinct item.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from assay.models.encoders import Projection
from assay.models.products import FixedMatrix, complete_bundle
from assay.models.recurrent import BiLSTM, advance_gates
from assay.models.scaled_items import CELL_UNIT, HIDDEN_UNIT, Direction
from assay.models.shared_beginnings import ENDED, beginnings_of_texts


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
    for step in beginnings_of_texts(texts):
        parents = step.items.new_zeros(len(step.items)) if step.parents is None else step.parents
        hidden, cell = hidden[complete_bundle(parents)], cell[parents]
        gates = recurrent.times(hidden, len(cell)).add_(inputs[step.items])
        advance_gates(gates, cell, cell, hidden[: len(cell)])
        yield step.texts, (hidden, step.of_texts)
