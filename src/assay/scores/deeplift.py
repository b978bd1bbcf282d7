"""DeepLIFT with the rescale rule.

An activation passes on the difference that its input makes, with (f(x) - f(0)) / (x - 0) in place
of f'. The reference is a document of zero embeddings with its markers. The rule is for functions of
one value. Recurrent gates and attention multiply values instead: encoders with gates are refused,
and attention is fixed at the document's own weights, as in the gradient score. The contributions
then add up exactly.

The explained quantity is the logit of the predicted class minus the mean of the other logits,
because softmax is not a function of one value either; for two classes these are the log-odds.
captum's DeepLIFT needs activations that are modules, but our encoders call functions. Therefore
the rule is implemented here.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from assay.models.classifier import Network
from assay.models.encoders import Average, Convolution, Identity
from assay.models.protocol import Model
from assay.models.view import NotApplicable, View
from assay.scores.score import Score, repeat_batch

NEARLY_EQUAL = 1e-6  # for inputs closer than this, the slope is the derivative


def deeplift(view: View) -> Tensor:
    """The contributions of the items."""
    network = require_feedforward(view.model)
    real = network.embed(view.batch).detach()
    both = torch.cat([real, torch.zeros_like(real)]).requires_grad_()
    weights, classes = view.weights.repeat(2, 1), view.decisions  # computed before the rule applies
    with torch.enable_grad(), RescaleRule():
        states = network.contextualise(both, repeat_batch(view.batch, 2))
        logits = network.decode(states, weights)[: len(real)]
        (slope,) = torch.autograd.grad(logit_margin(logits, classes).sum(), both)
    return (slope[: len(real)].double() * real.double()).sum(-1) * view.batch.mask


def require_feedforward(model: Model) -> Network:
    """The model as a `Network` with a feed-forward encoder; NotApplicable otherwise."""
    if not isinstance(model, Network):
        raise NotApplicable("DeepLIFT needs a model of assay with a feed-forward encoder")
    if not isinstance(model.text.encoder, Average | Convolution | Identity):
        raise NotApplicable(
            f"DeepLIFT has no rule for the {model.config.encoder} encoder, whose gates multiply "
            "states; it needs a feed-forward encoder"
        )
    return model


def logit_margin(logits: Tensor, classes: Tensor) -> Tensor:
    """The logit of the class minus the mean of the other allowed ones, (B,); linear."""
    if logits.shape[-1] == 1:
        return logits[:, 0] * (2 * classes - 1)
    own = F.one_hot(classes, logits.shape[-1]).bool()
    others = logits.isfinite() & ~own
    mean = logits.where(others, 0).sum(-1) / others.sum(-1).clamp(min=1)
    return (logits.gather(-1, classes[:, None])[:, 0] - mean).where(others.any(-1), 0)


class RescaleRule(TorchFunctionMode):
    """Within it, tanh and ReLU follow the rule; the second half of the batch is the reference."""

    def __torch_function__(
        self, called: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if called in (torch.tanh, F.relu):
            return _RescaledActivation.apply(args[0], called)  # type: ignore[no-untyped-call]
        return called(*args, **(kwargs or {}))


class _RescaledActivation(torch.autograd.Function):
    """An activation with the slope of the rescale rule as its gradient."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, activation: Any) -> Tensor:
        with torch.enable_grad():
            start = inputs.detach().requires_grad_()
            outputs: Tensor = activation(start)
            (derivative,) = torch.autograd.grad(outputs.sum(), start)
        input_difference, output_difference = (
            first - second for first, second in (inputs.chunk(2), outputs.chunk(2))
        )
        distinct = input_difference.abs() > NEARLY_EQUAL
        slope = torch.where(
            distinct,
            output_difference / input_difference.where(distinct, 1),
            derivative[: len(output_difference)],
        )
        context.save_for_backward(slope.detach())
        return outputs.detach()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (slope,) = context.saved_tensors
        return gradients[0] * slope.repeat(2, *[1] * (slope.dim() - 1)), None


DEEPLIFT = Score(
    name="deeplift",
    question="How much does the item contribute by the rescale rule, with attention fixed?",
    paper="Shrikumar et al. 2017, section 3.5.1",
    compute=deeplift,
    check=require_feedforward,
    signed=True,
)
