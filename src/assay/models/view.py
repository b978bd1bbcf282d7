"""What does the model say of these documents, once, for every probe?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from assay.batches import Batch
from assay.measures.divergence import class_probabilities, decisions
from assay.models.protocol import Affine, AffineTerms, Model, States


@dataclass(frozen=True)
class View:
    """A batch as the untouched model sees it. Nothing in it is computed twice."""

    model: Model
    batch: Batch
    seed: int = 0  # of the audit: what is drawn for a document depends on it and the id alone

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

    @torch.no_grad()
    def decode(self, weights: Tensor) -> Tensor:
        """The one place where proposed weights, (B, T) or (B, P, T), become logits."""
        if self.affine is None:
            return self.model.decode(self.states, weights.to(self.states.items.dtype))
        proposals = weights.double() if weights.dim() == 3 else weights.double()[:, None]
        logits = self.affine.bias + torch.bmm(proposals, self.affine.items)
        return logits if weights.dim() == 3 else logits[:, 0]
