"""Row for training: one epoch of our loop against packed texts and plain Adam.

Both start from the same weights, take the same batches in the same order, and must end the epoch
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
    truncate,
)
from assay.bench.measurement import Bench, Measurement, measure_in_new_process, time_in_turns
from assay.data.batches import training_batches
from assay.data.corpus import Corpus
from assay.models.classifier import Network

DOCUMENTS = 1_600
TURNS = 5  # this ratio is the closest to its target: more turns give a more stable minimum
RELATIVE_TOLERANCE = 1e-3


def measure(corpus: Corpus, repeats: int = TURNS) -> Measurement:
    """Measure one epoch over the train documents of a corpus."""
    model = fresh_model(corpus)
    (baseline_time, expected), (seconds, ours) = time_in_turns(
        partial(run_baseline, model, corpus), partial(run_optimized, model, corpus), repeats=repeats
    )
    return Measurement(
        n=len(corpus.train),
        seconds=seconds,
        baseline_seconds=baseline_time,
        equal=abs(ours - expected) <= RELATIVE_TOLERANCE * abs(expected),
        peak_mb=measure_in_new_process(prepare, corpus).peak_mb,
    )


def run_baseline(start: Network, corpus: Corpus) -> float:
    """The mean loss per document over one epoch; `start` is not changed."""
    model, recipe = PackedClassifier(start), one_epoch(corpus)
    texts = [corpus.vocabulary.encode(document.tokens) for document in corpus.train]
    labels = torch.tensor([float(document.label) for document in corpus.train])
    positive = (labels == 0).sum() / (labels == 1).sum()
    optimizer = baseline_adam(model, recipe.learning_rate, recipe.weight_decay)
    sizes = np.array([len(text) for text in texts])
    total = 0.0
    for cut in training_batches(sizes, recipe.batch_size, np.random.default_rng(SEED)):
        rows = sorted(cut.tolist(), key=lambda row: -len(texts[row]))
        padded, lengths = frame([texts[row] for row in rows])
        logits = model(padded, lengths)[:, 0]
        loss = F.binary_cross_entropy_with_logits(
            logits, labels[rows], pos_weight=positive, reduction="sum"
        )
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.item()
    return total / len(texts)


def baseline_adam(model: PackedClassifier, rate: float, decay: float) -> torch.optim.Adam:
    """Adam with weight decay on all parameters but those of the attention."""
    attention = [*model.inner.parameters(), *model.direction.parameters()]
    rest = [*model.embedding.parameters(), *model.lstm.parameters(), *model.output.parameters()]
    groups = [
        {"params": rest, "weight_decay": decay},
        {"params": attention, "weight_decay": 0.0},
    ]
    return torch.optim.Adam(groups, lr=rate, amsgrad=True, fused=False)


def run_optimized(start: Network, corpus: Corpus) -> float:
    """The mean loss per document over one epoch of our loop."""
    return our_epoch(deepcopy(start), corpus)


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare our loop for a process of its own, without a warm-up, which is part of the cost."""
    return partial(run_optimized, fresh_model(corpus), corpus)


REVIEWS = Bench(
    "training",
    "one epoch: packed texts and plain Adam, or unpacked texts and fused Adam",
    lambda: measure(truncate(load("reviews"), train=DOCUMENTS)),
    target=1.5,
)
