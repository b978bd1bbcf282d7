"""What a check of an attached model reads: a few documents, and what the model makes of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.data.vocabulary import PAD
from assay.models.adapters.sites import SeenAttention
from assay.models.conformance import rounding
from assay.models.protocol import Model, States, SupportsHeads
from assay.models.view import own_weights, predict


@runtime_checkable
class SupportsProof(Protocol):
    """An adapter around a module, which can be compared with the module as it is."""

    module: nn.Module

    def untouched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) of the module without any interception."""
        ...

    def watched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) while the attention is intercepted and nothing is changed."""
        ...

    def times_met(self, batch: Batch) -> int:
        """How often the site is met in one forward pass."""
        ...

    def weight_on_padding(self, states: States) -> Tensor:
        """(B, H): what the heads give to positions that hold nothing."""
        ...


@runtime_checkable
class SupportsBothSides(Protocol):
    """An adapter that can pad documents on the left and on the right, and uses one of them."""

    def other_side_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) of the documents padded on the side that is not used."""
        ...


@runtime_checkable
class SupportsSeenSite(Protocol):
    """A tapped module, which knows what follows on the attention computation on trial."""

    def seen_site(self, batch: Batch) -> SeenAttention:
        """The attention computation on trial."""
        ...


@dataclass(frozen=True)
class Trial:
    """A model and a few documents, of which one at least is padded."""

    model: Model
    documents: Batch

    @cached_property
    def batch(self) -> Batch:
        """The documents; where all are as long, the first one again without its last item."""
        documents, length = self.documents, self.documents.mask.shape[1]
        if length < 2 or not bool(documents.mask.all()):
            return documents
        more = documents.take(torch.tensor([*range(len(documents.ids)), 0]))
        items, mask = more.items.clone(), more.mask.clone()
        items[-1, -1], mask[-1, -1] = PAD, False
        return replace(more, items=items, mask=mask)

    @cached_property
    def states(self) -> States:
        """The states of the padded documents."""
        with torch.no_grad():
            return self.model.encode(self.batch)

    @cached_property
    def weights(self) -> Tensor:
        """The weights that the prediction is made with, (B, H, T)."""
        with torch.no_grad():
            own = own_weights(self.model, self.states)
        return own if own.dim() == 3 else own[:, None]

    @cached_property
    def logits(self) -> Tensor:
        """The prediction under the model's own weights, (B, C)."""
        with torch.no_grad():
            return predict(self.model, self.states)

    @cached_property
    def moved(self) -> float:
        """How far uniform weights, or all weight on one item, move a logit at most."""
        with torch.no_grad():
            return largest_difference(self.decode(self.other_weights()), self.logits[:, None])

    @property
    def rounding(self) -> float:
        """The largest difference of logits that rounding may explain."""
        return rounding(self.logits) * max(1.0, largest(self.logits))

    def other_weights(self) -> Tensor:
        """Proposals (B, 3, H, T): uniform, all on the first and all on the last item."""
        mask = self.batch.mask
        uniform = mask / mask.sum(1, keepdim=True).clamp(min=1)
        last = F.one_hot((mask.sum(1) - 1).clamp(min=0), mask.shape[1]) * mask
        first = F.one_hot(torch.zeros_like(mask.sum(1)), mask.shape[1]) * mask
        rows = torch.stack([uniform, first.to(uniform), last.to(uniform)], 1)
        return (rows[:, :, None] * self.weights.sum(-1)[:, None, :, None]).to(self.weights)

    def decode(self, heads: Tensor) -> Tensor:
        """Logits (B, P, C) under proposals (B, P, H, T)."""
        if isinstance(self.model, SupportsHeads):
            return self.model.decode_heads(self.states, heads)
        return self.model.decode(self.states, heads[:, :, 0])


def largest(values: Tensor) -> float:
    """The largest absolute value that is finite."""
    return float(values.detach().double().abs().nan_to_num(0.0, 0.0).max()) if len(values) else 0.0


def largest_difference(one: Tensor, other: Tensor) -> float:
    """The largest difference; infinite where a number is missing from one of them.

    Logits of classes that are not allowed are infinite in both, which is no difference.
    """
    difference = (one.detach().double() - other.detach().double()).abs()
    return float(difference.masked_fill(one == other, 0.0).nan_to_num(torch.inf).max())
