"""Documents and models of the benchmark rows, including the baseline model.

The model has the papers' sizes: a BiLSTM with 128 units per direction, additive attention and
300-dimensional embeddings. It is trained for one short epoch, so that its weights and logits are
not those of a random model; the time does not depend on them.

The baseline model is the same network as the papers' programs write it: one packed, bidirectional
`nn.LSTM`. It copies the weights of one of our networks, so that both must give the same
predictions.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from assay.data.batches import Batch, EncodedSplit, evaluation_batches
from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus
from assay.data.vocabulary import END, PAD, START
from assay.models.attention import Additive
from assay.models.build import build_model
from assay.models.classifier import Network
from assay.models.heads import AffineHead
from assay.models.recurrent import BiLSTM
from assay.runs.audit import AUDIT_CELLS
from assay.training.loop import Draws, train_epochs
from assay.training.objectives import task_loss
from assay.training.optimizer import make_optimizer
from assay.training.recipes import Recipe, configure, recipe_for

SEED = 2019
TRAIN_DOCUMENTS = 960
BASELINE_BATCH = 32  # as published


@lru_cache(maxsize=1)
def load(name: str) -> Corpus:
    return load_corpus(name)


def truncate(corpus: Corpus, *, train: int = TRAIN_DOCUMENTS, test: int = 0) -> Corpus:
    """The corpus with only the first documents of each split and the same vocabulary."""
    return replace(corpus, train=corpus.train[:train], dev=(), test=corpus.test[:test])


def one_epoch(corpus: Corpus) -> Recipe:
    return replace(recipe_for(corpus, "paper"), epochs=1)


def fresh_model(corpus: Corpus) -> Network:
    config = configure(corpus, one_epoch(corpus), encoder="bilstm", attention="additive")
    return build_model(config, SEED).eval()


def trained_model(corpus: Corpus) -> Network:
    model = fresh_model(corpus)
    our_epoch(model, corpus)
    return model


def our_epoch(model: Network, corpus: Corpus) -> float:
    """Train a model in place for one epoch; returns the mean loss per document."""
    split = EncodedSplit.of(corpus, corpus.train)
    recipe = one_epoch(corpus)
    optimizer = make_optimizer(model, recipe)
    [loss] = train_epochs(
        model, split, recipe, task_loss(corpus), optimizer, Draws.seeded(SEED, model)
    )
    return loss


def audit_batches(corpus: Corpus) -> list[Batch]:
    """The test documents in the batches of an audit."""
    split = EncodedSplit.of(corpus, corpus.test)
    return [split.batch(rows.tolist()) for rows in evaluation_batches(split.lengths, AUDIT_CELLS)]


def baseline_batches(corpus: Corpus, count: int | None = None) -> list[Batch]:
    """The test documents in batches of similar length, the longest first, as published.

    With a count, only that many batches, evenly spaced so that their mean length is that of all.
    """
    split = EncodedSplit.of(corpus, corpus.test)
    order = (-split.lengths).argsort(kind="stable")
    cuts = [order[start : start + BASELINE_BATCH] for start in range(0, len(order), BASELINE_BATCH)]
    return [split.batch(cut.tolist()) for cut in evenly_spaced(cuts, count)]


def evenly_spaced(cuts: list[np.ndarray], count: int | None) -> list[np.ndarray]:
    """The middle batch of each of `count` equal stretches; all batches if there are no more."""
    if count is None or count >= len(cuts):
        return cuts
    return [cuts[(2 * turn + 1) * len(cuts) // (2 * count)] for turn in range(count)]


class PackedClassifier(nn.Module):
    """Embedding, bidirectional LSTM over packed texts, additive attention, affine head."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        encoder, attention, head = network.text.encoder, network.attention, network.head
        assert isinstance(encoder, BiLSTM)
        assert isinstance(attention, Additive)
        assert isinstance(head, AffineHead)
        self.embedding = deepcopy(network.text.embedding)
        # As in the papers, the markers are ordinary words.
        self.embedding.weight.data[START] = network.text.markers.data[0]
        self.embedding.weight.data[END] = network.text.markers.data[1]
        self.lstm = _bidirectional_lstm(encoder)
        self.inner = deepcopy(attention.items)
        self.direction = deepcopy(attention.direction)
        self.output = deepcopy(head.output)

    def forward(self, texts: Tensor, lengths: Tensor) -> Tensor:
        """The logits (B, C) of framed texts (B, L), the longest first."""
        states = self.read(self.embedding(texts), lengths)
        return self.decode(states, self.attend(states, lengths))

    def read(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """The states (B, L, m), including those of the markers."""
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)
        encoded, _ = self.lstm(packed)
        length = embedded.shape[1]
        states: Tensor = pad_packed_sequence(encoded, batch_first=True, total_length=length)[0]
        return states

    def attend(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The weights (B, L); zero on the markers."""
        scores: Tensor = self.direction(torch.tanh(self.inner(states)))[..., 0]
        places = torch.arange(states.shape[1])
        real = (places > 0) & (places < lengths[:, None] - 1)
        # The second fill handles a text without items, whose softmax does not exist.
        return scores.masked_fill(~real, -math.inf).softmax(1).masked_fill(~real, 0)

    def decode(self, states: Tensor, weights: Tensor) -> Tensor:
        logits: Tensor = self.output((weights[..., None] * states).sum(1))
        return logits


def frame(texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Add start and end markers and pad; returns texts and lengths, including the markers."""
    longest = max(len(text) for text in texts)
    rows = [[START, *text, END] + [PAD] * (longest - len(text)) for text in texts]
    return torch.tensor(rows), torch.tensor([len(text) + 2 for text in texts])


def _bidirectional_lstm(encoder: BiLSTM) -> nn.LSTM:
    lstm = nn.LSTM(
        encoder.forwards.input_size,
        encoder.forwards.hidden_size,
        batch_first=True,
        bidirectional=True,
    )
    forward, backward = encoder.forwards.state_dict(), encoder.backwards.state_dict()
    reverse = {f"{name}_reverse": value for name, value in backward.items()}
    lstm.load_state_dict(forward | reverse)
    return lstm
