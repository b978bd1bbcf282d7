"""Layer normalization as a linear map, so that it can be applied to the parts of a sum.

A normalization divides a vector by a statistic of its own: the standard deviation (LayerNorm) or
the root mean square (RMSNorm). With the statistic of the whole vector the map is linear, and the
normalized parts, plus the learned shift, add up to the normalized whole (Kobayashi et al. 2021).

Nothing is read from the class of a module. Its outputs must be explained by one of the linear maps
that are tried here, and the statistic is the one that explains them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# The largest difference that rounding explains, relative to the largest output. Some families
# normalize in float32, whatever the type of the model's numbers.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4}
COARSE_TOLERANCE = 2e-2


@dataclass(frozen=True)
class Normalization:
    """made = rate * gain * (given - its mean, if centered) + shift, with one rate per vector."""

    gain: Tensor  # (m,)
    shift: Tensor  # (m,)
    centered: bool

    def of_parts(self, parts: Tensor, given: Tensor, made: Tensor) -> Tensor:
        """The parts (B, T, m) of a vector normalized as the module did the whole.

        `given` and `made` (B, m) are what the module read and returned.
        """
        return self._rate(given.double(), made.double())[:, None] * self._scaled(parts)

    def explains(self, given: Tensor, made: Tensor) -> bool:
        """Whether a module that read these vectors (N, m) and returned those is this map."""
        given, made = given.double(), made.double()
        found = self._rate(given, made) * self._scaled(given) + self.shift
        return bool((found - made).abs().max() <= rounding(self.gain.dtype, made))

    def _scaled(self, vectors: Tensor) -> Tensor:
        mean = vectors.mean(-1, keepdim=True) if self.centered else 0.0
        return self.gain * (vectors - mean)

    def _rate(self, given: Tensor, made: Tensor) -> Tensor:
        """(B, 1): the inverse of the statistic, by least squares; without rounding it is exact."""
        scaled = self._scaled(given)
        size = scaled.square().sum(-1, keepdim=True).clamp(min=torch.finfo(scaled.dtype).tiny)
        return (scaled * (made - self.shift)).sum(-1, keepdim=True) / size


def normalization_of(module: nn.Module, given: Tensor, made: Tensor) -> Normalization | None:
    """The linear map of a module that read vectors (N, m); None if it is no normalization."""
    if torch.equal(given, made):
        return None  # dropout, or a module that does nothing
    for one in _candidates(module, given):
        if one.explains(given, made):
            return one
    return None


def rounding(dtype: torch.dtype, values: Tensor) -> float:
    """The largest difference between two computations of these values that rounding explains."""
    return TOLERANCE.get(dtype, COARSE_TOLERANCE) * float(values.abs().max())


def _candidates(module: nn.Module, given: Tensor) -> Iterator[Normalization]:
    """Maps with the module's own parameters; some families store the gain minus one."""
    ones = given.new_ones(given.shape[-1])
    weight, bias = _vector(module, "weight", ones), _vector(module, "bias", ones)
    gains = (ones,) if weight is None else (weight, 1 + weight)
    shift = torch.zeros_like(ones) if bias is None else bias
    for gain in gains:
        for centered in (True, False):
            yield Normalization(gain, shift, centered)


def _vector(module: nn.Module, name: str, like: Tensor) -> Tensor | None:
    """The parameter of this name, if it is a vector of the right size."""
    value = getattr(module, name, None)
    return value.detach() if isinstance(value, Tensor) and value.shape == like.shape else None
