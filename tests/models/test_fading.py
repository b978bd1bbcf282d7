"""Does stopping where a deletion has faded give what reading on would?"""

import pytest
import torch

from assay.models import deletion as fading
from assay.statistics.divergence import class_probabilities, tvd
from tests.small_models import batch, network

LENGTHS = [1, 2, 30, 90, 41]


def both(model, documents):
    exact = model.logits_without_each(documents)
    faded = model.logits_without_each(documents, exact=False)
    return exact[documents.mask], faded[documents.mask]


@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_with_no_tolerance_it_is_exact(monkeypatch, task: str, attention: str):
    monkeypatch.setattr(fading, "TOLERANCE", -1.0)  # nothing is ever near enough
    documents = batch(LENGTHS, pair=task == "pair", classes=3)
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
    original = fading.FadingRestart.steps

    def counted(self):
        for step in original(self):
            read.append(len(step.values))
            yield step

    monkeypatch.setattr(fading.FadingRestart, "steps", counted)
    network().logits_without_each(batch([400]), exact=False)
    assert sum(read) < 0.5 * 400 * 400


def test_encoders_that_reach_no_further_are_exact_anyway():
    documents = batch(LENGTHS)
    for encoder in ("cnn", "average"):
        exact, faded = both(network(encoder=encoder), documents)
        assert torch.equal(exact, faded)
