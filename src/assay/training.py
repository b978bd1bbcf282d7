"""How does a model learn its task, so that the same seeds give the same weights again?

One loop. Initial weights and the order of the data have seeds of their own; the epoch with the
best dev metric is kept, never the first and never by looking at test.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn import functional as F

from assay.batches import Batch, EncodedSplit, evaluation_batches, training_batches
from assay.corpora.corpus import Corpus
from assay.measures.divergence import decisions
from assay.models import Network
from assay.recipes import Recipe

EVALUATION_CELLS = 16_384  # padded items per evaluation batch
Loss = Callable[[Network, Batch], Tensor]
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]  # a progress bar: items, label, total


@dataclass(frozen=True)
class Epoch:
    epoch: int
    loss: float  # mean per document
    dev: float


@dataclass(frozen=True)
class Training:
    """What happened; the model itself holds the best epoch's weights."""

    metric: str
    epochs: tuple[Epoch, ...]
    best: int


def untracked(items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
    return items


def train(
    model: Network, corpus: Corpus, recipe: Recipe, *, order_seed: int, track: Track = untracked
) -> Training:
    """Fit `model` in place to the corpus's labels."""
    split = EncodedSplit.encode(corpus.train, corpus.vocabulary, len(corpus.classes))
    dev = EncodedSplit.encode(corpus.dev, corpus.vocabulary, len(corpus.classes))
    metric, measure = dev_metric(corpus)
    losses = fit(model, split, recipe, task_loss(corpus), order_seed, track)
    return keep_best(model, losses, metric, lambda loss: measure(model, dev))


def keep_best(
    model: Network,
    losses: Iterable[float],
    metric: str,
    judge: Callable[[float], float],
    patience: int | None = None,
) -> Training:
    """Run through the epochs and leave the best in the model: the earliest among equals.

    `judge` says how good the model is after an epoch, which it may tell from the loss. With
    `patience`, training stops after so many epochs in a row without a better one.
    """
    epochs: list[Epoch] = []
    best: dict[str, Tensor] = {}
    best_epoch = 0
    for epoch, loss in enumerate(losses, 1):
        epochs.append(Epoch(epoch, loss, judge(loss)))
        candidates = epochs[1:] or epochs
        if epochs[-1] is max(candidates, key=lambda e: e.dev):
            best = {name: value.clone() for name, value in model.state_dict().items()}
            best_epoch = epoch
        elif patience is not None and epoch - best_epoch >= patience:
            break
    model.load_state_dict(best)
    model.eval()
    return Training(metric, tuple(epochs), best_epoch)


def fit(
    model: Network, split: EncodedSplit, recipe: Recipe, loss: Loss, order_seed: int, track: Track
) -> Iterable[float]:
    """Train epoch by epoch; yields the mean loss per document after each."""
    optimiser = _optimiser(model, recipe)
    rng = np.random.default_rng(order_seed)
    device = next(model.parameters()).device
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        batches = training_batches(split.lengths, recipe.batch_size, rng)
        total = torch.zeros((), dtype=torch.float64)
        for rows in track(batches, f"epoch {epoch} of {recipe.epochs}", len(batches)):
            batch = split.batch(rows.tolist()).to(device)
            optimiser.zero_grad(set_to_none=True)
            value = loss(model, batch)
            value.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += value.detach().double().cpu()
        model.eval()
        yield float(total) / len(split.documents)


def task_loss(corpus: Corpus) -> Loss:
    """How far predictions are from the labels."""
    distance = label_loss(corpus)
    return lambda model, batch: distance(logits_of(model, batch), batch)


def label_loss(corpus: Corpus) -> Callable[[Tensor, Batch], Tensor]:
    """Of logits: summed over the batch for classification, averaged for pairs, as published."""
    counts = np.bincount([d.label for d in corpus.train], minlength=len(corpus.classes))
    weight = torch.tensor(counts[0] / max(counts[1], 1), dtype=torch.float32)

    def binary(logits: Tensor, batch: Batch) -> Tensor:
        positive = weight.to(logits.device)
        labels = batch.labels.to(logits.dtype)
        return F.binary_cross_entropy_with_logits(
            logits[:, 0], labels, pos_weight=positive, reduction="sum"
        )

    def several(logits: Tensor, batch: Batch) -> Tensor:
        reduction = "mean" if corpus.task == "pair" else "sum"
        return F.cross_entropy(logits, batch.labels, reduction=reduction)

    return binary if corpus.binary else several


def dev_metric(corpus: Corpus) -> tuple[str, Callable[[Network, EncodedSplit], float]]:
    """ROC-AUC for two classes, accuracy otherwise."""

    def auc(model: Network, split: EncodedSplit) -> float:
        logits, labels = predict(model, split)
        return float(roc_auc_score(labels.numpy(), logits[:, 0].numpy()))

    def accuracy(model: Network, split: EncodedSplit) -> float:
        logits, labels = predict(model, split)
        return float((decisions(logits) == labels).double().mean())

    return ("roc_auc", auc) if corpus.binary else ("accuracy", accuracy)


@torch.no_grad()
def predict(model: Network, split: EncodedSplit) -> tuple[Tensor, Tensor]:
    """Logits and labels in the split's order, on the CPU."""
    device = next(model.parameters()).device
    cuts = evaluation_batches(split.lengths, EVALUATION_CELLS)
    logits = [logits_of(model, split.batch(rows.tolist()).to(device)).cpu() for rows in cuts]
    back = torch.from_numpy(np.argsort(np.concatenate(cuts)))
    labels = torch.tensor([document.label for document in split.documents])
    return torch.cat(logits)[back], labels


def logits_of(model: Network, batch: Batch) -> Tensor:
    states = model.encode(batch)
    return model.decode(states, model.attend(states))


def _optimiser(model: Network, recipe: Recipe) -> torch.optim.Optimizer:
    attention = list(model.attention.parameters())
    spared = {id(parameter) for parameter in attention}
    rest = [parameter for parameter in model.parameters() if id(parameter) not in spared]
    decay = recipe.weight_decay
    groups = [
        {"params": rest, "weight_decay": decay},
        {"params": attention, "weight_decay": decay if recipe.decay_attention else 0.0},
    ]
    # Fused: one pass over parameters and moments instead of ten; the embedding dominates.
    return torch.optim.Adam(groups, lr=recipe.learning_rate, amsgrad=True, fused=True)
