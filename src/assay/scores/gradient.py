"""How fast does the prediction change with the item's embedding?

Jain & Wallace's gradient importance |(dy/de) . e|, with attention held fixed. y is the
probability of the predicted class; for two classes that of the positive class has the same
absolute gradient. It is taken through the log-odds, dy = y (1 - y) d(log-odds), with the factor
in float64: a saturated sigmoid has no gradient in float32, its log-odds do.
"""

import weakref
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.view import View
from assay.scores.odds import embedding_model, log_odds, predicted_odds
from assay.scores.score import Score

__all__ = ["SCORE", "Slopes", "gradient", "log_odds", "slopes", "slopes_once"]


@dataclass(frozen=True)
class Slopes:
    """dy/de of every item, (B, T) each, zero on padding."""

    along: Tensor  # (dy/de) . e, signed
    steepness: Tensor  # the length of dy/de


def slopes(view: View, weights: Tensor | None) -> Slopes:
    """With these weights held fixed; with None the gradient goes through attention as well."""
    model = embedding_model(view.model)
    embedded = model.embed(view.batch).detach().requires_grad_()
    with torch.enable_grad():
        odds = predicted_odds(model, embedded, view.batch, view.decisions, weights)
        (slope,) = torch.autograd.grad(odds.sum(), embedded)
    own = odds.detach().double()
    factor = torch.exp(F.logsigmoid(own) + F.logsigmoid(-own))[:, None] * view.batch.mask
    slope = slope.double()
    along = (slope * embedded.detach().double()).sum(-1)
    return Slopes(along * factor, torch.linalg.vector_norm(slope, dim=-1) * factor)


def slopes_once(view: View) -> Slopes:
    """Attention fixed at the view's own: several scores read this one backward pass in turn."""
    global _latest
    if _latest is None or _latest[0]() is not view:
        _latest = (weakref.ref(view), slopes(view, view.weights))
    return _latest[1]


_latest: tuple[weakref.ref[View], Slopes] | None = None


def gradient(view: View) -> Tensor:
    return slopes_once(view).along.abs()


SCORE = Score(
    name="gradient",
    question="How fast does the prediction change along the item's embedding, attention fixed?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=gradient,
    check=embedding_model,
)
