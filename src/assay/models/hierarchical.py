"""The models of Serrano & Smith 2019: FLAN and HAN, with their dropout.

FLAN attends to words. HAN, a hierarchical attention network, attends first to the words of each
sentence and then to the sentences:

    words -> encoder -> word attention -> one vector per sentence -> encoder
          -> sentence attention -> linear

Each comes with a GRU, with convolutions or without an encoder. They have no start and end markers,
and an additive attention as wide as the states.

The attention that HAN is audited for is the one over sentences. Its `embed` returns the sentence
vectors, so for every score and probe an item is a sentence. Deleting a sentence leaves the vectors
of the others unchanged, so leave-one-out encodes no word twice.

The models only mark the places where dropout may happen. The rates come from the training recipe
and the draws are seeded, so both are set during a training and removed after it. Outside of a
training nothing is dropped, whatever mode the model is in.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.data.vocabulary import PAD, PaddedSentences
from assay.models.attention import ATTENTIONS, Additive, attention_weights
from assay.models.classifier import Classifier, ModelConfig
from assay.models.encoders import Convolution, Frame, Identity
from assay.models.protocol import States
from assay.models.recurrent import BiGRU

SENTENCE_CELLS = 8_192  # padded words encoded at a time: about 40 MB of states and gates
WIDTHS = (3, 5)  # of the convolutions
BEFORE_WORDS, BEFORE_SENTENCES, ON_LOGITS = "before words", "before sentences", "on logits"
BEFORE_CONVOLUTIONS = "before convolutions"


class Dropout(nn.Module):
    """Dropout at a named place; kept values are scaled up, so that sums stay equal on average."""

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
def active_dropout(
    model: nn.Module, rates: Mapping[str, float], generator: torch.Generator
) -> Iterator[None]:
    """Apply dropout at these places within the context; a place without a rate drops nothing."""
    places = [module for module in model.modules() if isinstance(module, Dropout)]
    try:
        for module in places:
            module.rate, module.generator = rates.get(module.place, 0.0), generator
        yield
    finally:
        for module in places:
            module.rate, module.generator = 0.0, None


class WideAdditive(Additive):
    """Additive attention with as many hidden units as the states have."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__(size, paired, width=size)


def audited_attention(config: ModelConfig) -> nn.Module:
    """The attention mechanism that is audited."""
    kinds: dict[str, Any] = {**ATTENTIONS, "additive": WideAdditive}
    attention: nn.Module = kinds[config.attention](config.size, paired=False)
    return attention


class Level(nn.Module):
    """Dropout and an encoder over items without start and end markers."""

    def __init__(self, kind: str, inputs: int, size: int, place: str) -> None:
        super().__init__()
        places = [place, BEFORE_CONVOLUTIONS] if kind == "conv" else [place]
        self.dropout = nn.Sequential(*map(Dropout, places))
        self.encoder = _encoder(kind, inputs, size)
        self.register_buffer("zeros", torch.zeros(inputs), persistent=False)

    def frame(self, embedded: Tensor, mask: Tensor) -> Frame:
        """Zeros for markers: padding to a convolution, and ignored by the other encoders."""
        zeros: Any = self.zeros
        return Frame(self.dropout(embedded), mask, zeros, zeros)


def _encoder(kind: str, inputs: int, size: int) -> nn.Module:
    if kind == "rnn":
        return BiGRU(inputs, size)
    return Convolution(inputs, size, WIDTHS) if kind == "conv" else Identity(inputs)


class SerranoSmithModel(Classifier):
    """A classifier without markers around its text and with dropout on its logits."""

    def __init__(self, config: ModelConfig, level: Level) -> None:
        super().__init__(config, level, audited_attention(config))
        self.embedding = nn.Embedding(config.words, config.embedding, padding_idx=PAD)
        self.on_logits = Dropout(ON_LOGITS)

    def load_vectors(self, vectors: Tensor) -> None:
        """Initialize the embeddings with normalized vectors; a zero vector stays zero."""
        self.embedding.weight.data.copy_(F.normalize(vectors, dim=1))
        self.embedding.weight.data[PAD] = 0

    def decode(self, states: States, weights: Tensor) -> Tensor:
        logits: Tensor = self.on_logits(super().decode(states, weights))
        return logits


class Flan(SerranoSmithModel):
    """Flat attention network: words -> encoder -> attention -> linear."""

    def __init__(self, config: ModelConfig) -> None:
        _, kind = config.encoder.split("-")
        super().__init__(config, Level(kind, config.embedding, config.size, BEFORE_WORDS))

    def embed(self, batch: Batch) -> Tensor:
        self.expect_words(batch)
        embedded: Tensor = self.embedding(batch.items)
        return embedded


@dataclass(frozen=True)
class EncodedSentences:
    """Some sentences after the word level."""

    padded: PaddedSentences
    states: Tensor  # (N, W, m)
    weights: Tensor  # (N, W)


class Han(SerranoSmithModel):
    """Hierarchical attention network over sentences."""

    def __init__(self, config: ModelConfig) -> None:
        _, kind = config.encoder.split("-")
        super().__init__(config, Level(kind, config.size, config.size, BEFORE_SENTENCES))
        self.word_level = Level(kind, config.embedding, config.size, BEFORE_WORDS)
        self.word_attention = WideAdditive(config.size, paired=False)

    def embed(self, batch: Batch) -> Tensor:
        """The sentence vectors (B, S, m), zero on padding. Equal sentences are encoded once."""
        rows = torch.unique(batch.items[batch.mask])
        vectors, places = [self.embedding.weight.new_zeros(1, self.config.size)], []
        for sentences in self._encode_sentences(batch, rows):
            vectors.append(torch.bmm(sentences.weights[:, None], sentences.states)[:, 0])
            places.append(sentences.padded.positions + 1)
        order = torch.cat([rows.new_zeros(1), *places]).argsort()
        where = (torch.searchsorted(rows, batch.items) + 1) * batch.mask
        return torch.cat(vectors)[order][where]

    @torch.no_grad()
    def word_weights(self, batch: Batch) -> list[list[list[float]]]:
        """The attention weights of the words, per document and sentence."""
        rows = torch.unique(batch.items[batch.mask])
        found: dict[int, list[float]] = {}
        for sentences in self._encode_sentences(batch, rows):
            lengths = sentences.padded.mask.sum(1).tolist()
            names = rows[sentences.padded.positions].tolist()
            for name, weights, length in zip(
                names, sentences.weights.tolist(), lengths, strict=True
            ):
                found[name] = weights[:length]
        return [[found[row] for row in items if row] for items in batch.items.tolist()]

    def _encode_sentences(self, batch: Batch, rows: Tensor) -> Iterator[EncodedSentences]:
        if batch.sentences is None:
            raise ValueError("the items of this batch are words, but this model reads sentences")
        for padded in batch.sentences.padded(rows, SENTENCE_CELLS):
            frame = self.word_level.frame(self.embedding(padded.words), padded.mask)
            states: Tensor = self.word_level.encoder(frame)
            yield EncodedSentences(
                padded, states, attention_weights(self.word_attention, states, padded.mask, None)
            )
