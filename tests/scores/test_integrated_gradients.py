"""Tests that integrated gradients add up, and that they find sudden switches."""

import pytest
import torch
from captum.attr import IntegratedGradients

from assay.bench.captum_loops import integrated_gradients_loop
from assay.models.classifier import ENCODERS
from assay.models.protocol import States
from assay.models.view import AuditView
from assay.scores import integrated_gradients as module
from assay.scores.gradients import predicted_log_odds
from assay.scores.integrated_gradients import integrated_gradients
from assay.scores.scaled_copies import equal_documents
from tests.builders.known_models import Linear, view_of
from tests.builders.small_models import batch

MANY = 400


def log_odds_difference(view) -> torch.Tensor:
    """The sum (B,) that the contributions must have."""
    total = torch.zeros(len(view.batch.ids), dtype=torch.float64)
    for documents in equal_documents(view):
        total[documents.rows] = module.whole_lines(documents).difference
    return total


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_contributions_add_up(encoder: str, task: str, classes: int):
    view = view_of([4, 11, 7], encoder=encoder, task=task, classes=classes)
    total = log_odds_difference(view)
    found = integrated_gradients(view).sum(1)
    assert ((found - total).abs() <= module.GAP * total.abs().clamp(min=1)).all()


def test_integral_equals_a_midpoint_sum():
    """A plain midpoint sum."""
    view = view_of([4, 7])
    embedded = view.model.embed(view.batch).detach()
    plain = torch.zeros(view.batch.mask.shape, dtype=torch.float64)
    for share in (torch.arange(MANY, dtype=torch.float64) + 0.5) / MANY:
        here = (embedded * share).requires_grad_()
        odds = predicted_log_odds(view.model, here, view.batch, view.decisions)
        plain += (torch.autograd.grad(odds.sum(), here)[0] * embedded).sum(-1) / MANY
    scale = log_odds_difference(view).abs().max()
    torch.testing.assert_close(integrated_gradients(view), plain, rtol=0.02, atol=0.01 * scale)


class Switch(Linear):
    """Jumps by 5 within a thousandth of the line, which one Gauss rule of 12 points misses."""

    def decode(self, states: States, weights: torch.Tensor) -> torch.Tensor:
        logits = super().decode(states, weights)
        size = states.items.square().sum((-1, -2))[:, None]
        at_document = self.table[batch([6]).items].square().sum()
        return logits + 2.5 * torch.tanh(3000 * (size / at_document - 0.3))


def test_a_sudden_switch_is_found():
    view = AuditView(Switch(), batch([6]))
    embedded = view.model.embed(view.batch)

    def forward(values: torch.Tensor) -> torch.Tensor:
        states = States(values, torch.ones(len(values), 6, dtype=torch.bool))
        sign = 2 * view.decisions - 1
        return view.model.decode(states, view.model.attend(states))[:, 0] * sign

    fixed = IntegratedGradients(forward).attribute(embedded, n_steps=module.POINTS).sum()
    total = log_odds_difference(view)
    assert (fixed - total).abs() > 1
    torch.testing.assert_close(integrated_gradients(view).sum(1), total, rtol=0.05, atol=0.05)


def test_documents_that_do_not_add_up_are_nan(monkeypatch):
    monkeypatch.setattr(module, "HALVINGS", 0)
    assert integrated_gradients(AuditView(Switch(), batch([6]))).isnan().all()


@pytest.mark.parametrize("kind", [{}, {"encoder": "cnn"}, {"task": "pair", "classes": 3}], ids=str)
@pytest.mark.parametrize("tolerance", [torch.inf, 1e-4])  # one segment, and several
def test_contributions_equal_those_of_captum(kind: dict, tolerance: float, monkeypatch):
    monkeypatch.setattr(module, "TOLERANCE", tolerance)
    view = view_of([9, 4, 9], **kind)
    found = integrated_gradients(view)
    for row, expected in enumerate(integrated_gradients_loop(view, rows=50)):
        torch.testing.assert_close(found[row, : len(expected)], expected, rtol=1e-6, atol=1e-9)


def test_small_passes_change_nothing(monkeypatch):
    view = view_of([9, 4, 9])
    whole = integrated_gradients(view)
    monkeypatch.setattr("assay.scores.score.PASS_BYTES", 5_000)  # some points of one document
    torch.testing.assert_close(integrated_gradients(view), whole, rtol=1e-9, atol=1e-12)
