"""What the unchanged model computes for a batch, computed once and shared by scores and probes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.protocol import AffineTerms, Model, States, SupportsAffineTerms
from assay.statistics.divergence import class_probabilities, decisions


class NotApplicable(Exception):
    """The model or the corpus lacks what a score or probe needs; the message names it."""


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
    def logits(self) -> Tensor:
        """Logits (B, C) under the model's own attention."""
        return self.decode(self.weights)

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
        """The logits of each item, or None if the head is not affine.

        They are far smaller than the states, and exact.
        """
        if not isinstance(self.model, SupportsAffineTerms):
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


@dataclass(frozen=True)
class AuditView(View):
    """The view of a batch within an audit, with what scores and probes read besides the model."""

    replacements: Tensor | None = None  # (N,) items of the corpus to replace others by
    # Leave-one-out is exact for documents with fewer items; None: for all documents.
    exact_below: int | None = None
    fading_check: frozenset[str] = frozenset()  # ids of long documents computed both ways
    inputs: Mapping[str, Any] = field(default_factory=dict)  # by name, see `probes.inputs`
