"""Tests of the six models of Serrano & Smith."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.models import hierarchical
from assay.models.attention import ATTENTIONS
from assay.models.classifier import SERRANO_SMITH
from assay.models.hierarchical import Dropout, active_dropout
from assay.models.protocol import Model, SupportsAffineTerms, SupportsEmbedding, SupportsLeaveOneOut
from assay.models.view import View
from assay.scores.leave_one_out import reencode_without_each
from tests.builders.nested_batches import batch_for, layered

COUNTS = [1, 2, 5, 9, 4]
every_encoder = pytest.mark.parametrize("encoder", SERRANO_SMITH)


def logits_of(model: Model, documents: Batch) -> torch.Tensor:
    states = model.encode(documents)
    return model.decode(states, model.attend(states))


def cropped(documents: Batch, row: int) -> Batch:
    one = documents.rows(slice(row, row + 1))
    width = int(one.lengths.max())
    return replace(one, items=one.items[:, :width], mask=one.mask[:, :width])


@every_encoder
def test_models_support_all_optional_protocols(encoder: str):
    model = layered(encoder)
    assert all(
        isinstance(model, kind)
        for kind in (Model, SupportsEmbedding, SupportsAffineTerms, SupportsLeaveOneOut)
    )


@every_encoder
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_cheap_leave_one_out_equals_encoding_again(encoder: str, attention: str):
    model, documents = layered(encoder, attention), batch_for(encoder, COUNTS)
    ours, again = (
        model.logits_without_each(documents),
        reencode_without_each(View(model, documents)),
    )
    torch.testing.assert_close(ours[documents.mask], again[documents.mask], rtol=0, atol=1e-10)


@every_encoder
def test_fading_is_close_to_exact(encoder: str):
    model, documents = layered(encoder), batch_for(encoder, [30, 25])
    exact = model.logits_without_each(documents)[documents.mask]
    faded = model.logits_without_each(documents, exact=False)[documents.mask]
    torch.testing.assert_close(faded, exact, rtol=0, atol=1e-2)


@every_encoder
def test_a_batch_of_one_equals_a_batch_of_many(encoder: str):
    model, documents = layered(encoder), batch_for(encoder, COUNTS)
    together = logits_of(model, documents)
    for row in range(len(COUNTS)):
        alone = logits_of(model, cropped(documents, row))[0]
        torch.testing.assert_close(alone, together[row], rtol=0, atol=1e-12)


@every_encoder
def test_affine_terms_give_the_logits(encoder: str):
    model, documents = layered(encoder), batch_for(encoder, COUNTS)
    states = model.encode(documents)
    weights, terms = model.attend(states), model.affine_terms(states)
    torch.testing.assert_close(weights.sum(1), torch.ones(len(COUNTS), dtype=torch.float64))
    rebuilt = terms.bias + (weights[..., None] * terms.items).sum(1)
    torch.testing.assert_close(rebuilt, model.decode(states, weights))


def test_sentence_vectors_are_attended_words():
    """Every sentence is encoded by itself, with torch's own functions and no padding."""
    model, documents = layered("han-rnn"), batch_for("han-rnn", COUNTS)
    embedded, weights = model.embed(documents), model.word_weights(documents)
    table = documents.sentences
    assert table is not None
    for row, count in enumerate(COUNTS):
        assert len(weights[row]) == count
        for place in range(count):
            number = int(documents.items[row, place])
            words = table.words[table.starts[number] : table.starts[number + 1]]
            states = _bidirectional_states(model.word_level.encoder, model.embedding(words)[None])[
                0
            ]
            inside = torch.tanh(model.word_attention.items(states))
            alpha = torch.softmax(model.word_attention.direction(inside)[:, 0], 0)
            torch.testing.assert_close(torch.tensor(weights[row][place]).double(), alpha)
            torch.testing.assert_close(embedded[row, place], alpha @ states)
    assert embedded[~documents.mask].abs().max() == 0


def _bidirectional_states(encoder, items):
    both = torch.nn.GRU(12, 8, bidirectional=True, batch_first=True).double()
    both.load_state_dict(
        {
            **encoder.forwards.state_dict(),
            **{f"{name}_reverse": value for name, value in encoder.backwards.state_dict().items()},
        }
    )
    return both(items)[0]


def test_flan_convolution_equals_torch():
    model, documents = layered("flan-conv"), batch_for("flan-conv", [7])
    items = model.embed(documents).transpose(1, 2)
    maps = model.text.encoder.maps
    expected = torch.cat([F.relu(convolve(items)) for convolve in maps], 1).transpose(1, 2)
    assert [convolve.weight.shape[-1] for convolve in maps] == [3, 5]
    torch.testing.assert_close(model.encode(documents).items, expected)


def test_chunks_of_sentences_change_nothing(monkeypatch: pytest.MonkeyPatch):
    model, documents = layered("han-rnn"), batch_for("han-rnn", COUNTS)
    whole = model.embed(documents)
    monkeypatch.setattr(hierarchical, "SENTENCE_CELLS", 1)  # one sentence at a time
    torch.testing.assert_close(model.embed(documents), whole, rtol=0, atol=1e-12)


def test_leave_one_out_encodes_no_word_twice(monkeypatch: pytest.MonkeyPatch):
    model, documents = layered("han-rnn"), batch_for("han-rnn", COUNTS)
    read: list[int] = []
    encode = model.word_level.encoder.forward
    monkeypatch.setattr(
        model.word_level.encoder, "forward", lambda f: (read.append(len(f.mask)), encode(f))[1]
    )
    model.logits_without_each(documents)
    assert sum(read) == sum(COUNTS)


def test_models_refuse_items_of_the_other_kind():
    with pytest.raises(ValueError, match="sentences"):
        layered("flan-rnn").embed(batch_for("han-rnn", [2]))
    with pytest.raises(ValueError, match="words"):
        layered("han-rnn").embed(batch_for("flan-rnn", [2]))


@every_encoder
def test_dropout_is_active_only_during_a_training(encoder: str):
    model, documents = layered(encoder), batch_for(encoder, COUNTS)
    clean = logits_of(model, documents)
    torch.testing.assert_close(logits_of(model.train(), documents), clean, rtol=0, atol=0)
    places = {part.place for part in model.modules() if isinstance(part, Dropout)}
    with active_dropout(model, dict.fromkeys(places, 0.5), torch.Generator().manual_seed(1)):
        first = logits_of(model, documents)
    with active_dropout(model, dict.fromkeys(places, 0.5), torch.Generator().manual_seed(1)):
        again = logits_of(model, documents)
        torch.testing.assert_close(logits_of(model.eval(), documents), clean, rtol=0, atol=0)
    assert torch.equal(first, again)
    assert not torch.equal(first, clean)


def test_dropout_keeps_the_mean():
    place = torch.nn.Sequential(Dropout("here"), torch.nn.Linear(1, 1))
    with active_dropout(place, {"here": 0.25}, torch.Generator()):
        values = place[0](torch.ones(40_000))
    assert values.unique().tolist() == [0, pytest.approx(4 / 3)]
    assert values.mean() == pytest.approx(1, abs=0.01)


def test_loaded_vectors_are_normalized_and_padding_is_zero():
    model = layered("han-rnn")
    vectors = torch.randn(50, 12, dtype=torch.float64)
    vectors[7] = 0
    model.load_vectors(vectors)
    lengths = model.embedding.weight.norm(dim=1)
    assert lengths[0] == lengths[7] == 0
    torch.testing.assert_close(lengths[8:], torch.ones(42, dtype=torch.float64))
