"""Tests of replaced items: the cheap route against encoding every changed document."""

from dataclasses import replace

import pytest
import torch

from assay.models import classifier, item_changes
from assay.models.attention import ATTENTIONS
from assay.models.classifier import CONTROL_ENCODERS, ENCODERS, SERRANO_SMITH
from assay.models.view import AuditView, View
from assay.scores.replacement import reencoded_tvd, replaced_tvd
from tests.builders.nested_batches import batch_for, layered
from tests.builders.small_models import WORDS, batch, network

LENGTHS = [1, 2, 5, 9, 4, 9, 13]


def draws(documents, turns, least=4, most=WORDS):
    """Random items (B, T, turns)."""
    rng = torch.Generator().manual_seed(1)
    return torch.randint(least, most, (*documents.items.shape, turns), generator=rng)


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("encoder", [*ENCODERS, *CONTROL_ENCODERS])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_cheap_replacement_equals_encoding_again(task: str, encoder: str, attention: str):
    documents = batch(LENGTHS, pair=task == "pair", classes=3)
    view, words = View(network(task, encoder, attention, 3), documents), draws(documents, 2)
    ours, again = (tvds(view, documents, words) for tvds in (replaced_tvd, reencoded_tvd))
    torch.testing.assert_close(ours, again, rtol=0, atol=1e-12)
    assert encoder == "pooled" or ours[documents.mask].min() > 0


@pytest.mark.parametrize("encoder", SERRANO_SMITH)
def test_sentences_and_words_of_the_hierarchical_models(encoder: str):
    documents = batch_for(encoder, [1, 2, 5, 9, 4])
    real = documents.items[documents.mask]
    words = draws(documents, 2, int(real.min()), int(real.max()) + 1)
    view = View(layered(encoder), documents)
    ours, again = (tvds(view, documents, words) for tvds in (replaced_tvd, reencoded_tvd))
    torch.testing.assert_close(ours, again, rtol=0, atol=1e-10)


def test_one_replacement_by_hand():
    """`a b c` with x for b is the document `a x c`."""
    model, documents = network(), batch([3])
    changed = replace(documents, items=documents.items.clone())
    changed.items[0, 1] = 21
    ours = model.logits_with_each_replaced(documents, torch.tensor([[20, 21, 22]]))
    torch.testing.assert_close(ours[0, 1], View(model, changed).logits[0])


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_item_itself_changes_nothing(encoder: str):
    documents = batch(LENGTHS)
    view = View(network(encoder=encoder), documents)
    assert replaced_tvd(view, documents, documents.items[..., None]).max() < 1e-12


def test_one_replacement_is_the_first_of_several():
    model, documents = network(), batch([5, 3])
    words = draws(documents, 3).movedim(-1, 1)
    several = model.logits_with_each_replaced(documents, words)
    one = model.logits_with_each_replaced(documents, words[:, 0])
    torch.testing.assert_close(one, several[:, 0], rtol=0, atol=1e-12)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch):
    documents = batch(LENGTHS)
    view, words = View(network(), documents), draws(documents, 3)
    whole = replaced_tvd(view, documents, words)
    monkeypatch.setattr(classifier, "CHANGE_BYTES", 1)  # one changed document at a time
    found = replaced_tvd(view, documents, words)
    torch.testing.assert_close(found, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("encoder", ["bilstm", "flan-rnn"])
def test_fading_without_tolerance_is_exact(monkeypatch, encoder: str):
    monkeypatch.setattr(item_changes, "TOLERANCE", -1.0)  # nothing is ever near enough
    model = network() if encoder == "bilstm" else layered(encoder)
    documents = batch([1, 2, 30, 41])
    view, words = AuditView(model, documents, exact_below=0), draws(documents, 1)
    faded, exact = (tvds(view, documents, words) for tvds in (replaced_tvd, reencoded_tvd))
    torch.testing.assert_close(faded, exact, rtol=0, atol=1e-12)


def test_long_documents_of_an_audit_stop_where_the_effect_has_faded():
    documents = batch([400, 20])
    words, model = draws(documents, 1), network()
    found = replaced_tvd(AuditView(model, documents, exact_below=100), documents, words)
    exact = replaced_tvd(View(model, documents), documents, words)
    torch.testing.assert_close(found[1], exact[1], rtol=0, atol=1e-12)
    assert 0 < (found[0] - exact[0]).abs().max() < 1e-5
