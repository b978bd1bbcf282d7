"""Which network is it, so that it can be built again elsewhere?

How do embedding, encoder, attention and head make one model with three verbs?
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.data.corpus import TaskKind
from assay.data.vocabulary import PAD
from assay.models.attention import ATTENTIONS, weigh
from assay.models.deletion import Readout, logits_without_each
from assay.models.encoders import Average, Convolution, Frame, Pooled
from assay.models.heads import AffineHead, PairHead, decode
from assay.models.protocol import AffineTerms, States
from assay.models.recurrent import BiLSTM

ENCODERS: dict[str, type[BiLSTM] | type[Convolution] | type[Average]] = {
    "bilstm": BiLSTM,
    "cnn": Convolution,
    "average": Average,
}
# For models whose answer is known; no choice of `--encoder`.
KNOWN: dict[str, type[Pooled]] = {"pooled": Pooled}
# Serrano & Smith's models, which are more than an encoder: over sentences and over words.
HIERARCHICAL = ("han-rnn", "han-conv", "han-none")
FLAT = ("flan-rnn", "flan-conv", "flan-none")
LAYERED = HIERARCHICAL + FLAT


@dataclass(frozen=True)
class ModelConfig:
    """Everything about a network but its weights."""

    task: TaskKind
    encoder: str
    attention: str
    classes: tuple[str, ...]
    words: int  # size of the vocabulary
    embedding: int
    size: int  # m, the width of a state


DELETION_BYTES = 48 * 2**20  # working memory of leave-one-out per chunk of documents
_BYTES_PER_STATE = 4 * 8  # gates, state, cell and projections of one slot, per unit of size


class Side(nn.Module):
    """One text: its embedding and its encoder. Pair tasks have two, which share nothing."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.words, config.embedding, padding_idx=PAD)
        # Start and end of the text. Not rows of the embedding: reading those two would cost a
        # gradient of the size of the vocabulary each.
        self.markers = nn.Parameter(torch.randn(2, config.embedding))
        encoder = {**ENCODERS, **KNOWN}[config.encoder]
        self.encoder = encoder(config.embedding, config.size)

    def embed(self, items: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(items)
        return embedded

    def frame(self, embedded: Tensor, mask: Tensor) -> Frame:
        return Frame(embedded, mask, self.markers[0], self.markers[1])


def attention_of(config: ModelConfig) -> nn.Module:
    return ATTENTIONS[config.attention](config.size, config.task == "pair")


class Network(nn.Module):
    """The three verbs, the same for one text and for two."""

    head: AffineHead | PairHead

    def __init__(self, config: ModelConfig, text: nn.Module, attention: nn.Module) -> None:
        super().__init__()
        self.config = config
        self.classes = config.classes
        # `text` frames embedded items and has the encoder; torch's own type hides what it holds.
        self.text: Any = text
        self.attention: Any = attention

    def embed(self, batch: Batch) -> Tensor:
        self.expect_words(batch)
        embedded: Tensor = self.text.embed(batch.items)
        return embedded

    def expect_words(self, batch: Batch) -> None:
        if batch.sentences is not None:
            raise ValueError("the items of this batch are sentences; this model reads words")

    def contextualise(self, embedded: Tensor, batch: Batch) -> States:
        items: Tensor = self.text.encoder(self.text.frame(embedded, batch.mask))
        return States(items, batch.mask, self.query_state(batch), batch.allowed, batch.imposed)

    def encode(self, batch: Batch) -> States:
        return self.contextualise(self.embed(batch), batch)

    def attend(self, states: States) -> Tensor:
        if states.imposed is not None:
            return states.imposed
        return weigh(self.attention, states.items, states.mask, states.query)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return decode(self.head, states.items, weights, states.query, states.allowed)

    @property
    def fades(self) -> bool:
        """An encoder with a reach is done with a deletion at once."""
        return self.text.encoder.reach is None

    @torch.no_grad()
    def logits_without_each(self, batch: Batch, *, exactly: bool = True) -> Tensor:
        """Chunks of documents, so that working memory does not depend on the batch."""
        states_per_document = batch.items.shape[1] * self.config.size * _BYTES_PER_STATE
        rows = max(1, DELETION_BYTES // states_per_document)
        return torch.cat([self._delete(batch.rows(slice(start, start + rows)), exactly)
                          for start in range(0, len(batch.ids), rows)])  # fmt: skip

    def _delete(self, batch: Batch, exactly: bool) -> Tensor:
        frame = self.text.frame(self.embed(batch), batch.mask)
        readout = Readout(self.attention, self.head, self.query_state(batch), batch.allowed)
        return logits_without_each(self.text.encoder, readout, frame, exactly=exactly)

    def query_state(self, batch: Batch) -> Tensor | None:
        """The query's last state (B, m); None where there is no second text."""
        return None


class Classifier(Network):
    """One text, one label: affine in the attention weights."""

    def __init__(self, config: ModelConfig, text: nn.Module, attention: nn.Module) -> None:
        super().__init__(config, text, attention)
        self.head = AffineHead(config.size, len(config.classes))

    def affine_terms(self, states: States) -> AffineTerms:
        output = self.head.output
        weight, bias = output.weight.detach().double(), output.bias.detach().double()
        return AffineTerms(states.items.double() @ weight.T, bias)


class PairModel(Network):
    """A text, a query and candidates: question answering and inference."""

    def __init__(self, config: ModelConfig, text: nn.Module, attention: nn.Module) -> None:
        super().__init__(config, text, attention)
        self.second = Side(config)
        self.head = PairHead(config.size, len(config.classes))

    def query_state(self, batch: Batch) -> Tensor:
        if batch.query is None or batch.query_mask is None:
            raise ValueError("a pair model needs batches with a query")
        frame = self.second.frame(self.second.embed(batch.query), batch.query_mask)
        return self.second.encoder.last(frame)
