"""How does a model learn its task while attention is kept off, or on, the marked items?

Away from them is Pruthi et al. 2020: to the task's loss comes -weight * log(1 - mass on the marked
items). Towards them is its mirror, -weight * log(mass on the marked items), by which a model comes
about whose attention is known to lie where it should. A model that leans is chosen by its own loss
on dev, penalty included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from assay.batches import Batch, EncodedSplit, evaluation_batches
from assay.corpora.corpus import Corpus, Document
from assay.models import Network
from assay.recipes import Recipe
from assay.training import EVALUATION_CELLS, Loss, Track, Training, fit, keep_best, label_loss

TINY = 1e-30  # below every weight that matters; keeps logarithms and their gradients finite


@dataclass(frozen=True)
class Lean:
    """Which way attention is pushed, and how hard."""

    weight: float
    towards: bool = False  # the marked items; else away from them


def learn_leaning(
    model: Network,
    splits: Mapping[str, EncodedSplit],  # train and dev
    corpus: Corpus,
    recipe: Recipe,
    lean: Lean,
    order_seed: int,
    track: Track,
) -> Training:
    """Fit `model` in place and leave its best epoch in it."""
    loss = leaning_loss(corpus, (*corpus.train, *corpus.dev), lean)
    losses = fit(model, splits["train"], recipe, loss, order_seed, track)
    return keep_best(model, losses, "dev loss", lambda _: -mean_loss(model, splits["dev"], loss))


def leaning_loss(corpus: Corpus, documents: Sequence[Document], lean: Lean) -> Loss:
    """The task's loss and the penalty, summed over documents.

    A document that leaves attention no choice, all or none of its items marked, pays nothing.
    """
    task = label_loss(corpus)
    averaged = corpus.task == "pair"  # of pairs the task's loss is a mean
    welcome = welcome_items(documents, lean)

    def loss(model: Network, batch: Batch) -> Tensor:
        states = model.encode(batch)
        attention = model.attend(states)
        lengths = batch.lengths.tolist()
        rows = [
            welcome.get(name, torch.ones(n)) for name, n in zip(batch.ids, lengths, strict=True)
        ]
        wanted = pad_sequence([*rows, torch.zeros(batch.mask.shape[1])], batch_first=True)[:-1]
        # Summed, not taken from one: a mass that rounds to one must still be led back.
        mass = (attention * wanted.to(attention.device)).sum(-1)
        penalty = -mass.clamp_min(TINY).log()
        missed = task(model.decode(states, attention), batch)
        return missed * (len(batch.ids) if averaged else 1) + lean.weight * penalty.sum()

    return loss


def welcome_items(documents: Sequence[Document], lean: Lean) -> dict[str, Tensor]:
    """1 where attention may lie, for each document that has marked and other items."""
    return {
        document.id: torch.tensor([mark == lean.towards for mark in marks], dtype=torch.float32)
        for document in documents
        if (marks := document.rationale) is not None and any(marks) and not all(marks)
    }


@torch.no_grad()
def mean_loss(network: Network, split: EncodedSplit, loss: Loss) -> float:
    device = next(network.parameters()).device
    cuts = evaluation_batches(split.lengths, EVALUATION_CELLS)
    values = [float(loss(network, split.batch(rows.tolist()).to(device))) for rows in cuts]
    return sum(values) / len(split.documents)
