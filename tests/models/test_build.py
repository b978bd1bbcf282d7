"""Tests of building models."""

import torch

from assay.models.build import build_model
from tests.builders.small_models import network


def test_initial_weights_depend_only_on_the_seed():
    config = network().config
    torch.manual_seed(1)
    first = build_model(config, 5)
    torch.manual_seed(2)
    second = build_model(config, 5)
    other = build_model(config, 6)
    same = [torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)]
    differ = [
        torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True)
    ]
    assert all(same)
    assert not all(differ)
