"""What does a model see whose items are sentences?

Words -> encoder -> word attention -> one vector per sentence -> encoder -> sentence attention ->
linear. The tested attention is the one over sentences. `embed` gives the sentence vectors, so
that whatever is asked of an item is asked of a sentence; deleting one leaves the vectors of the
others as they were, so leave-one-out reads no word twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from assay.batches import Batch
from assay.models.attention import weigh
from assay.models.config import ModelConfig
from assay.models.layered import BEFORE_SENTENCES, BEFORE_WORDS, Layered, Level, Wide
from assay.sentence_table import Padded

SENTENCE_CELLS = 8_192  # padded words read at a time: some 40 MB of states and gates


@dataclass(frozen=True)
class Read:
    """Some sentences as the word level left them."""

    padded: Padded
    states: Tensor  # (N, W, m)
    weights: Tensor  # (N, W)


class Han(Layered):
    """A hierarchical attention network."""

    def __init__(self, config: ModelConfig) -> None:
        _, kind = config.encoder.split("-")
        super().__init__(config, Level(kind, config.size, config.size, BEFORE_SENTENCES))
        self.word_level = Level(kind, config.embedding, config.size, BEFORE_WORDS)
        self.word_attention = Wide(config.size, paired=False)

    def embed(self, batch: Batch) -> Tensor:
        """(B, S, m): the sentence vectors, zero on padding. Equal rows are read once."""
        rows = torch.unique(batch.items[batch.mask])
        vectors, places = [self.embedding.weight.new_zeros(1, self.config.size)], []
        for read in self._read(batch, rows):
            vectors.append(torch.bmm(read.weights[:, None], read.states)[:, 0])
            places.append(read.padded.places + 1)
        order = torch.cat([rows.new_zeros(1), *places]).argsort()
        where = (torch.searchsorted(rows, batch.items) + 1) * batch.mask
        return torch.cat(vectors)[order][where]

    @torch.no_grad()
    def words_attended(self, batch: Batch) -> list[list[list[float]]]:
        """Per document and sentence the weights of its words."""
        rows = torch.unique(batch.items[batch.mask])
        found: dict[int, list[float]] = {}
        for read in self._read(batch, rows):
            lengths = read.padded.mask.sum(1).tolist()
            names = rows[read.padded.places].tolist()
            for name, weights, length in zip(names, read.weights.tolist(), lengths, strict=True):
                found[name] = weights[:length]
        return [[found[row] for row in items if row] for items in batch.items.tolist()]

    def _read(self, batch: Batch, rows: Tensor) -> Iterator[Read]:
        if batch.sentences is None:
            raise ValueError("the items of this batch are words; this model reads sentences")
        for padded in batch.sentences.padded(rows, SENTENCE_CELLS):
            frame = self.word_level.frame(self.embedding(padded.words), padded.mask)
            states: Tensor = self.word_level.encoder(frame)
            yield Read(padded, states, weigh(self.word_attention, states, padded.mask, None))
