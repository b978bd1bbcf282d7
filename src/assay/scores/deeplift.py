"""How much of the prediction is due to the item, when every activation is read as a slope?

DeepLIFT's rescale rule: an activation passes on the difference that its input makes, divided in
proportion, (f(x) - f(0)) / (x - 0) in place of f'. The reference is a document of zero
embeddings with its markers. The rule is for functions of one value. Recurrent gates and attention
multiply values instead: the first are refused, the second is held fixed at the document's own
weights, as in the gradient score. The contributions then add up exactly.

What is explained is the predicted class's logit minus the mean of its rivals', for softmax is
no function of one value either; for two classes these are the log-odds. captum's DeepLIFT needs
activations that are modules, our encoders call functions: hence the rule itself, in a dozen lines.
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

NEARLY_EQUAL = 1e-6  # inputs closer than this have the derivative for a slope


def deeplift(view: View) -> Tensor:
    network = feedforward(view.model)
    real = network.embed(view.batch).detach()
    both = torch.cat([real, torch.zeros_like(real)]).requires_grad_()
    weights, chosen = view.weights.repeat(2, 1), view.decisions  # untouched: before the rule holds
    with torch.enable_grad(), Rescaled():
        states = network.contextualise(both, repeat_batch(view.batch, 2))
        logits = network.decode(states, weights)[: len(real)]
        (slope,) = torch.autograd.grad(lead(logits, chosen).sum(), both)
    return (slope[: len(real)].double() * real.double()).sum(-1) * view.batch.mask


def feedforward(model: Model) -> Network:
    if not isinstance(model, Network):
        raise NotApplicable("DeepLIFT needs to know the encoder: feed-forward ones only")
    if not isinstance(model.text.encoder, Average | Convolution | Identity):
        raise NotApplicable(
            f"DeepLIFT has no rule for the {model.config.encoder} encoder, whose gates multiply "
            "states: feed-forward ones only"
        )
    return model


def lead(logits: Tensor, chosen: Tensor) -> Tensor:
    """The chosen class's logit minus the mean of the others allowed, (B,); linear in the logits."""
    if logits.shape[-1] == 1:
        return logits[:, 0] * (2 * chosen - 1)
    own = F.one_hot(chosen, logits.shape[-1]).bool()
    rivals = logits.isfinite() & ~own
    mean = logits.where(rivals, 0).sum(-1) / rivals.sum(-1).clamp(min=1)
    return (logits.gather(-1, chosen[:, None])[:, 0] - mean).where(rivals.any(-1), 0)


class Rescaled(TorchFunctionMode):
    """Within it tanh and ReLU follow the rule; the second half of a batch is the reference."""

    def __torch_function__(
        self, called: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if called in (torch.tanh, F.relu):
            return _Rule.apply(args[0], called)  # type: ignore[no-untyped-call]
        return called(*args, **(kwargs or {}))


class _Rule(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, inputs: Tensor, activation: Any) -> Tensor:
        with torch.enable_grad():
            start = inputs.detach().requires_grad_()
            outputs: Tensor = activation(start)
            (derivative,) = torch.autograd.grad(outputs.sum(), start)
        across, up = (first - second for first, second in (inputs.chunk(2), outputs.chunk(2)))
        far = across.abs() > NEARLY_EQUAL
        slope = torch.where(far, up / across.where(far, 1), derivative[: len(up)])
        context.save_for_backward(slope.detach())
        return outputs.detach()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (slope,) = context.saved_tensors
        return gradients[0] * slope.repeat(2, *[1] * (slope.dim() - 1)), None


DEEPLIFT = Score(
    name="deeplift",
    question="How much does the item add to the prediction by the rescale rule, attention fixed?",
    paper="Shrikumar et al. 2017, section 3.5.1",
    compute=deeplift,
    check=feedforward,
    signed=True,
)
