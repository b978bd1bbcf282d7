"""Fine-tuning of a Hugging Face encoder, as a trainer: deterministic and resumable by epoch.

The encoder starts from its pre-trained weights, the head from new ones drawn by the seed. Dropout
is off and the order of an epoch is a function of seed and epoch, so a training that was stopped
after any epoch ends with the same bytes (`assay.training.checkpoints`).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch, EncodedSplit, evaluation_batches, training_batches
from assay.data.corpus import Document
from assay.errors import UserError
from assay.models.adapters.site import Site
from assay.models.adapters.transformer import AttachedTransformer
from assay.models.imposed import impose
from assay.models.protocol import Model
from assay.models.view import predict
from assay.statistics.divergence import class_probabilities, decisions, tvd
from assay.training.checkpoints import EpochCheckpoints, Part, Progress
from assay.training.loop import EVALUATION_CELLS, Training, keep_best
from assay.training.objectives import TINY, masked_kl
from assay.training.trainer import AttentionRequest, TrainingCorpus

CHECKPOINT = "checkpoint.safetensors"
WARM_UP = 0.1  # of all steps, with a rising learning rate; then it falls to zero
WEIGHT_DECAY = 0.01
GRADIENT_NORM = 1.0
Loss = Callable[[Model, Batch], Tensor]  # the mean per document


@dataclass(frozen=True)
class FineTuning:
    """A trainer that fine-tunes a Hugging Face encoder with a new head."""

    pretrained: str  # a folder written by `save_pretrained`, or a name on the Hugging Face Hub
    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    download: bool = False
    device: str = "cpu"
    site: Site | None = None  # where attention is read and imposed; None: as for `huggingface`

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "learning_rate"):
            if getattr(self, name) <= 0:
                raise UserError(f"{name} {getattr(self, name)} is too low: pass more than 0.")

    def identity(self) -> dict[str, Any]:
        """Everything that can change the result, with a hash of the folder's files."""
        from assay.models.adapters.new_classifier import pretrained_digest  # transformers is slow

        site = None if self.site is None else str(self.site)
        record = {**asdict(self), "site": site, "pretrained": pretrained_digest(self.pretrained)}
        del record["download"]
        return record

    def __call__(
        self, seed: int, attention: AttentionRequest, corpus: TrainingCorpus, folder: Path
    ) -> Model:
        """A fine-tuned model with this attention; `training_losses` holds its loss by epoch."""
        from assay.models.adapters.huggingface import attach  # transformers takes seconds
        from assay.models.adapters.new_classifier import new_classifier

        network, tokenizer = new_classifier(
            self.pretrained, corpus.classes, seed=seed, download=self.download
        )
        site = {} if self.site is None else asdict(self.site)
        attached = attach(network.to(self.device), tokenizer, **site)
        model: Model = attached
        if attention.kind in ("uniform", "imposed"):
            weights = attention.weights if attention.kind == "imposed" else None
            model = impose(attached, weights)
        splits = _read_splits(attached, corpus)
        training = _fit(self, model, network, splits, attention, seed, folder / CHECKPOINT)
        network.requires_grad_(False)
        vars(model)["training_losses"] = tuple(epoch.loss for epoch in training.epochs)
        return model


def _read_splits(model: AttachedTransformer, corpus: TrainingCorpus) -> dict[str, EncodedSplit]:
    """Train and dev as the model reads them, with their own ids."""
    named = {"train": corpus.train, "dev": corpus.dev}
    read = {name: _read(model, corpus, documents) for name, documents in named.items()}
    classes = len(corpus.classes)
    # The vocabulary grows with the texts that are read, so it is taken after all of them.
    return {
        name: EncodedSplit.encode(documents, model.vocabulary, classes)
        for name, documents in read.items()
    }


def _read(
    model: AttachedTransformer, corpus: TrainingCorpus, documents: Sequence[Document]
) -> list[Document]:
    texts: list[Any] = [corpus.texts[document.id] for document in documents]
    found = model.corpus(texts, [corpus.classes[document.label] for document in documents]).test
    if len(found) != len(documents):
        raise UserError(
            f"{len(documents) - len(found)} of {len(documents)} training texts have no words for "
            "the tokenizer of the pre-trained model: leave them out."
        )
    return [replace(one, id=given.id) for one, given in zip(found, documents, strict=True)]


def _fit(
    recipe: FineTuning,
    model: Model,
    network: nn.Module,
    splits: dict[str, EncodedSplit],
    attention: AttentionRequest,
    seed: int,
    checkpoint: Path,
) -> Training:
    """Train in place and leave the best epoch in the network: by accuracy on dev, or by loss.

    An imitation does not learn the labels; as published, it is selected by its training loss.
    """
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=WEIGHT_DECAY
    )
    progress = Progress()
    parts: dict[str, Part] = {"network": network, "optimizer": optimizer, "progress": progress}
    checkpoints = EpochCheckpoints(checkpoint, parts, long_epoch=0.0)
    checkpoints.restore()
    imitating = attention.kind == "imitating"
    steps = _Steps(network, optimizer, recipe, len(splits["train"].documents))
    losses = (
        _train_epoch(
            model, splits["train"], imitation(attention) if imitating else task, steps, seed, epoch
        )
        for epoch in range(len(progress.epochs), recipe.epochs)
    )
    device = next(network.parameters()).device

    def judge(loss: float) -> float:
        return -loss if imitating else accuracy(model, splits["dev"], device)

    metric = "training loss" if imitating else "accuracy"
    return keep_best(
        network, losses, metric, judge, spared=0, progress=progress, checkpoints=checkpoints
    )


def _train_epoch(
    model: Model, split: EncodedSplit, loss: Loss, steps: "_Steps", seed: int, epoch: int
) -> float:
    """One pass over the documents, epochs counted from 0; returns the mean loss per document."""
    batches = training_batches(
        split.lengths, steps.recipe.batch_size, np.random.default_rng([seed, epoch])
    )
    total = 0.0
    for number, rows in enumerate(batches, epoch * len(batches)):
        value = loss(model, split.batch(rows.tolist()).to(steps.device))
        steps.take(value, number)
        total += float(value.detach()) * len(rows)
    return total / len(split.documents)


class _Steps:
    """Updates of the parameters, with the learning rate of each step."""

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        recipe: FineTuning,
        documents: int,
    ) -> None:
        self.parameters = list(network.parameters())
        self.device = self.parameters[0].device
        self.optimizer = optimizer
        self.recipe = recipe
        self.number = recipe.epochs * -(-documents // recipe.batch_size)

    def take(self, loss: Tensor, number: int) -> None:
        """Step `number`: the learning rate rises, then falls to zero at the last one."""
        rising = (number + 1) / max(1.0, WARM_UP * self.number)
        share = min(1.0, rising, 1 - number / self.number)
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.learning_rate * share
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.parameters, GRADIENT_NORM)
        self.optimizer.step()


def task(model: Model, batch: Batch) -> Tensor:
    """Cross-entropy of the labels, mean per document."""
    return F.cross_entropy(predict(model, model.encode(batch)), batch.labels)


def imitation(request: AttentionRequest) -> Loss:
    """Half the TVD to the predictions minus lambda times the KL divergence of the weights."""

    def loss(model: Model, batch: Batch) -> Tensor:
        states = model.encode(batch)
        own = model.attend(states)
        probabilities = class_probabilities(predict(model, states))
        wanted = np.stack([request.predictions[name] for name in batch.ids])
        base = np.full(batch.mask.shape, TINY)
        for row, name in enumerate(batch.ids):
            base[row, : len(request.weights[name])] = request.weights[name]
        logs = torch.from_numpy(base).clamp_min(TINY).log().to(own)
        apart = tvd(probabilities, torch.from_numpy(wanted).to(probabilities)) / 2
        return (apart - request.lambda_ * masked_kl(own, logs, batch.mask)).mean()

    return loss


@torch.no_grad()
def accuracy(model: Model, split: EncodedSplit, device: torch.device | str = "cpu") -> float:
    """The share of documents whose class is predicted."""
    right = 0
    for rows in evaluation_batches(split.lengths, EVALUATION_CELLS):
        batch = split.batch(rows.tolist()).to(device)
        right += int((decisions(predict(model, model.encode(batch))) == batch.labels).sum())
    return right / len(split.documents)
