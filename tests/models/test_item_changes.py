"""Tests of the cheap leave-one-out, exact and with a fading window."""

import pytest
import torch

from assay.models import classifier as network_module
from assay.models import item_changes
from assay.models.attention import ATTENTIONS
from assay.models.classifier import CONTROL_ENCODERS, ENCODERS
from assay.models.view import View
from assay.scores.leave_one_out import leave_one_out, reencode_without_each
from assay.statistics.divergence import class_probabilities, tvd
from tests.builders.small_models import batch, network

LENGTHS = [1, 2, 5, 9, 4, 9, 13]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("encoder", [*ENCODERS, *CONTROL_ENCODERS])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_cheap_leave_one_out_equals_encoding_again(
    task: str, encoder: str, attention: str, classes: int
):
    model = network(task, encoder, attention, classes)
    documents = batch(LENGTHS, pair=task == "pair", classes=classes)
    ours = model.logits_without_each(documents)
    again = reencode_without_each(View(model, documents))
    torch.testing.assert_close(ours[documents.mask], again[documents.mask], rtol=0, atol=1e-12)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch):
    model, documents = network(), batch(LENGTHS)
    whole = model.logits_without_each(documents)
    monkeypatch.setattr(network_module, "CHANGE_BYTES", 1)  # one document at a time
    torch.testing.assert_close(model.logits_without_each(documents), whole, rtol=0, atol=1e-12)


def test_deletion_with_an_average_encoder_equals_erasing_the_weight():
    model, documents = network(encoder="average"), batch(LENGTHS)
    view = View(model, documents)
    kept = documents.mask[:, None] & ~torch.eye(13, dtype=torch.bool)
    erased = view.weights[:, None] * kept
    mass = erased.sum(-1, keepdim=True)
    renormalized = torch.where(mass > 0, erased / mass.clamp(min=1e-300), 0)
    expected = view.decode(renormalized)
    ours = model.logits_without_each(documents)
    torch.testing.assert_close(ours[documents.mask], expected[documents.mask], rtol=0, atol=1e-12)


def test_the_rest_beside_a_dominant_weight_is_renormalized():
    """One weight is 1 - 1e-20; deleting its item must restore the softmax of the others."""
    model, documents = network(encoder="average"), batch([6, 6])
    with torch.no_grad():
        model.attention.direction.weight.mul_(200)
    view = View(model, documents)
    assert view.weights.max() > 1 - 1e-9
    ours = model.logits_without_each(documents)
    torch.testing.assert_close(ours, reencode_without_each(view), rtol=0, atol=1e-9)


def test_deleting_the_only_item_leaves_the_bias():
    model, documents = network(), batch([1])
    bias = model.head.output.bias
    torch.testing.assert_close(model.logits_without_each(documents)[0, 0], bias)


def test_deleting_either_of_two_equal_neighbors_is_the_same():
    """`a a b`: deleting the first or the second `a` leaves the same text."""
    model, documents = network(), batch([3])
    documents.items[0] = torch.tensor([7, 7, 9])
    score = leave_one_out(View(model, documents))
    torch.testing.assert_close(score[0, 0], score[0, 1], rtol=0, atol=1e-12)


def test_padding_has_no_score():
    documents = batch(LENGTHS)
    assert leave_one_out(View(network(), documents))[~documents.mask].abs().max() == 0


LONG_LENGTHS = [1, 2, 30, 90, 41]


def exact_and_faded(model, documents):
    exact = model.logits_without_each(documents)
    faded = model.logits_without_each(documents, exact=False)
    return exact[documents.mask], faded[documents.mask]


@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_fading_without_tolerance_is_exact(monkeypatch, task: str, attention: str):
    monkeypatch.setattr(item_changes, "TOLERANCE", -1.0)  # nothing is ever near enough
    documents = batch(LONG_LENGTHS, pair=task == "pair", classes=3)
    exact, faded = exact_and_faded(network(task, attention=attention, classes=3), documents)
    torch.testing.assert_close(faded, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "pair"])
def test_fading_is_close_to_exact_on_long_texts(task: str):
    documents = batch([400, 350], pair=task == "pair", classes=3)
    model = network(task, classes=3)
    exact, faded = exact_and_faded(model, documents)
    difference = tvd(class_probabilities(exact), class_probabilities(faded))
    assert 0 < difference.max() < 1e-5


def test_fading_stops_early(monkeypatch):
    read: list[int] = []
    original = item_changes.FadingRestart.steps

    def counted(self, *start):
        for step in original(self, *start):
            read.append(len(step.values))
            yield step

    monkeypatch.setattr(item_changes.FadingRestart, "steps", counted)
    network().logits_without_each(batch([400]), exact=False)
    assert sum(read) < 0.5 * 400 * 400


def test_encoders_with_limited_reach_are_always_exact():
    documents = batch(LONG_LENGTHS)
    for encoder in ("cnn", "average"):
        exact, faded = exact_and_faded(network(encoder=encoder), documents)
        assert torch.equal(exact, faded)
