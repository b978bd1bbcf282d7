"""Tests of normalizations as linear maps of the parts of a vector."""

import pytest
import torch
from torch import nn

from assay.models.adapters.normalization import normalization_of

SIZE = 6


class GainMinusOne(nn.Module):
    """RMSNorm that stores its gain minus one, as some families do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(SIZE))

    def forward(self, given):
        return (1 + self.weight) * given / (given.square().mean(-1, keepdim=True) + 1e-3).sqrt()


def randomized(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return module.double()


NORMS = (
    lambda: nn.LayerNorm(SIZE, eps=0.1),
    lambda: nn.LayerNorm(SIZE, bias=False),
    lambda: nn.LayerNorm(SIZE, elementwise_affine=False),
    lambda: nn.RMSNorm(SIZE, eps=1e-3),
    GainMinusOne,
)


@pytest.mark.parametrize("build", NORMS)
@torch.no_grad()
def test_parts_and_shift_add_up_to_the_normalized_vector(build):
    torch.manual_seed(1)
    module = randomized(build())
    seen = torch.randn(9, SIZE, dtype=torch.float64)
    form = normalization_of(module, seen, module(seen))
    assert form is not None
    parts = torch.randn(2, 4, SIZE, dtype=torch.float64)
    whole = parts.sum(1)
    found = form.of_parts(parts, whole, module(whole))
    shift = getattr(module, "bias", None)
    torch.testing.assert_close(found.sum(1) + (0 if shift is None else shift), module(whole))
    doubled = form.of_parts(2 * parts, whole, module(whole))
    torch.testing.assert_close(doubled, 2 * found)


@pytest.mark.parametrize("build", [nn.Tanh, nn.Identity, lambda: nn.Linear(SIZE, SIZE)])
@torch.no_grad()
def test_other_modules_are_no_normalization(build):
    torch.manual_seed(1)
    module = randomized(build())
    seen = torch.randn(9, SIZE, dtype=torch.float64)
    assert normalization_of(module, seen, module(seen)) is None
