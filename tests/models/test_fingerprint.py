"""Tests of the fingerprint of a model in memory."""

import torch
from torch import nn

from assay.data.batches import EncodedSplit
from assay.models.fingerprint import model_fingerprint
from tests.builders.hand_made_models import VOCABULARY, Curved, documents

SPLIT = EncodedSplit.encode(documents((4, 3), 2), VOCABULARY, 2)


def fingerprint(model):
    return model_fingerprint(model, SPLIT.batch([0, 1]))


class WithParts(Curved):
    """Holds a module, and an object of its own package that holds a tensor."""

    def __init__(self, value: float = 0.5, rate: float = 0.1) -> None:
        super().__init__(2, seed=1, scale=1.0, peak=1.0)
        self.layer = nn.Linear(2, 2)
        nn.init.constant_(self.layer.weight, value)
        nn.init.constant_(self.layer.bias, 0.0)
        self.held = Held(rate)


class Held:
    def __init__(self, rate: float) -> None:
        self.rates = [torch.tensor(rate, dtype=torch.bfloat16)]


class Bent(WithParts):
    """The same tensors and another computation."""

    def bend(self, context: torch.Tensor) -> torch.Tensor:
        return torch.relu(context)


def test_equal_models_have_equal_fingerprints():
    assert fingerprint(WithParts()) == fingerprint(WithParts())


def test_parameters_held_objects_and_code_count():
    found = [WithParts(), WithParts(value=0.6), WithParts(rate=0.2), Bent()]
    assert len({fingerprint(model) for model in found}) == len(found)


def test_what_a_function_computes_counts():
    """A function has no bytes to read, so the answer of the model must tell."""
    one, other = WithParts(), WithParts()
    other.bend = torch.sin
    assert fingerprint(one) != fingerprint(other)
