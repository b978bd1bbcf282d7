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
from assay.models.dropout import dropping
from assay.pacing import Pace, clip
from assay.recipes import Recipe, Regime

EVALUATION_CELLS = 16_384  # padded items per evaluation batch
Loss = Callable[[Network, Batch], Tensor]
Measure = Callable[[Network, EncodedSplit], float]
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
    measured = dev_metric(corpus)
    return learn(model, split, dev, recipe, task_loss(corpus), measured, order_seed, track)


def learn(
    model: Network,
    split: EncodedSplit,
    dev: EncodedSplit,
    recipe: Recipe,
    loss: Loss,
    measured: tuple[str, Measure],
    order_seed: int,
    track: Track,
) -> Training:
    """Fit to the loss and keep the epoch that is best on dev, as the recipe has it."""
    metric, measure = measured
    pace, regime = Pace(recipe), recipe.regime
    losses = fit(model, split, recipe, loss, order_seed, track, pace)

    def judge(_: float) -> float:
        value = measure(model, dev)
        pace.see(value)
        return value

    if regime is None:
        return keep_best(model, losses, metric, judge)
    return keep_best(model, losses, metric, judge, regime.patience, spared=0)


def keep_best(
    model: Network,
    losses: Iterable[float],
    metric: str,
    judge: Callable[[float], float],
    patience: int | None = None,
    spared: int = 1,
) -> Training:
    """Run through the epochs and leave the best in the model: the earliest among equals.

    `judge` says how good the model is after an epoch, which it may tell from the loss. With
    `patience`, training stops after so many epochs in a row without a better one. The first
    `spared` epochs are kept only for want of others.
    """
    epochs: list[Epoch] = []
    best: dict[str, Tensor] = {}
    best_epoch = 0
    for epoch, loss in enumerate(losses, 1):
        epochs.append(Epoch(epoch, loss, judge(loss)))
        candidates = epochs[spared:] or epochs
        if epochs[-1] is max(candidates, key=lambda e: e.dev):
            best = {name: value.clone() for name, value in model.state_dict().items()}
            best_epoch = epoch
        elif patience is not None and epoch - best_epoch >= patience:
            break
    model.load_state_dict(best)
    model.eval()
    return Training(metric, tuple(epochs), best_epoch)


def fit(
    model: Network,
    split: EncodedSplit,
    recipe: Recipe,
    loss: Loss,
    order_seed: int,
    track: Track,
    pace: Pace | None = None,
) -> Iterable[float]:
    """Train epoch by epoch; yields the mean loss per document after each.

    `pace` holds the rate of the next epoch; without one it stays as the recipe has it.
    """
    optimiser = _optimiser(model, recipe)
    pace = pace or Pace(recipe)
    rng = np.random.default_rng(order_seed)
    chance = torch.Generator(next(model.parameters()).device).manual_seed(order_seed)
    rates = {} if recipe.regime is None else dict(recipe.regime.dropout)
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        for group in optimiser.param_groups:
            group["lr"] = pace.rate
        batches = training_batches(split.lengths, recipe.batch_size, rng)
        total = torch.zeros((), dtype=torch.float64)
        with dropping(model, rates, chance):
            for rows in track(batches, f"epoch {epoch} of {recipe.epochs}", len(batches)):
                total += _step(model, split.batch(rows.tolist()), loss, optimiser, recipe.regime)
        model.eval()
        yield float(total) / len(split.documents)


def _step(
    model: Network,
    batch: Batch,
    loss: Loss,
    optimiser: torch.optim.Optimizer,
    regime: Regime | None,
) -> Tensor:
    """One batch; returns its loss."""
    optimiser.zero_grad(set_to_none=True)
    value = loss(model, batch.to(next(model.parameters()).device))
    if regime is None:
        value.backward()  # type: ignore[no-untyped-call]
    else:
        (value / len(batch.ids)).backward()  # type: ignore[no-untyped-call]
        clip(model, regime)
    optimiser.step()
    return value.detach().double().cpu()


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


def dev_metric(corpus: Corpus) -> tuple[str, Measure]:
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
    amsgrad = recipe.regime is None
    return torch.optim.Adam(groups, lr=recipe.learning_rate, amsgrad=amsgrad, fused=True)
