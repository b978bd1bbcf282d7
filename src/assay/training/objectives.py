"""Training objectives: the task, the task with an attention penalty, and imitation.

An objective is a function from a network and a batch to a loss. The loop in `training.loop`
minimizes it and knows nothing of what it means.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from assay.data.batches import Batch
from assay.data.corpus import Corpus, Document
from assay.models.classifier import Network
from assay.models.diverse import DiverseLSTM, conicity
from assay.models.protocol import States
from assay.statistics.divergence import class_probabilities, tvd
from assay.training.specs import Predictions

Loss = Callable[[Network, Batch], Tensor]
TINY = 1e-30  # smaller than any weight that matters; keeps logarithms and gradients finite


@dataclass(frozen=True)
class AttentionPenalty:
    """Trains the task while pushing attention away from, or towards, the marked items.

    Pushing it away is the objective of Pruthi et al. 2020: the task's loss plus
    -weight * log(1 - attention mass on the marked items). Pushing it towards the marked items is
    the mirror image, -weight * log(mass), and yields a model whose attention is known to be right.
    """

    weight: float
    towards: bool = False


@dataclass(frozen=True)
class Imitation:
    """Predict as the base model does while attending elsewhere; the labels are not used.

    Wiegreffe & Pinter 2019, section 4: half the TVD of the predictions minus `weight` times the
    KL divergence of the attention.
    """

    base: Predictions  # of the base model on the training split
    weight: float


Objective = AttentionPenalty | Imitation | None  # None: the task alone


def logits_of(model: Network, batch: Batch) -> Tensor:
    """The model's logits under its own attention."""
    states = model.encode(batch)
    return model.decode(states, model.attend(states))


def task_loss(corpus: Corpus) -> Loss:
    """The distance between predictions and labels, and the conicity that the encoder penalizes."""
    distance = label_loss(corpus)

    def loss(model: Network, batch: Batch) -> Tensor:
        states = model.encode(batch)
        logits = model.decode(states, model.attend(states))
        return distance(logits, batch) + conicity_penalty(model, states, corpus.task == "pair")

    return loss


def conicity_penalty(model: Network, states: States, averaged: bool) -> Tensor | float:
    """The weighted conicity of the states, for an encoder that learns with it; else 0."""
    encoder = getattr(getattr(model, "text", None), "encoder", None)
    if not isinstance(encoder, DiverseLSTM):
        return 0.0
    conicities = conicity(states.items, states.mask)
    return encoder.diversity * (conicities.mean() if averaged else conicities.sum())


def label_loss(corpus: Corpus) -> Callable[[Tensor, Batch], Tensor]:
    """Cross-entropy of logits: summed for classification and averaged for pairs, as published."""
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


def penalized_loss(
    corpus: Corpus, documents: Sequence[Document], penalty: AttentionPenalty
) -> Loss:
    """The task's loss plus the penalty, summed over documents.

    A document in which all items or no items are marked leaves attention no choice and is not
    penalized.
    """
    task = label_loss(corpus)
    averaged = corpus.task == "pair"  # for pairs the task's loss is a mean
    allowed = allowed_items(documents, penalty)

    def loss(model: Network, batch: Batch) -> Tensor:
        states = model.encode(batch)
        attention = model.attend(states)
        lengths = batch.lengths.tolist()
        rows = [
            allowed.get(name, torch.ones(n)) for name, n in zip(batch.ids, lengths, strict=True)
        ]
        wanted = pad_sequence([*rows, torch.zeros(batch.mask.shape[1])], batch_first=True)[:-1]
        # Summed rather than subtracted from one: a mass that rounds to one keeps a gradient.
        mass = (attention * wanted.to(attention.device)).sum(-1)
        log_penalty = -mass.clamp_min(TINY).log()
        missed = task(model.decode(states, attention), batch)
        missed = missed + conicity_penalty(model, states, averaged)
        return missed * (len(batch.ids) if averaged else 1) + penalty.weight * log_penalty.sum()

    return loss


def allowed_items(documents: Sequence[Document], penalty: AttentionPenalty) -> dict[str, Tensor]:
    """Where attention may lie (1) or not (0), for documents with marked and unmarked items."""
    return {
        document.id: torch.tensor([mark == penalty.towards for mark in marks], dtype=torch.float32)
        for document in documents
        if (marks := document.rationale) is not None and any(marks) and not all(marks)
    }


def imitation_loss(base: Predictions, weight: float) -> Loss:
    """Half the TVD to the base's prediction minus `weight` times KL, summed over documents.

    The factor one half is the published one, and all published weights refer to it.
    """
    place = {name: row for row, name in enumerate(base.ids)}
    predicted = torch.from_numpy(base.probabilities).float()
    logs = torch.from_numpy(base.attention).clamp_min(TINY).log().float()

    def loss(model: Network, batch: Batch) -> Tensor:
        rows = torch.tensor([place[name] for name in batch.ids])
        device, length = batch.mask.device, batch.mask.shape[1]
        states = model.encode(batch)
        attention = model.attend(states)
        probabilities = class_probabilities(model.decode(states, attention))
        apart = tvd(probabilities, predicted[rows].to(device)) / 2
        away = masked_kl(attention, logs[rows, :length].to(device), batch.mask)
        return (apart - weight * away).sum()

    return loss


def masked_kl(weights: Tensor, logs: Tensor, mask: Tensor) -> Tensor:
    """KL divergence of weights from others given as logarithms, over real items; finite."""
    outcomes = weights * (weights.clamp_min(TINY).log() - logs)
    return outcomes.masked_fill(~mask, 0).sum(-1)
