"""What is it that a score explains, as a function of the embeddings?

The log-odds of the predicted class. Its order is that of the probability, but it does not
saturate: at p = 0.9999 all differences of probability vanish in float32, those of log-odds do
not. For two classes and an affine head it is moreover the logit itself, which adds up over items.

How fast does the prediction change with the item's embedding?

Jain & Wallace's gradient importance |(dy/de) . e|, with attention held fixed. y is the
probability of the predicted class; for two classes that of the positive class has the same
absolute gradient. It is taken through the log-odds, dy = y (1 - y) d(log-odds), with the factor
in float64: a saturated sigmoid has no gradient in float32, its log-odds do.

How fast does the prediction change with the item's embedding, when attention may follow?

The gradient score without holding attention fixed: what an item does to the weights counts too.

Does growing the item's embedding speak for the prediction or against it, and how strongly?

The gradient score before its sign is taken away.

How fast could the prediction change at most, in whichever direction the embedding moves?

The length of the gradient: unlike gradient x input it does not ask where the embedding lies.
"""

from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.models.protocol import Model, SupportsEmbedding
from assay.models.view import NotApplicable, View
from assay.scores.score import Score


class EmbeddingModel(Model, SupportsEmbedding, Protocol):
    """A model that can be entered between embedding and encoder."""


def embedding_model(model: Model) -> EmbeddingModel:
    if not isinstance(model, SupportsEmbedding):
        raise NotApplicable("the score needs a model with `embed` and `contextualise`")
    return cast(EmbeddingModel, model)


def predicted_odds(
    model: EmbeddingModel,
    embedded: Tensor,
    batch: Batch,
    chosen: Tensor,
    weights: Tensor | None = None,
) -> Tensor:
    """Log-odds (B,) of the chosen classes; attention follows the embeddings or is held fixed."""
    states = model.contextualise(embedded, batch)
    return log_odds(model.decode(states, model.attend(states) if weights is None else weights),
                    chosen)  # fmt: skip


def log_odds(logits: Tensor, chosen: Tensor) -> Tensor:
    """log(y / (1 - y)) of the chosen class, (B,); zero where no other class is allowed."""
    if logits.shape[-1] == 1:
        return logits[:, 0] * (2 * chosen - 1)
    own = logits.gather(-1, chosen[:, None])[:, 0]
    others = logits.scatter(-1, chosen[:, None], -torch.inf)
    # Nothing can change a class without rivals; infinite odds would make its gradients NaN.
    alone = others.isneginf().all(-1)
    against = others.masked_fill(alone[:, None], 0).logsumexp(-1)
    return (own - against).masked_fill(alone, 0)


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
    """The slopes with attention fixed at the view's own; several scores share one backward pass."""
    if "slopes" not in view.cache:
        view.cache["slopes"] = slopes(view, view.weights)
    found: Slopes = view.cache["slopes"]
    return found


def gradient(view: View) -> Tensor:
    return slopes_once(view).along.abs()


GRADIENT = Score(
    name="gradient",
    question="How fast does the prediction change along the item's embedding, attention fixed?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=gradient,
    check=embedding_model,
)


def gradient_attention(view: View) -> Tensor:
    return slopes(view, weights=None).along.abs()


GRADIENT_ATTENTION = Score(
    name="gradient_attention",
    question="How fast does the prediction change along the item's embedding, attention and all?",
    paper="Jain & Wallace 2019, section 4.1, without detaching attention",
    compute=gradient_attention,
    check=embedding_model,
)


def gradient_input(view: View) -> Tensor:
    return slopes_once(view).along


GRADIENT_INPUT = Score(
    name="gradient_input",
    question="Does growing the item's embedding speak for the prediction (+) or against it (-)?",
    paper="Shrikumar et al. 2016, gradient x input; attention fixed as in Jain & Wallace 2019",
    compute=gradient_input,
    check=embedding_model,
    signed=True,
)


def gradient_norm(view: View) -> Tensor:
    return slopes_once(view).steepness


GRADIENT_NORM = Score(
    name="gradient_norm",
    question="How steep is the prediction in the item's embedding, attention fixed?",
    paper="Simonyan et al. 2014, L2 norm over the embedding; attention fixed",
    compute=gradient_norm,
    check=embedding_model,
)
