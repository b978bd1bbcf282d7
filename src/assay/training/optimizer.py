"""The optimizer of a training: Adam, its learning-rate schedule, and the clipping of gradients.

`torch.optim` shields a few methods from `torch.compile`, and the shield imports the whole compiler
when a method is first called: more than a second in every process that trains, for nothing. The
methods of `EagerAdam` are the same ones without the shield, so the numbers are the same to the last
bit.
"""

from inspect import unwrap

import torch
from torch import nn
from torch.optim import Adam
from torch.optim.lr_scheduler import ReduceLROnPlateau

from assay.models.classifier import Network
from assay.training.recipes import Recipe, Regime

HALF = 0.5


class EagerAdam(Adam):
    """`torch.optim.Adam` for programs that compile nothing and take no gradient of a step."""

    add_param_group = unwrap(Adam.add_param_group)
    load_state_dict = unwrap(Adam.load_state_dict)
    state_dict = unwrap(Adam.state_dict)
    zero_grad = unwrap(Adam.zero_grad)
    step = torch.no_grad()(unwrap(Adam.step))


def make_optimizer(model: Network, recipe: Recipe) -> torch.optim.Optimizer:
    """Adam; weight decay spares the attention parameters where the recipe says so."""
    attention = list(model.attention.parameters())
    spared = {id(parameter) for parameter in attention}
    rest = [parameter for parameter in model.parameters() if id(parameter) not in spared]
    decay = recipe.weight_decay
    groups = [
        {"params": rest, "weight_decay": decay},
        {"params": attention, "weight_decay": decay if recipe.decay_attention else 0.0},
    ]
    # Fused: one pass over parameters and moments instead of ten; the embedding dominates.
    amsgrad = recipe.regime is None
    return EagerAdam(groups, lr=recipe.learning_rate, amsgrad=amsgrad, fused=True)


def plateau_schedule(optimizer: torch.optim.Optimizer) -> ReduceLROnPlateau:
    """Halves the learning rate after every epoch without a gain on dev, however small it is."""
    return ReduceLROnPlateau(
        optimizer, mode="max", factor=HALF, patience=0, threshold=0.0, threshold_mode="abs", eps=0.0
    )


def clip_gradients(model: nn.Module, regime: Regime) -> None:
    """Clip the gradients of all parameters as the regime says, in place."""
    if regime.clip_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), regime.clip_norm)
    if regime.clip_value is not None:
        nn.utils.clip_grad_value_(model.parameters(), regime.clip_value)
