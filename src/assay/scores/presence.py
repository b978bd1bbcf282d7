"""What does the model predict when only some of a document's items are there?

An absent item's embedding is zero, the padding vector; it keeps its place, and encoder and
attention run again. Deleting it would move its neighbours together, which leave-one-out already
measures; and with zeros LIME and kernel SHAP split the same difference as integrated gradients.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from assay.models.view import View
from assay.scores.captum import Solve, surrogate
from assay.scores.copies import alone, repeat, rows_per_pass
from assay.scores.odds import embedding_model, predicted_odds

Drawn = tuple[np.ndarray, np.ndarray]  # samples (S, n), True where present, and their weights (S,)


def explain(view: View, draw: Callable[[np.uint64, int], Drawn], solve: Solve, keys: np.ndarray
            ) -> Tensor:  # fmt: skip
    """(B, T): per document the coefficients of a linear model of what its items' presence does."""
    scores = view.weights.new_zeros(view.batch.mask.shape, dtype=torch.float64)
    for row, length in enumerate(view.batch.lengths.tolist()):
        if length:
            samples, weights = draw(keys[row], length)
            found = surrogate(
                value_of(view, row),
                torch.from_numpy(samples).to(scores.device),
                torch.from_numpy(weights).to(scores.device),
                solve,
                rows=rows_per_pass(view, length),
            )
            scores[row, :length] = torch.from_numpy(found)
    return scores


def value_of(view: View, row: int) -> Callable[[Tensor], Tensor]:
    """Log-odds (R,) of the predicted class under presences (R, n)."""
    model, document = embedding_model(view.model), alone(view.batch, row)
    embedded = model.embed(document).detach()
    chosen = view.decisions[row : row + 1]

    @torch.no_grad()
    def value(present: Tensor) -> Tensor:
        times = len(present)
        kept = embedded * present[..., None].to(embedded.dtype)
        return predicted_odds(model, kept, repeat(document, times), chosen.repeat(times))

    return value
