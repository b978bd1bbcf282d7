"""Is the exact adversary right where it can be checked: feasible, as far as it says, unbeaten?

Everything is scored again in float64 from the logit of each item, by one short formula that
neither side has used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from assay.measures.divergence import jsd

BEYOND_EXACT = 1e-6  # JSD by which a search may exceed the optimum: its own rounding
WITNESS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Answer:
    """One document, its item logits, and the exact answer to how far its weights can move."""

    weights: Tensor  # (T,)
    items: Tensor  # (T,) logit of each
    bias: Tensor  # ()
    jsd: float
    witness: Tensor  # (T,) the weights that are so far away

    def holds(self, eps: float) -> bool:
        """Is the witness feasible and as far away as was said?"""
        far, moved = self.rescored(self.witness[None])
        said = (far - self.jsd).abs() <= WITNESS_TOLERANCE
        return bool((said & (moved <= eps + WITNESS_TOLERANCE)).all())

    def unbeaten(self, candidates: Tensor, eps: float) -> bool:
        """Is no feasible one of these candidates (k, T) further away?"""
        # Softmax in float32 sums to one only nearly, which near a bound is too little.
        proposals = candidates.double()
        far, moved = self.rescored(proposals / proposals.sum(-1, keepdim=True))
        return bool((far[moved <= eps] <= self.jsd + BEYOND_EXACT).all())

    def rescored(self, proposals: Tensor) -> tuple[Tensor, Tensor]:
        """JSD to the weights and TVD of the prediction, (k,) each."""
        own = torch.sigmoid(self.weights @ self.items + self.bias)
        moved = torch.sigmoid(proposals @ self.items + self.bias) - own
        return jsd(proposals, self.weights), moved.abs()


def all_hold(answers: Sequence[Answer], eps: float) -> bool:
    return all(answer.holds(eps) for answer in answers)
