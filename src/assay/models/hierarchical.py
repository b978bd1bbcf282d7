"""Which numbers are left out while a model learns, and who decides?

A model only marks the places where it may happen. How much is dropped is the recipe's affair
and the draws are seeded, so both are given for the time of a training and taken back after it:
outside of one nothing can be dropped, whatever mode the model is in.

What do Serrano & Smith's models share: unmarked texts, wide attention, and dropout?

FLAN attends to words, HAN first to the words of each sentence and then to the sentences. Each
comes with a GRU, with convolutions or without an encoder.

What does a model see whose items are sentences?

Words -> encoder -> word attention -> one vector per sentence -> encoder -> sentence attention ->
linear. The tested attention is the one over sentences. `embed` gives the sentence vectors, so
that whatever is asked of an item is asked of a sentence; deleting one leaves the vectors of the
others as they were, so leave-one-out reads no word twice.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.data.vocabulary import PAD, Padded
from assay.models.attention import ATTENTIONS, Additive, weigh
from assay.models.classifier import Classifier, ModelConfig
from assay.models.encoders import Convolution, Frame, Plain
from assay.models.protocol import States
from assay.models.recurrent import BiGRU


class Dropout(nn.Module):
    """A named place; what is kept is scaled up, so that sums stay the same on average."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place
        self.rate = 0.0
        self.generator: torch.Generator | None = None

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return values
        kept = torch.empty_like(values).bernoulli_(1 - self.rate, generator=self.generator)
        return values * kept.div_(1 - self.rate)


@contextmanager
def dropping(
    model: nn.Module, rates: Mapping[str, float], generator: torch.Generator
) -> Iterator[None]:
    """Within it `model` drops at these places; a place without a rate drops nothing."""
    places = [module for module in model.modules() if isinstance(module, Dropout)]
    try:
        for module in places:
            module.rate, module.generator = rates.get(module.place, 0.0), generator
        yield
    finally:
        for module in places:
            module.rate, module.generator = 0.0, None


WIDTHS = (3, 5)  # of the convolutions
BEFORE_WORDS, BEFORE_SENTENCES, ON_LOGITS = "before words", "before sentences", "on logits"
BEFORE_CONVOLUTIONS = "before convolutions"


class Wide(Additive):
    """Additive attention as wide inside as the states are."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__(size, paired, width=size)


def tested_attention(config: ModelConfig) -> nn.Module:
    kinds: dict[str, Any] = {**ATTENTIONS, "additive": Wide}
    attention: nn.Module = kinds[config.attention](config.size, paired=False)
    return attention


class Level(nn.Module):
    """Dropout and an encoder over items without start and end markers."""

    def __init__(self, kind: str, inputs: int, size: int, place: str) -> None:
        super().__init__()
        places = [place, BEFORE_CONVOLUTIONS] if kind == "conv" else [place]
        self.dropout = nn.Sequential(*map(Dropout, places))
        self.encoder = _encoder(kind, inputs, size)
        self.register_buffer("nothing", torch.zeros(inputs), persistent=False)

    def frame(self, embedded: Tensor, mask: Tensor) -> Frame:
        """Zeros for markers: to a convolution they are the padding, the others never look."""
        nothing: Any = self.nothing
        return Frame(self.dropout(embedded), mask, nothing, nothing)


class Layered(Classifier):
    """A classifier without markers around its text; dropout acts on its logits."""

    def __init__(self, config: ModelConfig, level: Level) -> None:
        super().__init__(config, level, tested_attention(config))
        self.embedding = nn.Embedding(config.words, config.embedding, padding_idx=PAD)
        self.on_logits = Dropout(ON_LOGITS)

    def start_from(self, vectors: Tensor) -> None:
        """Vectors of length one; a word without a vector stays at zero."""
        self.embedding.weight.data.copy_(F.normalize(vectors, dim=1))
        self.embedding.weight.data[PAD] = 0

    def decode(self, states: States, weights: Tensor) -> Tensor:
        logits: Tensor = self.on_logits(super().decode(states, weights))
        return logits


class Flan(Layered):
    """Words -> encoder -> attention -> linear."""

    def __init__(self, config: ModelConfig) -> None:
        _, kind = config.encoder.split("-")
        super().__init__(config, Level(kind, config.embedding, config.size, BEFORE_WORDS))

    def embed(self, batch: Batch) -> Tensor:
        self.expect_words(batch)
        embedded: Tensor = self.embedding(batch.items)
        return embedded


def _encoder(kind: str, inputs: int, size: int) -> nn.Module:
    if kind == "rnn":
        return BiGRU(inputs, size)
    return Convolution(inputs, size, WIDTHS) if kind == "conv" else Plain(inputs)


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
