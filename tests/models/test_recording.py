"""Tests of recordings against encodings, autograd and leave-one-out without them."""

import pytest
import torch

from assay.models.classifier import CHANGE_BYTES
from assay.models.recurrent import LSTMPass
from assay.models.view import RECORDING, View
from assay.scores import gradients
from assay.scores.leave_one_out import leave_one_out
from tests.builders.small_models import batch, network

LENGTHS = [3, 6, 1, 5]
TASKS = pytest.mark.parametrize("task", ["classification", "pair"])


@TASKS
def test_recorded_states_are_those_of_the_encoder(task: str):
    model, documents = network(task), batch(LENGTHS, pair=task == "pair")
    recorded, encoded = model.record(documents).states, model.encode(documents)
    real = documents.mask
    torch.testing.assert_close(recorded.items[real], encoded.items[real], rtol=0, atol=1e-12)
    assert recorded.mask is documents.mask
    if task == "pair":
        assert torch.equal(recorded.query, encoded.query)
        assert torch.equal(recorded.allowed, encoded.allowed)


def test_slopes_are_those_of_autograd():
    model, documents = network(), batch(LENGTHS)
    direction = torch.randn(4, 6, 16, dtype=torch.float64) * documents.mask[..., None]
    embedded = model.embed(documents).detach().requires_grad_()
    states = model.contextualise(embedded, documents).items
    (expected,) = torch.autograd.grad((states * direction).sum(), embedded)
    slopes = model.record(documents).pull_back(direction)
    torch.testing.assert_close(slopes.gradients(), expected, rtol=0, atol=1e-12)
    product = (expected * embedded.detach()).sum(-1)
    torch.testing.assert_close(slopes.input_product, product, rtol=0, atol=1e-12)


def test_a_recording_can_be_used_again():
    model, documents = network(), batch(LENGTHS)
    recording = model.record(documents)
    direction = torch.ones_like(recording.states.items) * documents.mask[..., None]
    first = recording.pull_back(direction)
    model.logits_without_each(documents, recording=recording)
    again = recording.pull_back(direction)
    assert torch.equal(first.input_product, again.input_product)
    assert torch.equal(first.gradients(), again.gradients())


@TASKS
@pytest.mark.parametrize("exact", [True, False])
def test_leave_one_out_of_a_recording_changes_no_bit(task: str, exact: bool):
    model, documents = network(task), batch(LENGTHS, pair=task == "pair")
    recorded = model.logits_without_each(documents, exact=exact, recording=model.record(documents))
    alone = model.logits_without_each(documents, exact=exact)
    assert torch.equal(recorded[documents.mask], alone[documents.mask])


def test_an_audit_reads_the_documents_once(monkeypatch: pytest.MonkeyPatch):
    passes: list[int] = []
    real = LSTMPass.__init__
    monkeypatch.setattr(
        LSTMPass, "__init__", lambda *given, **named: passes.append(1) or real(*given, **named)
    )
    view = View(network(), batch(LENGTHS))
    gradients.share_encoding(view, through_attention=True)
    assert RECORDING in view.cache
    leave_one_out(view)
    assert len(passes) == 2  # one in each direction


def test_only_a_recurrent_encoder_and_a_batch_that_is_read_at_once_are_recorded(
    monkeypatch: pytest.MonkeyPatch,
):
    assert network(encoder="cnn").record(batch(LENGTHS)) is None
    monkeypatch.setattr("assay.models.classifier.CHANGE_BYTES", CHANGE_BYTES // 2**20)
    assert network().record(batch([40, 40])) is None
