"""How are captum's methods asked? The only file that knows captum.

It is imported when first asked, for it takes a second. captum's own LIME and kernel SHAP draw
from torch's global generator; its general form takes samples, their weights and the surrogate
from us, so that a document's numbers depend on its id and the audit's seed alone.
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
    """Integrated gradients from start to end, and by how much each row fails to add up.

    At most `rows` rows a pass, or one step of all.
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


def surrogate(
    forward: Forward, samples: Tensor, weights: Tensor, solve: Solve, *, rows: int
) -> Values:
    """Coefficients (n,) of a weighted linear model fitted to `forward` at the samples (S, n)."""
    from captum.attr import LimeBase

    presences, similarities = iter(samples[:, None]), iter(weights[:, None])
    fitted = _Fitted(solve)
    LimeBase(
        forward,
        fitted,
        similarity_func=lambda *_, **__: next(similarities),
        perturb_func=lambda *_, **__: next(presences),
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda presence, *_, **__: presence,
        to_interp_rep_transform=None,
    ).attribute(samples[:1], n_samples=len(samples), perturbations_per_eval=rows)
    return fitted.coefficients


@dataclass
class _Fitted:
    """A surrogate in the form captum expects: `fit` on one batch, then `representation`."""

    solve: Solve

    def fit(self, loader: Any) -> None:
        (batch,) = loader
        samples, outputs, weights = (part.double().cpu().numpy() for part in batch)
        self.coefficients = self.solve(samples, outputs, weights)

    def representation(self) -> Tensor:
        return torch.from_numpy(self.coefficients)
