"""Trainers of a small model of the user's own, good and broken, and a table to train it on."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import assay
from assay.data.batches import Batch
from assay.models.protocol import Model, States
from assay.training.trainer import AttentionRequest, TrainingCorpus

CLASSES = ("bad", "good")
WORDS = ("awful", "bad", "dull", "fine", "good", "great", "film", "plot", "the", "a", "was")
CUES = {0: ("awful", "bad", "dull"), 1: ("fine", "good", "great")}
SIZE, EPOCHS, RATE = 8, 12, 0.05
CALLS: list[tuple[int, str]] = []  # (seed, attention) of every call in this process


class OwnModel(nn.Module):
    """Attention over word vectors and a linear head, with a vocabulary of its own."""

    classes = CLASSES
    words = WORDS

    def __init__(self, seed: int, scale: float = 1.0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        table = torch.randn(len(WORDS) + 4, SIZE, generator=generator) * scale
        self.table = nn.Parameter(table)
        self.query = nn.Parameter(torch.randn(SIZE, generator=generator))
        self.head = nn.Parameter(torch.randn(SIZE, 2, generator=generator))

    def tokenize(self, text: str) -> list[str]:
        return text.split()

    def encode(self, batch: Batch) -> States:
        return States(self.table[batch.items], batch.mask)

    def attend(self, states: States) -> Tensor:
        scores = (states.items @ self.query).masked_fill(~states.mask, -1e30)
        return torch.softmax(scores, -1) * states.mask

    def decode(self, states: States, weights: Tensor) -> Tensor:
        proposals = weights if weights.dim() == 3 else weights[:, None]
        logits = torch.bmm(proposals, states.items) @ self.head
        return logits if weights.dim() == 3 else logits[:, 0]


def load() -> Model:
    """The audited model: as the trainer trains it, with a seed of its own."""
    corpus = TrainingCorpus(CLASSES, *_documents(), {})
    return _trained(OwnModel(7), AttentionRequest("own"), corpus)


def train(seed: int, attention: AttentionRequest, corpus: TrainingCorpus) -> Model:
    """A whole trainer: every kind of attention but imposed weights."""
    CALLS.append((seed, str(attention)))
    model = OwnModel(seed)
    return _trained(
        assay.impose(model) if attention.kind == "uniform" else model, attention, corpus
    )


def _trained(model: Any, attention: AttentionRequest, corpus: TrainingCorpus) -> Model:
    inner = getattr(model, "model", model)
    optimizer = torch.optim.Adam(inner.parameters(), lr=RATE)
    batch = as_batch(corpus)
    losses = []
    for _ in range(EPOCHS):
        states = model.encode(batch)
        weights = model.attend(states)
        logits = model.decode(states, weights)
        loss = nn.functional.cross_entropy(logits, batch.labels)
        if attention.kind == "imitating":
            loss = _imitation(logits, weights, attention, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    inner.requires_grad_(False).eval()
    model.training_losses = losses
    found: Model = model
    return found


def _imitation(logits: Tensor, weights: Tensor, request: AttentionRequest, batch: Batch) -> Tensor:
    wanted = torch.from_numpy(np.stack([request.predictions[name] for name in batch.ids]))
    apart = (logits.softmax(-1) - wanted).abs().sum(-1) / 4
    base = torch.zeros(batch.mask.shape, dtype=torch.float64)
    for row, name in enumerate(batch.ids):
        base[row, : len(request.weights[name])] = torch.from_numpy(request.weights[name])
    ratio = weights.clamp_min(1e-9).log() - base.clamp_min(1e-9).log()
    return (apart - request.lambda_ * (weights * ratio).sum(-1)).mean()


def as_batch(corpus: TrainingCorpus) -> Batch:
    """The training documents as one batch of the model's own indices."""
    longest = max(len(one.tokens) for one in corpus.train)
    items = torch.zeros(len(corpus.train), longest, dtype=torch.long)
    for row, one in enumerate(corpus.train):
        items[row, : len(one.tokens)] = torch.tensor([WORDS.index(t) + 4 for t in one.tokens])
    labels = torch.tensor([one.label for one in corpus.train])
    return Batch(tuple(one.id for one in corpus.train), items, items > 0, labels)


# Trainers with a mistake.


def forgets_uniform(seed: int, attention: AttentionRequest, corpus: TrainingCorpus) -> Model:
    return _trained(OwnModel(seed), AttentionRequest("own"), corpus)


def returns_nothing(seed: int, attention: AttentionRequest, corpus: TrainingCorpus) -> None:
    OwnModel(seed)


def cuts_otherwise(seed: int, attention: AttentionRequest, corpus: TrainingCorpus) -> Model:
    model = OwnModel(seed)
    object.__setattr__(model, "tokenize", lambda text: [*text.split(), "film"])
    return _trained(model, attention, corpus)


def crashes(seed: int, attention: AttentionRequest, corpus: TrainingCorpus) -> Model:
    raise ValueError("no GPU here")


def needs_more(seed: int, corpus: TrainingCorpus) -> None:
    pass


class Imposing:
    """Also trains the models with imposed weights, and counts how often it was asked."""

    trains_imposed = True

    def __init__(self) -> None:
        self.asked: list[tuple[int, AttentionRequest]] = []

    def __call__(self, seed: int, attention: AttentionRequest, corpus: TrainingCorpus) -> Model:
        self.asked.append((seed, attention))
        if attention.kind == "imposed":
            return _trained(assay.impose(OwnModel(seed), attention.weights), attention, corpus)
        return train(seed, attention, corpus)


# Data.


def rows(count: int = 48, seed: int = 0) -> list[tuple[str, str, str]]:
    """Split, text and label of every row: one cue word among others decides."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        label = number % 2
        length = int(rng.integers(3, 7))
        tokens = rng.choice(WORDS[6:], length).tolist()
        tokens[int(rng.integers(length))] = str(rng.choice(CUES[label]))
        split = ("train", "train", "dev", "test")[(number // 2) % 4]
        made.append((split, " ".join(tokens), CLASSES[label]))
    return made


def write_table(path: Path, made: Sequence[tuple[str, str, str]] | None = None) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["split", "text", "label"])
        table.writerows(rows() if made is None else made)
    return path


def _documents() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    from assay.data.corpus import Document

    documents = [
        (split, Document(str(number), tuple(text.split()), CLASSES.index(label)))
        for number, (split, text, label) in enumerate(rows())
    ]
    train_, dev = ([one for split, one in documents if split == name] for name in ("train", "dev"))
    return tuple(train_), tuple(dev)
