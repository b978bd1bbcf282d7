"""Leave-one-out by restart must equal reading every shortened text again."""

import pytest
import torch

from assay.models import classifier as network_module
from assay.models import deletion
from assay.models.attention import ATTENTIONS
from assay.models.classifier import CONTROL_ENCODERS, ENCODERS
from assay.models.view import View
from assay.scores.leave_one_out import leave_one_out, reencode_without_each
from assay.statistics.divergence import class_probabilities, tvd
from tests.small_models import batch, network

LENGTHS = [1, 2, 5, 9, 4, 9, 13]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("encoder", [*ENCODERS, *CONTROL_ENCODERS])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_restart_equals_reading_again(task: str, encoder: str, attention: str, classes: int):
    model = network(task, encoder, attention, classes)
    documents = batch(LENGTHS, pair=task == "pair", classes=classes)
    ours = model.logits_without_each(documents)
    again = reencode_without_each(View(model, documents))
    torch.testing.assert_close(ours[documents.mask], again[documents.mask], rtol=0, atol=1e-12)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch):
    model, documents = network(), batch(LENGTHS)
    whole = model.logits_without_each(documents)
    monkeypatch.setattr(network_module, "DELETION_BYTES", 1)  # one document at a time
    torch.testing.assert_close(model.logits_without_each(documents), whole, rtol=0, atol=1e-12)


def test_deleting_from_an_average_encoder_is_erasing_the_weight():
    model, documents = network(encoder="average"), batch(LENGTHS)
    view = View(model, documents)
    kept = documents.mask[:, None] & ~torch.eye(13, dtype=torch.bool)
    erased = view.weights[:, None] * kept
    mass = erased.sum(-1, keepdim=True)
    renormalised = torch.where(mass > 0, erased / mass.clamp(min=1e-300), 0)
    expected = view.decode(renormalised)
    ours = model.logits_without_each(documents)
    torch.testing.assert_close(ours[documents.mask], expected[documents.mask], rtol=0, atol=1e-12)


def test_a_peak_that_leaves_almost_nothing_is_still_renormalised():
    """With one weight at 1 - 1e-20, deleting its item must give the others their softmax back."""
    model, documents = network(encoder="average"), batch([6, 6])
    with torch.no_grad():
        model.attention.direction.weight.mul_(200)
    view = View(model, documents)
    assert view.weights.max() > 1 - 1e-9
    ours = model.logits_without_each(documents)
    torch.testing.assert_close(ours, reencode_without_each(view), rtol=0, atol=1e-9)


def test_the_only_item_leaves_the_bias():
    model, documents = network(), batch([1])
    bias = model.head.output.bias
    torch.testing.assert_close(model.logits_without_each(documents)[0, 0], bias)


def test_a_repeated_word_is_the_same_deletion():
    """`a a b`: deleting the first or the second `a` leaves the same text."""
    model, documents = network(), batch([3])
    documents.items[0] = torch.tensor([7, 7, 9])
    score = leave_one_out(View(model, documents))
    torch.testing.assert_close(score[0, 0], score[0, 1], rtol=0, atol=1e-12)


def test_padding_has_no_score():
    documents = batch(LENGTHS)
    assert leave_one_out(View(network(), documents))[~documents.mask].abs().max() == 0


LONG_LENGTHS = [1, 2, 30, 90, 41]


def both(model, documents):
    exact = model.logits_without_each(documents)
    faded = model.logits_without_each(documents, exact=False)
    return exact[documents.mask], faded[documents.mask]


@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_with_no_tolerance_it_is_exact(monkeypatch, task: str, attention: str):
    monkeypatch.setattr(deletion, "TOLERANCE", -1.0)  # nothing is ever near enough
    documents = batch(LONG_LENGTHS, pair=task == "pair", classes=3)
    exact, faded = both(network(task, attention=attention, classes=3), documents)
    torch.testing.assert_close(faded, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "pair"])
def test_what_has_faded_is_taken_from_the_untouched_text(task: str):
    documents = batch([400, 350], pair=task == "pair", classes=3)
    model = network(task, classes=3)
    exact, faded = both(model, documents)
    apart = tvd(class_probabilities(exact), class_probabilities(faded))
    assert 0 < apart.max() < 1e-5


def test_it_does_stop_early(monkeypatch):
    read: list[int] = []
    original = deletion.FadingRestart.steps

    def counted(self):
        for step in original(self):
            read.append(len(step.values))
            yield step

    monkeypatch.setattr(deletion.FadingRestart, "steps", counted)
    network().logits_without_each(batch([400]), exact=False)
    assert sum(read) < 0.5 * 400 * 400


def test_encoders_that_reach_no_further_are_exact_anyway():
    documents = batch(LONG_LENGTHS)
    for encoder in ("cnn", "average"):
        exact, faded = both(network(encoder=encoder), documents)
        assert torch.equal(exact, faded)
