"""The training loop. The same seeds give the same weights again.

The initial weights and the order of the data have seeds of their own. The epoch with the best
value on dev is kept; test is never looked at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from assay.data.batches import Batch, EncodedSplit, evaluation_batches, training_batches
from assay.data.corpus import Corpus
from assay.models.classifier import Network
from assay.models.hierarchical import active_dropout
from assay.progress import Track, untracked
from assay.statistics.classification import roc_auc
from assay.statistics.divergence import decisions
from assay.training.checkpoints import Epoch, EpochCheckpoints, Part, Progress
from assay.training.objectives import (
    AttentionPenalty,
    Imitation,
    Loss,
    Objective,
    imitation_loss,
    logits_of,
    penalized_loss,
    task_loss,
)
from assay.training.optimizer import clip_gradients, make_optimizer, plateau_schedule
from assay.training.recipes import Recipe, Regime

EVALUATION_CELLS = 16_384  # padded items per evaluation batch
LAST_SHARE = 0.05  # of the fall of the loss: less in the last epoch means that it has ended
Metric = Callable[[Network, EncodedSplit], float]


@dataclass(frozen=True)
class Training:
    """The history of a training; the model itself holds the weights of the best epoch."""

    metric: str
    epochs: tuple[Epoch, ...]
    best: int


def stopped_improving(losses: Sequence[float]) -> bool:
    """Whether the last epoch lowered the training loss by next to nothing.

    That is by less than `LAST_SHARE` of what all epochs since the first have lowered it by.
    """
    if len(losses) < 2:
        return False
    *before, last = losses
    return min(before) - last <= LAST_SHARE * (losses[0] - min(losses))


def train(
    network: Network,
    corpus: Corpus,
    recipe: Recipe,
    objective: Objective = None,
    *,
    order_seed: int,
    track: Track = untracked,
    checkpoint: Path | None = None,
) -> Training:
    """Train `network` in place on a corpus and keep its best epoch; see `fit`."""
    splits = {
        name: EncodedSplit.of(corpus, documents)
        for name, documents in (("train", corpus.train), ("dev", corpus.dev))
    }
    return fit(
        network,
        splits,
        corpus,
        recipe,
        objective,
        order_seed=order_seed,
        track=track,
        checkpoint=checkpoint,
    )


def fit(
    network: Network,
    splits: Mapping[str, EncodedSplit],  # train and dev
    corpus: Corpus,
    recipe: Recipe,
    objective: Objective = None,
    *,
    order_seed: int,
    patience: int | None = None,
    track: Track = untracked,
    checkpoint: Path | None = None,
) -> Training:
    """Train `network` in place for an objective and keep its best epoch.

    A model that learns the task is selected by its dev metric, one with an attention penalty by
    its own loss on dev, and an imitation, as published, by its training loss, with `patience`.
    With a `checkpoint`, which is the path of a file, the training continues after the epoch saved
    there, and long epochs are saved.
    """
    train, dev = splits["train"], splits["dev"]
    optimizer = make_optimizer(network, recipe)
    goal = _goal(network, dev, corpus, recipe, objective, optimizer=optimizer, patience=patience)
    draws, progress = Draws.seeded(order_seed, network), Progress()
    parts: dict[str, Part] = {"network": network, "optimizer": optimizer, "progress": progress}
    parts |= {"order": draws.order, "dropout": draws.dropout}
    if goal.schedule is not None:
        parts["schedule"] = goal.schedule
    checkpoints = EpochCheckpoints(checkpoint, parts)
    checkpoints.restore()
    losses = train_epochs(
        network,
        train,
        recipe,
        goal.loss,
        optimizer,
        draws,
        track,
        done=len(progress.epochs),
    )
    return keep_best(
        network,
        losses,
        goal.metric,
        goal.judge,
        goal.patience,
        spared=goal.spared,
        progress=progress,
        checkpoints=checkpoints,
    )


@dataclass(frozen=True)
class _Goal:
    """The loss of a training, and how its epochs are compared."""

    loss: Loss
    metric: str
    judge: Callable[[float], float]  # the quality of the network, given the epoch's loss
    schedule: ReduceLROnPlateau | None = None
    patience: int | None = None
    spared: int = 1


def _goal(
    network: Network,
    dev: EncodedSplit,
    corpus: Corpus,
    recipe: Recipe,
    objective: Objective,
    *,
    optimizer: torch.optim.Optimizer,
    patience: int | None,
) -> _Goal:
    if isinstance(objective, Imitation):
        loss = imitation_loss(objective.base, objective.weight)
        return _Goal(loss, "training loss", lambda loss: -loss, patience=patience)
    if isinstance(objective, AttentionPenalty):
        penalized = penalized_loss(corpus, (*corpus.train, *corpus.dev), objective)
        return _Goal(penalized, "dev loss", lambda _: -mean_loss(network, dev, penalized))
    metric, measure = dev_metric(corpus)
    if recipe.regime is None:
        return _Goal(task_loss(corpus), metric, lambda _: measure(network, dev))
    schedule = plateau_schedule(optimizer)

    def judge(_: float) -> float:
        value = measure(network, dev)
        schedule.step(value)
        return value

    return _Goal(task_loss(corpus), metric, judge, schedule, recipe.regime.patience, spared=0)


def keep_best(
    model: nn.Module,
    losses: Iterable[float],
    metric: str,
    judge: Callable[[float], float],
    patience: int | None = None,
    spared: int = 1,
    *,
    progress: Progress | None = None,
    checkpoints: EpochCheckpoints | None = None,
) -> Training:
    """Run through the epochs and leave the best one in the model; the earliest among equals.

    `judge` returns the quality of the model after an epoch, given that epoch's loss. With
    `patience`, training stops after that many epochs in a row without a better one. The first
    `spared` epochs are kept only if there are no others. `progress` holds the epochs of a training
    that continues; `losses` are those that follow.
    """
    progress = progress or Progress()
    checkpoints = checkpoints or EpochCheckpoints(None, {})
    epochs = progress.epochs
    for epoch, loss in enumerate(losses, len(epochs) + 1):
        epochs.append(Epoch(epoch, loss, judge(loss)))
        candidates = epochs[spared:] or epochs
        if epochs[-1] is max(candidates, key=lambda e: e.dev):
            progress.best = {name: value.clone() for name, value in model.state_dict().items()}
            progress.best_epoch = epoch
        elif patience is not None and epoch - progress.best_epoch >= patience:
            break
        checkpoints.after_epoch()
    model.load_state_dict(progress.best)
    model.eval()
    return Training(metric, tuple(epochs), progress.best_epoch)


@dataclass(frozen=True)
class Draws:
    """The random numbers of a training: the order of its documents, and its dropout."""

    order: np.random.Generator
    dropout: torch.Generator

    @classmethod
    def seeded(cls, seed: int, model: nn.Module) -> "Draws":
        device = next(model.parameters()).device
        return cls(np.random.default_rng(seed), torch.Generator(device).manual_seed(seed))


def train_epochs(
    model: Network,
    split: EncodedSplit,
    recipe: Recipe,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    draws: Draws,
    track: Track = untracked,
    *,
    done: int = 0,
) -> Iterator[float]:
    """Train epoch by epoch after those `done`, yielding the mean loss per document after each."""
    rates = {} if recipe.regime is None else dict(recipe.regime.dropout)
    for epoch in range(done + 1, recipe.epochs + 1):
        model.train()
        batches = training_batches(split.lengths, recipe.batch_size, draws.order)
        total = torch.zeros((), dtype=torch.float64)
        with active_dropout(model, rates, draws.dropout):
            for rows in track(batches, f"epoch {epoch} of {recipe.epochs}", len(batches)):
                total += _step(model, split.batch(rows.tolist()), loss, optimizer, recipe.regime)
        model.eval()
        yield float(total) / len(split.documents)


def _step(
    model: Network,
    batch: Batch,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    regime: Regime | None,
) -> Tensor:
    """One update; returns the loss of the batch."""
    optimizer.zero_grad(set_to_none=True)
    value = loss(model, batch.to(next(model.parameters()).device))
    if regime is None:
        value.backward()  # type: ignore[no-untyped-call]
    else:
        (value / len(batch.ids)).backward()  # type: ignore[no-untyped-call]
        clip_gradients(model, regime)
    optimizer.step()
    return value.detach().double().cpu()


def dev_metric(corpus: Corpus) -> tuple[str, Metric]:
    """ROC-AUC for two classes, accuracy otherwise."""

    def auc(model: Network, split: EncodedSplit) -> float:
        logits, labels = predict(model, split)
        return roc_auc(labels.numpy() == 1, logits[:, 0].numpy())

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


@torch.no_grad()
def mean_loss(network: Network, split: EncodedSplit, loss: Loss) -> float:
    """The mean of a loss per document of a split."""
    device = next(network.parameters()).device
    cuts = evaluation_batches(split.lengths, EVALUATION_CELLS)
    values = [float(loss(network, split.batch(rows.tolist()).to(device))) for rows in cuts]
    return sum(values) / len(split.documents)
