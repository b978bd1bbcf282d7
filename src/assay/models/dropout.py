"""Which numbers are left out while a model learns, and who decides?

A model only marks the places where it may happen. How much is dropped is the recipe's affair
and the draws are seeded, so both are given for the time of a training and taken back after it:
outside of one nothing can be dropped, whatever mode the model is in.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """A named place; what is kept is scaled up, so that sums stay the same on average."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place
        self.rate = 0.0
        self.generator: torch.Generator | None = None

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return values
        kept = torch.empty_like(values).bernoulli_(1 - self.rate, generator=self.generator)
        return values * kept.div_(1 - self.rate)


@contextmanager
def dropping(
    model: nn.Module, rates: Mapping[str, float], generator: torch.Generator
) -> Iterator[None]:
    """Within it `model` drops at these places; a place without a rate drops nothing."""
    places = [module for module in model.modules() if isinstance(module, Dropout)]
    try:
        for module in places:
            module.rate, module.generator = rates.get(module.place, 0.0), generator
        yield
    finally:
        for module in places:
            module.rate, module.generator = 0.0, None
