"""Gradient scores, and the log-odds that most scores explain.

The explained function of the embeddings is the log-odds of the predicted class. They have the same
order as its probability but do not saturate: at p = 0.9999 all differences of probability vanish in
float32, those of log-odds do not. For two classes and an affine head the log-odds are the logit
itself, which adds up over items.

- `gradient`: |(dy/de) . e|, the gradient importance of Jain & Wallace, with attention fixed. y is
  the probability of the predicted class; with two classes, that of the positive class has the same
  absolute gradient. It is computed through the log-odds, dy = y (1 - y) d(log-odds), with the
  factor in float64: a saturated sigmoid has no gradient in float32, its log-odds do.
- `gradient_attention`: the same without fixing attention, so the effect on the weights counts too.
- `gradient_input`: `gradient` with its sign, for or against the prediction.
- `gradient_norm`: the length of dy/de, the steepest change in any direction; unlike gradient x
  input it does not depend on where the embedding lies.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.models.protocol import Model, States, SupportsEmbedding
from assay.models.recording import EmbeddingSlopes, Recording, SupportsRecording
from assay.models.view import RECORDING, NotApplicable, View, predict
from assay.scores.score import Score
from assay.statistics.divergence import class_probabilities

# Places in a view's cache.
FIXED, THROUGH = "gradients with attention fixed", "gradients through attention"


class EmbeddingModel(Model, SupportsEmbedding, Protocol):
    """A model that can be entered between the embedding and the encoder."""


def embedding_model(model: Model) -> EmbeddingModel:
    """The model as an `EmbeddingModel`; NotApplicable if it is not one."""
    if not isinstance(model, SupportsEmbedding):
        raise NotApplicable("the score needs a model that offers `embed` and `contextualise`")
    return cast(EmbeddingModel, model)


def predicted_log_odds(
    model: EmbeddingModel,
    embedded: Tensor,
    batch: Batch,
    classes: Tensor,
    weights: Tensor | None = None,
) -> Tensor:
    """Log-odds (B,) of these classes; attention follows the embeddings unless `weights` fix it."""
    return log_odds(predict(model, model.contextualise(embedded, batch), weights), classes)


def log_odds(logits: Tensor, classes: Tensor) -> Tensor:
    """log(y / (1 - y)) of the given class, (B,); zero if no other class is allowed."""
    if logits.shape[-1] == 1:
        return logits[:, 0] * (2 * classes - 1)
    own = logits.gather(-1, classes[:, None])[:, 0]
    others = logits.scatter(-1, classes[:, None], -torch.inf)
    # Nothing can change the only allowed class; infinite odds would make its gradients NaN.
    alone = others.isneginf().all(-1)
    against = others.masked_fill(alone[:, None], 0).logsumexp(-1)
    return (own - against).masked_fill(alone, 0)


@dataclass(frozen=True)
class EmbeddingGradients:
    """Summaries of dy/de for every item, (B, T) each, zero on padding."""

    slopes: EmbeddingSlopes  # of the log-odds
    factor: Tensor  # (B, T) dy / d(log-odds), zero on padding

    @cached_property
    def input_product(self) -> Tensor:
        """(dy/de) . e, signed."""
        return self.slopes.input_product.double() * self.factor

    @cached_property
    def norm(self) -> Tensor:
        """The norm of dy/de."""
        length: Tensor = torch.linalg.vector_norm(self.slopes.gradients().double(), dim=-1)
        return length * self.factor


# From states with a graph, and a number for each document that depends on them, to its slopes.
PullBack = Callable[[Tensor], EmbeddingSlopes]


def embedding_gradients(view: View, weights: Tensor | None) -> EmbeddingGradients:
    """The gradients with these weights fixed; with None they go through attention as well."""
    return _gradients(view, *_differentiable_states(view), weights)


def share_encoding(view: View, *, through_attention: bool) -> None:
    """Encode the documents once for the view's states, its gradients and its leave-one-out.

    Without it, the states, the gradient with attention fixed, leave-one-out and, where it is
    wanted, the gradient through attention each encode the documents. Leave-one-out shares the
    encoding of a model that can record it. Nothing happens for a model without embeddings.
    """
    if not isinstance(view.model, SupportsEmbedding):
        return
    recording = view.model.record(view.batch) if isinstance(view.model, SupportsRecording) else None
    if recording is None:
        states, pull_back = _differentiable_states(view)
    else:
        view.cache[RECORDING] = recording
        states, pull_back = _recorded_states(recording)
    view.cache["states"] = states.detached()
    view.cache[FIXED] = _gradients(view, states, pull_back, view.own_weights)
    if through_attention:
        view.cache[THROUGH] = _gradients(view, states, pull_back, None)


def _differentiable_states(view: View) -> tuple[States, PullBack]:
    """The states with the graph that leads to them, and the backward pass through it."""
    model = embedding_model(view.model)
    with torch.no_grad():
        embedded = model.embed(view.batch)
    embedded = embedded.detach().requires_grad_()
    with torch.enable_grad():
        states = model.contextualise(embedded, view.batch)

    def pull_back(values: Tensor) -> EmbeddingSlopes:
        (gradients,) = torch.autograd.grad(values.sum(), embedded, retain_graph=True)
        product = (gradients.double() * embedded.detach().double()).sum(-1)
        return EmbeddingSlopes(product, lambda: gradients)

    return states, pull_back


def _recorded_states(recording: Recording) -> tuple[States, PullBack]:
    """The recorded states as the start of a graph, and the backward pass of the recording."""
    items = recording.states.items.detach().requires_grad_()

    def pull_back(values: Tensor) -> EmbeddingSlopes:
        (slopes,) = torch.autograd.grad(values.sum(), items)
        return recording.pull_back(slopes)

    return replace(recording.states, items=items), pull_back


def _gradients(
    view: View, states: States, pull_back: PullBack, weights: Tensor | None
) -> EmbeddingGradients:
    with torch.enable_grad():
        odds = log_odds(predict(view.model, states, weights), view.decisions)
        slopes = pull_back(odds)
    own = odds.detach().double()
    factor = torch.exp(F.logsigmoid(own) + F.logsigmoid(-own))[:, None] * view.batch.mask
    return EmbeddingGradients(slopes, factor)


def cached_gradients(view: View) -> EmbeddingGradients:
    """The gradients with the view's own attention fixed; scores share one backward pass."""
    if FIXED not in view.cache:
        view.cache[FIXED] = embedding_gradients(view, view.own_weights)
    found: EmbeddingGradients = view.cache[FIXED]
    return found


def weight_gradients(view: View, weights: Tensor, classes: Tensor) -> Tensor | None:
    """The gradient of these classes' probabilities in the weights, in float64.

    The weights have the form of `View.own_weights`. As above, the gradient is computed through the
    log-odds, which do not saturate in float32. None for a model that cannot be differentiated.
    """
    given = weights.detach().to(view.states.items).clone().requires_grad_()
    with torch.enable_grad():
        logits = predict(view.model, view.states, given)
        if not logits.requires_grad:
            return None
        odds = log_odds(logits, classes)
        (slope,) = torch.autograd.grad(odds.sum(), given)
    yes, no = class_probabilities(odds.detach().double()[:, None]).unbind(-1)
    return slope.double() * (yes * no).reshape(-1, *[1] * (slope.dim() - 1))


def gradient(view: View) -> Tensor:
    """|(dy/de) . e| with attention fixed."""
    return cached_gradients(view).input_product.abs()


GRADIENT = Score(
    name="gradient",
    question="How fast does the prediction change along the item's embedding, attention fixed?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=gradient,
    check=embedding_model,
)


def gradient_attention(view: View) -> Tensor:
    """|(dy/de) . e| through attention."""
    if THROUGH not in view.cache:
        view.cache[THROUGH] = embedding_gradients(view, weights=None)
    found: EmbeddingGradients = view.cache[THROUGH]
    return found.input_product.abs()


GRADIENT_ATTENTION = Score(
    name="gradient_attention",
    question="How fast does the prediction change along the item's embedding, attention not fixed?",
    paper="Jain & Wallace 2019, section 4.1, without detaching attention",
    compute=gradient_attention,
    check=embedding_model,
)


def gradient_input(view: View) -> Tensor:
    """(dy/de) . e with attention fixed."""
    return cached_gradients(view).input_product


GRADIENT_INPUT = Score(
    name="gradient_input",
    question="Does scaling up the item's embedding support the prediction (+) or oppose it (-)?",
    paper="Shrikumar et al. 2016, gradient x input; attention fixed as in Jain & Wallace 2019",
    compute=gradient_input,
    check=embedding_model,
    signed=True,
)


def gradient_norm(view: View) -> Tensor:
    """|dy/de| with attention fixed."""
    return cached_gradients(view).norm


GRADIENT_NORM = Score(
    name="gradient_norm",
    question="How steep is the prediction in the item's embedding, attention fixed?",
    paper="Simonyan et al. 2014, L2 norm over the embedding; attention fixed",
    compute=gradient_norm,
    check=embedding_model,
)
