"""What the unchanged model computes for a batch, computed once and shared by scores and probes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.protocol import (
    AffineTerms,
    Model,
    States,
    SupportsAffineTerms,
    SupportsHeads,
    SupportsProposalBytes,
)
from assay.statistics.divergence import class_probabilities, decisions

RECORDING = "recording"  # place in a view's cache of the encoding that was kept
NUMBER_BYTES = 8  # of a proposed weight, in float64


class NotApplicable(Exception):
    """The model or the corpus lacks what a score or probe needs; the message names it."""


def own_weights(model: Model, states: States) -> Tensor:
    """The weights that the prediction is made with: (B, T), or (B, H, T) of a model with heads."""
    return model.head_weights(states) if isinstance(model, SupportsHeads) else model.attend(states)


def predict(model: Model, states: States, weights: Tensor | None = None) -> Tensor:
    """Logits (B, C) under the model's own weights, or under weights in the form of `own_weights`.

    The shown weights of a model with several heads do not determine its prediction, so that
    `decode(states, attend(states))` is the prediction of models without heads only.
    """
    used = own_weights(model, states) if weights is None else weights
    if isinstance(model, SupportsHeads):
        return model.decode_heads(states, used[:, None])[:, 0]
    return model.decode(states, used)


@dataclass(frozen=True)
class View:
    """What the unchanged model computes for a batch. Every property is computed once."""

    model: Model
    batch: Batch
    seed: int = 0  # of the audit; a document's random numbers depend on it and on its id only

    @cached_property
    def states(self) -> States:
        """The encoder's states."""
        if "states" in self.cache:  # encoded already, together with the gradients
            shared: States = self.cache["states"]
            return shared
        with torch.no_grad():
            return self.model.encode(self.batch)

    @cached_property
    def weights(self) -> Tensor:
        """Attention weights (B, T)."""
        with torch.no_grad():
            return self.model.attend(self.states)

    @cached_property
    def heads(self) -> Tensor | None:
        """The weights (B, H, T) of every head; None for a model without heads."""
        if not isinstance(self.model, SupportsHeads):
            return None
        with torch.no_grad():
            return self.model.head_weights(self.states)

    @property
    def own_weights(self) -> Tensor:
        """The weights that the prediction is made with: those of the heads, where there are any."""
        return self.weights if self.heads is None else self.heads

    @cached_property
    def logits(self) -> Tensor:
        """Logits (B, C) under the model's own attention."""
        return self.decode(self.weights) if self.heads is None else self.decode_heads(self.heads)

    @cached_property
    def probabilities(self) -> Tensor:
        """Class probabilities (B, C >= 2) in float64."""
        return class_probabilities(self.logits.double())

    @cached_property
    def decisions(self) -> Tensor:
        """The predicted classes (B,)."""
        return decisions(self.logits)

    @cached_property
    def mask(self) -> np.ndarray:
        """The batch's mask (B, T) as an array."""
        mask: np.ndarray = self.batch.mask.cpu().numpy()
        return mask

    @cached_property
    def affine(self) -> AffineTerms | None:
        """The logits of each item, or None if they are not affine in the weights.

        They are far smaller than the states, and exact. The logits of a model with several heads
        are not a function of the shown weights.
        """
        if not isinstance(self.model, SupportsAffineTerms) or self.heads is not None:
            return None
        with torch.no_grad():
            return self.model.affine_terms(self.states)

    @cached_property
    def cache(self) -> dict[str, Any]:
        """Intermediate results that several scores share, such as a backward pass, by name."""
        return {}

    @torch.no_grad()
    def decode(self, weights: Tensor) -> Tensor:
        """Logits under proposed weights, (B, T) or (B, P, T). All weights are decoded here."""
        if self.affine is None:
            return self.model.decode(self.states, weights.to(self.states.items.dtype))
        proposals = weights.double() if weights.dim() == 3 else weights.double()[:, None]
        logits = self.affine.bias + torch.bmm(proposals, self.affine.items)
        return logits if weights.dim() == 3 else logits[:, 0]

    @torch.no_grad()
    def decode_heads(self, heads: Tensor) -> Tensor:
        """Logits under proposed weights of the heads, (B, H, T) or (B, P, H, T)."""
        assert isinstance(self.model, SupportsHeads)
        proposals = heads.to(self.states.items.dtype)
        if heads.dim() == 3:
            return self.model.decode_heads(self.states, proposals[:, None])[:, 0]
        return self.model.decode_heads(self.states, proposals)

    def decode_permuted(self, orders: Tensor) -> Tensor:
        """Logits (B, P, C) with the weights in other orders (B, P, T), the same in every head.

        Item t gets the weight of item `orders[..., t]`.
        """
        orders = orders.to(self.weights.device)
        if self.heads is None:
            own = self.weights.double()[:, None].expand(-1, orders.shape[1], -1)
            return self.decode(own.gather(2, orders))
        places = orders[:, :, None].expand(-1, -1, self.heads.shape[1], -1)
        own = self.heads[:, None].expand(-1, orders.shape[1], -1, -1)
        return self.decode_heads(own.gather(3, places))

    def decode_kept(self, kept: Tensor) -> Tensor:
        """Logits (B, P, C) with the weights of some items only, where `kept` (B, P, T) is True.

        The weights that are left are scaled to sum to what all sum to, in every head. Where none is
        left, all are zero.
        """
        left = kept.cpu().numpy()
        if self.heads is None:
            return self.decode(self._scaled(self.weights.double().cpu().numpy(), left, 1.0))
        own = self.heads.double().cpu().numpy()
        return self.decode_heads(self._scaled(own, left[:, :, None], own.sum(-1)[:, None, :, None]))

    def _scaled(self, own: np.ndarray, left: np.ndarray, total: np.ndarray | float) -> Tensor:
        kept = own[:, None] * left
        mass = kept.sum(-1, keepdims=True)
        np.divide(kept, mass, out=kept, where=mass > 0)
        kept *= total
        return torch.from_numpy(kept).to(self.weights.device)

    @cached_property
    def proposal_bytes(self) -> int:
        """The memory that one proposal of weights for every document takes, about."""
        documents = len(self.batch.ids)
        if isinstance(self.model, SupportsProposalBytes):
            return documents * self.model.proposal_bytes(self.states)
        return self.own_weights.numel() * NUMBER_BYTES


@dataclass(frozen=True)
class AuditView(View):
    """The view of a batch within an audit, with what scores and probes read besides the model."""

    replacements: Tensor | None = None  # (N,) items of the corpus to replace others by
    # Leave-one-out is exact for documents with fewer items; None: for all documents.
    exact_below: int | None = None
    fading_check: frozenset[str] = frozenset()  # ids of long documents computed both ways
    inputs: Mapping[str, Any] = field(default_factory=dict)  # by name, see `probes.inputs`
    # Costly probes measure only these documents, by the name of the probe; absent: all documents.
    samples: Mapping[str, frozenset[str]] = field(default_factory=dict)
