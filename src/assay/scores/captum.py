"""Access to captum. No other module imports it.

captum is imported on first use, because the import takes a second. Its own LIME and kernel SHAP
draw from torch's global generator. Its general form takes the samples, their weights and the
surrogate from us, so that the numbers of a document depend only on its id and the seed of the
audit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Values = NDArray[np.float64]
Forward = Callable[[Tensor], Tensor]  # (R, ...) -> (R,)
Solve = Callable[[Values, Values, Values], Values]  # samples, outputs, weights -> coefficients


def integrate(
    forward: Forward, start: Tensor, end: Tensor, *, steps: int, rows: int
) -> tuple[Tensor, Tensor]:
    """Integrated gradients from start to end, and how far each row is from adding up.

    A pass has at most `rows` rows, or one step of all rows.
    """
    from captum.attr import IntegratedGradients

    parts, gap = IntegratedGradients(forward).attribute(
        end,
        baselines=start,
        n_steps=steps,
        method="gausslegendre",
        internal_batch_size=max(rows, len(end)),
        return_convergence_delta=True,
    )
    return parts.detach(), gap.detach()


def fit_surrogate(
    forward: Forward, samples: Tensor, weights: Tensor, solve: Solve, *, rows: int
) -> Values:
    """Coefficients (n,) of a weighted linear model fitted to `forward` at the samples (S, n)."""
    from captum.attr import LimeBase

    presences, similarities = iter(samples[:, None]), iter(weights[:, None])
    model = _SurrogateModel(solve)
    LimeBase(
        forward,
        model,
        similarity_func=lambda *_, **__: next(similarities),
        perturb_func=lambda *_, **__: next(presences),
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda presence, *_, **__: presence,
        to_interp_rep_transform=None,
    ).attribute(samples[:1], n_samples=len(samples), perturbations_per_eval=rows)
    return model.coefficients


@dataclass
class _SurrogateModel:
    """A surrogate in the form captum expects: `fit` on one batch, then `representation`."""

    solve: Solve

    def fit(self, loader: Any) -> None:
        (batch,) = loader
        samples, outputs, weights = (part.double().cpu().numpy() for part in batch)
        self.coefficients = self.solve(samples, outputs, weights)

    def representation(self) -> Tensor:
        return torch.from_numpy(self.coefficients)
