"""Models whose scores are known, and the audit's view of small documents."""

import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.protocol import States
from assay.models.view import AuditView
from tests.builders.small_models import WORDS, batch, network

POOL = torch.arange(10, 30)  # replacement words


def view_of(lengths: list[int], seed: int = 0, **kind) -> AuditView:
    """The audit's view of documents of these lengths."""
    task, classes = kind.get("task", "classification"), kind.get("classes", 2)
    documents = batch(lengths, pair=task == "pair", classes=classes)
    return AuditView(network(**kind), documents, seed, POOL)


class Linear:
    """log-odds of class 1 = bias + mean over items of direction . e, so that items are additive."""

    classes = ("a", "b")

    def __init__(self) -> None:
        rng = torch.Generator().manual_seed(1)
        self.table = torch.randn(WORDS, 8, generator=rng, dtype=torch.float64)
        self.direction = torch.randn(8, generator=rng, dtype=torch.float64)

    def embed(self, documents: Batch) -> Tensor:
        return self.table[documents.items]

    def contextualise(self, embedded: Tensor, documents: Batch) -> States:
        return States(embedded, documents.mask)

    def encode(self, documents: Batch) -> States:
        return self.contextualise(self.embed(documents), documents)

    def attend(self, states: States) -> Tensor:
        return states.mask / states.mask.sum(1, keepdim=True).to(states.items.dtype)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return (weights[..., None, :] @ states.items @ self.direction) + 0.3

    def contributions(self, view: AuditView) -> Tensor:
        """The exact contributions of the items to the log-odds of the predicted class."""
        sign = 2 * view.decisions[:, None] - 1
        return sign * view.weights * (self.embed(view.batch) @ self.direction)


class Bare:
    """A model with the three required methods only."""

    classes = ("a", "b")

    def __init__(self) -> None:
        self.inner = network()

    def encode(self, documents: Batch) -> States:
        return self.inner.encode(documents)

    def attend(self, states: States) -> Tensor:
        return self.inner.attend(states)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return self.inner.decode(states, weights)
