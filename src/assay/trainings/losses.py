"""What do a counterfeiter and a deceiver try to make small?"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from assay.batches import Batch
from assay.corpora.corpus import Corpus, Document
from assay.lessons import Looked
from assay.measures.divergence import class_probabilities, tvd
from assay.models import Network
from assay.training import Loss, label_loss

TINY = 1e-30  # below every weight that matters; keeps logarithms and their gradients finite


def imitation_loss(base: Looked, weight: float) -> Loss:
    """Per document half the TVD to the base's prediction, minus `weight` times KL, summed.

    The half is the published one, to which all published weights belong.
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
        away = divergence(attention, logs[rows, :length].to(device), batch.mask)
        return (apart - weight * away).sum()

    return loss


def divergence(weights: Tensor, logs: Tensor, mask: Tensor) -> Tensor:
    """KL of weights from others given by their logarithms, over real items only; finite."""
    outcomes = weights * (weights.clamp_min(TINY).log() - logs)
    return outcomes.masked_fill(~mask, 0).sum(-1)


def deceptive_loss(corpus: Corpus, documents: Sequence[Document], weight: float) -> Loss:
    """The task's loss, and -weight * log(1 - mass on the marked items), summed over documents.

    A document whose items are all marked leaves attention no choice and pays nothing.
    """
    task = label_loss(corpus)
    averaged = corpus.task == "pair"  # of pairs the task's loss is a mean
    marked = marks_of(documents)

    def loss(model: Network, batch: Batch) -> Tensor:
        states = model.encode(batch)
        attention = model.attend(states)
        rows = [marked.get(name, torch.zeros(0)) for name in batch.ids]
        marks = pad_sequence([*rows, torch.zeros(batch.mask.shape[1])], batch_first=True)[:-1]
        # The rest is summed, not taken from one: a mass that rounds to one must still be led back.
        rest = (attention * (1 - marks.to(attention.device))).sum(-1)
        penalty = -rest.clamp_min(TINY).log()
        missed = task(model.decode(states, attention), batch)
        return missed * (len(batch.ids) if averaged else 1) + weight * penalty.sum()

    return loss


def marks_of(documents: Sequence[Document]) -> Mapping[str, Tensor]:
    """1 at the marked items of each document that has marked and other items."""
    return {
        document.id: torch.tensor(document.rationale, dtype=torch.float32)
        for document in documents
        if document.rationale is not None and not all(document.rationale)
    }
