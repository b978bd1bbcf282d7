"""A batch as the untouched model sees it, computed once and shared by all scores and probes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.protocol import Affine, AffineTerms, Model, States
from assay.statistics.divergence import class_probabilities, decisions


class NotApplicable(Exception):
    """The model or the corpus lacks what a score or probe needs; the message says what."""


@dataclass(frozen=True)
class View:
    """What the untouched model computes for a batch. Every property is computed once."""

    model: Model
    batch: Batch
    seed: int = 0  # of the audit: a document's random numbers depend on it and on the id alone

    @cached_property
    def states(self) -> States:
        with torch.no_grad():
            return self.model.encode(self.batch)

    @cached_property
    def weights(self) -> Tensor:
        """Attention (B, T)."""
        with torch.no_grad():
            return self.model.attend(self.states)

    @cached_property
    def logits(self) -> Tensor:
        return self.decode(self.weights)

    @cached_property
    def probabilities(self) -> Tensor:
        """(B, C >= 2) in float64."""
        return class_probabilities(self.logits.double())

    @cached_property
    def decisions(self) -> Tensor:
        return decisions(self.logits)

    @cached_property
    def mask(self) -> np.ndarray:
        mask: np.ndarray = self.batch.mask.cpu().numpy()
        return mask

    @cached_property
    def affine(self) -> AffineTerms | None:
        """Logits per item, where the head allows it: far smaller than states, and exact."""
        if not isinstance(self.model, Affine):
            return None
        with torch.no_grad():
            return self.model.affine_terms(self.states)

    @cached_property
    def computed(self) -> dict[str, Any]:
        """Results that several scores share, such as one backward pass, by name."""
        return {}

    @torch.no_grad()
    def decode(self, weights: Tensor) -> Tensor:
        """The one place where proposed weights, (B, T) or (B, P, T), become logits."""
        if self.affine is None:
            return self.model.decode(self.states, weights.to(self.states.items.dtype))
        proposals = weights.double() if weights.dim() == 3 else weights.double()[:, None]
        logits = self.affine.bias + torch.bmm(proposals, self.affine.items)
        return logits if weights.dim() == 3 else logits[:, 0]


@dataclass(frozen=True)
class AuditView(View):
    """A view within an audit, which also knows what scores and probes read beside the model."""

    replacements: Tensor | None = None  # (N,) items of the corpus that may replace others
    # Leave-one-out of documents with fewer items is exact; None: of all documents.
    exact_below: int | None = None
    checked: frozenset[str] = frozenset()  # long documents that are computed both ways
    inputs: Mapping[str, Any] = field(default_factory=dict)  # by name; see `probes.inputs`
