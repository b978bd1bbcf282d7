"""Tests of DeepLIFT's rescale rule."""

from dataclasses import replace
from math import tanh

import pytest
import torch
from captum.attr import DeepLift
from torch import nn

from assay.models.view import NotApplicable
from assay.scores.deeplift import deeplift, logit_margin, require_feedforward
from tests.builders.known_models import Bare, view_of


@pytest.mark.parametrize("encoder", ["cnn", "average"])
@pytest.mark.parametrize(
    ("task", "classes"),
    [
        ("classification", 2),
        ("classification", 4),
        ("pair", 3),
    ],
)
def test_contributions_add_up(encoder: str, task: str, classes: int):
    view = view_of([4, 9, 1], encoder=encoder, task=task, classes=classes)
    embedded = view.model.embed(view.batch)

    def leads(values: torch.Tensor) -> torch.Tensor:
        states = view.model.contextualise(values, view.batch)
        return logit_margin(view.model.decode(states, view.weights), view.decisions)

    total = leads(embedded) - leads(torch.zeros_like(embedded))
    torch.testing.assert_close(deeplift(view).sum(1), total, rtol=1e-9, atol=1e-9)


def test_by_hand():
    """One unit: tanh(w e + b) with w = 2, b = -1; two items with e = 0.5 and 1.5."""
    view = view_of([2], encoder="average")
    with torch.no_grad():
        for parameter in view.model.parameters():
            parameter.zero_()
        first, second = view.batch.items[0].tolist()
        view.model.text.embedding.weight[first, 0] = 0.5
        view.model.text.embedding.weight[second, 0] = 1.5
        view.model.text.encoder.map.weight[0, 0] = 2
        view.model.text.encoder.map.bias[0] = -1
        view.model.head.output.weight[0, 0] = 3
        view.model.head.output.bias[0] = 10  # predicts class 1
    reference = tanh(-1)
    expected = [0.5 * 3 * (tanh(0) - reference), 0.5 * 3 * (tanh(2) - reference)]
    assert deeplift(replace(view)).tolist()[0] == pytest.approx(expected)


class Modules(nn.Module):
    """The cnn encoder and its head with activations as modules, as captum needs them."""

    def __init__(self, view) -> None:
        super().__init__()
        self.view, encoder = view, view.model.text.encoder
        self.maps = nn.ModuleList([nn.Sequential(m, nn.ReLU()) for m in encoder.maps])

    def forward(self, embedded: torch.Tensor) -> torch.Tensor:
        times = len(embedded) // len(self.view.batch.ids)
        frame = self.view.model.text.frame(embedded, self.view.batch.mask.repeat(times, 1))
        states = torch.cat([m(frame.framed.transpose(1, 2)) for m in self.maps], 1)
        items = states.transpose(1, 2)[:, 1:-1]
        context = (self.view.weights.repeat(times, 1)[..., None] * items).sum(1)
        return logit_margin(self.view.model.head.output(context), self.view.decisions.repeat(times))


@pytest.mark.filterwarnings("ignore::UserWarning:captum")  # that it sets hooks
def test_deeplift_equals_captum():
    view = view_of([5, 9, 7], encoder="cnn")
    embedded = view.model.embed(view.batch).detach()
    expected = DeepLift(Modules(view)).attribute(embedded, torch.zeros_like(embedded)).sum(-1)
    torch.testing.assert_close(deeplift(view), expected * view.batch.mask)


def test_encoders_with_gates_are_refused():
    with pytest.raises(NotApplicable, match="bilstm encoder, whose gates multiply"):
        deeplift(view_of([3]))
    with pytest.raises(NotApplicable, match="feed-forward encoder"):
        require_feedforward(Bare())
