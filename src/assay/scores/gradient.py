"""How fast does the prediction change with the item's embedding?

Jain & Wallace's gradient importance |(dy/de) . e|, with attention held fixed. y is the
probability of the predicted class; for two classes that of the positive class has the same
absolute gradient. It is taken through the log-odds, dy = y (1 - y) d(log-odds), with the factor
in float64: a saturated sigmoid has no gradient in float32, its log-odds do.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.protocol import Embeds
from assay.models.view import View
from assay.scores.score import NotApplicable, Score


def gradient(view: View) -> Tensor:
    model = view.model
    if not isinstance(model, Embeds):
        raise NotApplicable("gradients need a model with `embed` and `contextualise`")
    embedded = model.embed(view.batch).detach().requires_grad_()
    with torch.enable_grad():
        states = model.contextualise(embedded, view.batch)
        odds = log_odds(model.decode(states, view.weights), view.decisions)
        (slope,) = torch.autograd.grad(odds.sum(), embedded)
    along = (slope.double() * embedded.detach().double()).sum(-1).abs()
    own = odds.detach().double()
    factor = torch.exp(F.logsigmoid(own) + F.logsigmoid(-own))
    return along * factor[:, None] * view.batch.mask


def log_odds(logits: Tensor, chosen: Tensor) -> Tensor:
    """log(y / (1 - y)) of the chosen class, (B,)."""
    if logits.shape[-1] == 1:
        return logits[:, 0] * (2 * chosen - 1)
    own = logits.gather(-1, chosen[:, None])[:, 0]
    others = logits.scatter(-1, chosen[:, None], -torch.inf)
    return own - others.logsumexp(-1)


SCORE = Score(
    name="gradient",
    question="How fast does the prediction change along the item's embedding, attention fixed?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=gradient,
)
