"""The classifiers that assay trains: embedding, encoder, attention and head in one network.

`ModelConfig` describes a network completely except for its weights, so that it can be rebuilt
elsewhere. `Network` implements the interface of `protocol` for one text (`Classifier`) and for a
text with a query (`PairModel`).
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.data.corpus import TaskKind
from assay.data.vocabulary import PAD
from assay.models.attention import ATTENTIONS, attention_weights
from assay.models.diverse import DiverseLSTM, OrthogonalLSTM
from assay.models.encoders import Average, Convolution, Frame, Pooled
from assay.models.heads import AffineHead, PairHead, decode
from assay.models.item_changes import Readout, logits_after_each_change
from assay.models.protocol import AffineTerms, States
from assay.models.recording import Recording
from assay.models.recurrent import BiLSTM
from assay.models.scaled_items import scaled_projections, scaled_states
from assay.models.sequences import projected_texts
from assay.models.shared_beginnings import ENDED

ENCODERS: dict[
    str, type[BiLSTM] | type[Convolution] | type[Average] | type[DiverseLSTM] | type[OrthogonalLSTM]
] = {
    "bilstm": BiLSTM,
    "cnn": Convolution,
    "average": Average,
    "diverse-lstm": DiverseLSTM,
    "orthogonal-lstm": OrthogonalLSTM,
}
# Encoders of control models, whose correct verdict is known; not offered as `--encoder`.
CONTROL_ENCODERS: dict[str, type[Pooled]] = {"pooled": Pooled}
# The models of Serrano & Smith 2019, which are more than an encoder: with attention over
# sentences (HAN) and over words (FLAN).
HIERARCHICAL = ("han-rnn", "han-conv", "han-none")
FLAT = ("flan-rnn", "flan-conv", "flan-none")
SERRANO_SMITH = HIERARCHICAL + FLAT
CHANGE_BYTES = 48 * 2**20  # working memory of changes of single items per chunk of documents
# Inputs, gates, states, cells and projections of one slot in both directions, per unit of size.
_BYTES_PER_STATE = 4 * 11
# Of an audit, per item: leave-one-out grows with the size, 100 permutations and their draws do not.
_AUDIT_BYTES_PER_UNIT, _PERMUTATION_BYTES = 4 * 12, 100 * 3 * 8


@dataclass(frozen=True)
class ModelConfig:
    """Everything about a network except its weights."""

    task: TaskKind
    encoder: str
    attention: str
    classes: tuple[str, ...]
    words: int  # size of the vocabulary
    embedding: int
    size: int  # m, the width of a state


class TextEncoder(nn.Module):
    """The embedding and the encoder of one text. Pair tasks have two, which share nothing."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.words, config.embedding, padding_idx=PAD)
        # Start and end of the text. They are not rows of the embedding, because the gradient of
        # a row has the size of the whole vocabulary.
        self.markers = nn.Parameter(torch.randn(2, config.embedding))
        encoder = {**ENCODERS, **CONTROL_ENCODERS}[config.encoder]
        self.encoder = encoder(config.embedding, config.size)

    def embed(self, items: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(items)
        return embedded

    def frame(self, embedded: Tensor, mask: Tensor) -> Frame:
        return Frame(embedded, mask, self.markers[0], self.markers[1])


def build_attention(config: ModelConfig) -> nn.Module:
    """The attention mechanism that a config names."""
    return ATTENTIONS[config.attention](config.size, config.task == "pair")


class Network(nn.Module):
    """The model interface, the same for one text and for two."""

    head: AffineHead | PairHead

    def __init__(self, config: ModelConfig, text: nn.Module, attention: nn.Module) -> None:
        super().__init__()
        self.config = config
        self.classes = config.classes
        # `text` embeds, frames and encodes. torch's own type hides its attributes.
        self.text: Any = text
        self.attention: Any = attention

    def embed(self, batch: Batch) -> Tensor:
        self.expect_words(batch)
        embedded: Tensor = self.text.embed(batch.items)
        return embedded

    def expect_words(self, batch: Batch) -> None:
        """Raise a ValueError if the items of the batch are sentences."""
        if batch.sentences is not None:
            raise ValueError("the items of this batch are sentences, but this model reads words")

    def contextualise(self, embedded: Tensor, batch: Batch) -> States:
        items: Tensor = self.text.encoder(self.text.frame(embedded, batch.mask))
        return States(items, batch.mask, self.query_state(batch), batch.allowed, batch.imposed)

    def encode(self, batch: Batch) -> States:
        return self.contextualise(self.embed(batch), batch)

    def attend(self, states: States) -> Tensor:
        if states.imposed is not None:
            return states.imposed
        return attention_weights(self.attention, states.items, states.mask, states.query)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return decode(self.head, states.items, weights, states.query, states.allowed)

    @property
    def item_bytes(self) -> int:
        """The working memory of an audit per item of a batch."""
        return max(_AUDIT_BYTES_PER_UNIT * self.config.size, _PERMUTATION_BYTES)

    @property
    def fades(self) -> bool:
        """True if the encoder has no limited reach: then the effect of a change fades."""
        return self.text.encoder.reach is None

    @torch.no_grad()
    def logits_without_each(
        self, batch: Batch, *, exact: bool = True, recording: Recording | None = None
    ) -> Tensor:
        """Logits (B, T, C) of each document without its t-th item."""
        if recording is not None:
            order = recording.order
            logits = self._changed(batch.take(order), recording.frame, None, exact)
        else:
            order = longest_first(batch)
            chunks = (batch.take(rows) for rows in torch.split(order, self._rows_per_chunk(batch)))
            parts = [self._changed(chunk, self._frame(chunk), None, exact) for chunk in chunks]
            logits = torch.cat(parts)
        return logits[order.argsort()]

    @torch.no_grad()
    def record(self, batch: Batch) -> Recording | None:
        """Encode the batch and keep what gradients and leave-one-out need.

        None if the encoder is not a BiLSTM, or if a batch of this size is not read at once.
        """
        encoder = self.text.encoder
        if not isinstance(encoder, BiLSTM) or len(batch.ids) > self._rows_per_chunk(batch):
            return None
        order = longest_first(batch)
        frame = encoder.read(self._frame(batch.take(order)))
        items = frame.states[order.argsort()]
        states = States(items, batch.mask, self.query_state(batch), batch.allowed, batch.imposed)
        return Recording(states, frame, order)

    @torch.no_grad()
    def logits_with_each_replaced(
        self, batch: Batch, replacement: Tensor, *, exact: bool = True
    ) -> Tensor:
        """Logits with `replacement` (B, T) or (B, R, T) in place of each item."""
        several = replacement[:, None] if replacement.dim() == 2 else replacement
        count, turns, length = several.shape
        items = several.reshape(count * turns, length)
        order = batch.lengths.repeat_interleave(turns).argsort(descending=True, stable=True)
        parts = []
        for rows in torch.split(order, self._rows_per_chunk(batch)):
            chunk = batch.take(rows // turns)
            substitutes = self.embed(replace(chunk, items=items[rows] * chunk.mask))
            parts.append(self._changed(chunk, self._frame(chunk), substitutes, exact))
        logits = torch.cat(parts)[order.argsort()]
        return logits.reshape(*replacement.shape, logits.shape[-1])

    def _rows_per_chunk(self, batch: Batch) -> int:
        """Documents per chunk, so that memory does not depend on the size of the batch."""
        states_per_document = batch.items.shape[1] * self.config.size * _BYTES_PER_STATE
        return max(1, CHANGE_BYTES // max(1, states_per_document))

    def _frame(self, batch: Batch) -> Frame:
        """The embedded documents, with equal items known as such."""
        frame: Frame = self.text.frame(self.embed(batch), batch.mask)
        return replace(frame, names=batch.items)

    def _changed(
        self, batch: Batch, frame: Frame, substitutes: Tensor | None, exact: bool
    ) -> Tensor:
        """Logits of a chunk, whose documents are sorted, the longest first."""
        readout = Readout(self.attention, self.head, self.query_state(batch), batch.allowed)
        return logits_after_each_change(self.text.encoder, readout, frame, substitutes, exact=exact)

    def kept_per_scaled_item(self, *, gradient: bool) -> int | None:
        """A recurrent encoder keeps what attention and head read of a state, not the state.

        A gradient also needs the gates, cells, states and their gradients, and several copies of
        what is read.
        """
        if not isinstance(self.text.encoder, BiLSTM):
            return None
        read = len(self.attention.projection()) + len(self.head.projection())
        return 7 * self.config.size + 5 * read if gradient else read

    def logits_with_scaled_items(self, batch: Batch, scales: Tensor) -> Tensor:
        """Logits (B, S, C) of S copies of each document, whose embeddings are scaled (B, S, T)."""
        frame, encoder = self.text.frame(self.embed(batch), batch.mask), self.text.encoder
        if isinstance(encoder, BiLSTM) and batch.imposed is None:
            readout = Readout(self.attention, self.head, self.query_state(batch), batch.allowed)
            return readout.of_copies(scaled_projections(encoder, frame, scales, readout.projection))
        items = scaled_states(encoder, frame, scales)
        documents, copies = scales.shape[:2]
        query, allowed, imposed = (
            None if part is None else part.repeat_interleave(copies, 0)
            for part in (self.query_state(batch), batch.allowed, batch.imposed)
        )
        mask = batch.mask.repeat_interleave(copies, 0)
        states = States(items.flatten(0, 1), mask, query, allowed, imposed)
        return self.decode(states, self.attend(states)).view(documents, copies, -1)

    @torch.no_grad()
    def logits_of_copies(self, batch: Batch) -> Tensor:
        """Logits (B, C) of a batch of changed copies of documents, many of which begin alike."""
        encoder = self.text.encoder
        if not isinstance(encoder, BiLSTM) or batch.imposed is not None:
            states = self.encode(batch)
            return self.decode(states, self.attend(states))
        names, numbers = torch.unique(batch.items, return_inverse=True)
        readout = Readout(self.attention, self.head, self._shared_query(batch), batch.allowed)
        projected = projected_texts(
            encoder,
            self.text.embed(names),
            numbers.masked_fill(~batch.mask, ENDED),
            (self.text.markers[0], self.text.markers[1]),
            readout.projection,
        )
        return readout.of_texts(projected, batch.mask.T)

    def _shared_query(self, batch: Batch) -> Tensor | None:
        """The states (B, m) of the queries; equal queries are read once."""
        if batch.query is None:
            return self.query_state(batch)
        distinct, place = torch.unique(batch.query, dim=0, return_inverse=True)
        rows = place.new_zeros(len(distinct)).scatter_(
            0, place, torch.arange(len(place), device=place.device)
        )
        state = self.query_state(batch.take(rows))
        return None if state is None else state[place]

    def query_state(self, batch: Batch) -> Tensor | None:
        """The last state (B, m) of the query; None if there is no second text."""
        return None


def longest_first(batch: Batch) -> Tensor:
    """The rows of the batch (B,), sorted by length."""
    return batch.lengths.argsort(descending=True, stable=True)


class Classifier(Network):
    """One text and one label; the logits are affine in the attention weights."""

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
        self.second = TextEncoder(config)
        self.head = PairHead(config.size, len(config.classes))

    def query_state(self, batch: Batch) -> Tensor:
        if batch.query is None or batch.query_mask is None:
            raise ValueError("a pair model needs batches with a query, but this batch has none")
        frame = self.second.frame(self.second.embed(batch.query), batch.query_mask)
        return self.second.encoder.last(frame)
