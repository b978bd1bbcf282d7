"""How much faster is our training loop than one with packed texts and plain Adam?

Both start from the same weights, see the same batches in the same order, and must end the epoch
with the same loss.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import numpy as np
import torch
from torch.nn import functional as F

from assay.bench.material import (
    SEED,
    PackedClassifier,
    frame,
    fresh_model,
    load,
    one_epoch,
    our_epoch,
    some_of,
)
from assay.bench.measurement import Bench, Figures, alone, race
from assay.data.batches import training_batches
from assay.data.corpus import Corpus
from assay.models.classifier import Network

DOCUMENTS = 1_600
TURNS = 5  # the ratio is the closest to its limit of all: more turns, steadier minimum
RELATIVE_TOLERANCE = 1e-3


def measure(corpus: Corpus, repeats: int = TURNS) -> Figures:
    """One epoch over the train documents of this corpus."""
    model = fresh_model(corpus)
    (plain_seconds, expected), (seconds, ours) = race(
        partial(plain_way, model, corpus), partial(our_way, model, corpus), repeats=repeats
    )
    return Figures(
        n=len(corpus.train),
        seconds=seconds,
        baseline_seconds=plain_seconds,
        equal=abs(ours - expected) <= RELATIVE_TOLERANCE * abs(expected),
        peak_mb=alone(prepare, corpus).peak_mb,
    )


def plain_way(start: Network, corpus: Corpus) -> float:
    """The mean loss per document over one epoch; `start` is left as it was."""
    model, recipe = PackedClassifier(start), one_epoch(corpus)
    texts = [corpus.vocabulary.encode(document.tokens) for document in corpus.train]
    labels = torch.tensor([float(document.label) for document in corpus.train])
    positive = (labels == 0).sum() / (labels == 1).sum()
    optimiser = plain_adam(model, recipe.learning_rate, recipe.weight_decay)
    sizes = np.array([len(text) for text in texts])
    total = 0.0
    for cut in training_batches(sizes, recipe.batch_size, np.random.default_rng(SEED)):
        rows = sorted(cut.tolist(), key=lambda row: -len(texts[row]))
        padded, lengths = frame([texts[row] for row in rows])
        logits = model(padded, lengths)[:, 0]
        loss = F.binary_cross_entropy_with_logits(
            logits, labels[rows], pos_weight=positive, reduction="sum"
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        total += loss.item()
    return total / len(texts)


def plain_adam(model: PackedClassifier, rate: float, decay: float) -> torch.optim.Adam:
    """Weight decay on everything but the attention."""
    attention = [*model.inner.parameters(), *model.direction.parameters()]
    rest = [*model.embedding.parameters(), *model.lstm.parameters(), *model.output.parameters()]
    groups = [
        {"params": rest, "weight_decay": decay},
        {"params": attention, "weight_decay": 0.0},
    ]
    return torch.optim.Adam(groups, lr=rate, amsgrad=True, fused=False)


def our_way(start: Network, corpus: Corpus) -> float:
    return our_epoch(deepcopy(start), corpus)


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our loop in a process of its own. Nothing is trained before: that is what is measured."""
    return partial(our_way, fresh_model(corpus), corpus)


REVIEWS = Bench(
    "training",
    "one epoch: packed texts and plain Adam, or unpacked texts and fused Adam",
    lambda: measure(some_of(load("reviews"), train=DOCUMENTS)),
    target=1.5,
)
