"""How much of the prediction is due to the item, on the way from no items to all of them?

The gradient of the predicted class's log-odds, averaged along the straight line from zero
embeddings to the real ones, times the embedding. The contributions add up to the difference of
the log-odds at both ends. Start and end markers stay as they are, and attention follows.
"""

import torch
from torch import Tensor

from assay.models.view import View
from assay.scores.captum import integrate
from assay.scores.copies import repeat, rows_per_pass
from assay.scores.odds import embedding_model, predicted_odds
from assay.scores.score import Score

STEPS = 20  # points of a Gauss-Legendre rule


def integrated_gradients(view: View) -> Tensor:
    model, batch = embedding_model(view.model), view.batch
    embedded = model.embed(batch).detach()

    def forward(values: Tensor) -> Tensor:
        times = len(values) // len(batch.ids)
        return predicted_odds(model, values, repeat(batch, times), view.decisions.repeat(times))

    rows = rows_per_pass(view, batch.items.shape[1], gradient=True)
    with torch.enable_grad():
        parts = integrate(forward, embedded, steps=STEPS, rows=rows)
    return parts.detach().double().sum(-1) * batch.mask


SCORE = Score(
    name="integrated_gradients",
    question="How much does the item add to the log-odds, on the straight way from no items?",
    paper="Sundararajan et al. 2017, section 3",
    compute=integrated_gradients,
    check=embedding_model,
    signed=True,
)
