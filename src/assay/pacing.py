"""How large is the next step, and what of a gradient is too large?"""

from torch import nn

from assay.recipes import Recipe, Regime

HALF = 0.5


class Pace:
    """The learning rate: under a regime halved after every epoch without a gain on dev."""

    def __init__(self, recipe: Recipe) -> None:
        self.rate = recipe.learning_rate
        self._halves = recipe.regime is not None
        self._best = float("-inf")

    def see(self, dev: float) -> None:
        if dev > self._best:
            self._best = dev
        elif self._halves:
            self.rate *= HALF


def clip(model: nn.Module, regime: Regime) -> None:
    """The gradient as a whole, or each of its numbers, cut down to size."""
    if regime.clip_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), regime.clip_norm)
    if regime.clip_value is not None:
        nn.utils.clip_grad_value_(model.parameters(), regime.clip_value)
