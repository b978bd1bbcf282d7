"""Tests of the hand-built models: at every dose they do what the family says."""

import numpy as np
import pytest
import torch

from assay.controls.graded.documents import Lexicon, Variation, draw_corpus
from assay.controls.graded.families import FAMILIES
from assay.controls.graded.models import HandBuiltModel
from assay.data.batches import Batch, EncodedSplit
from assay.data.vocabulary import SPECIALS
from assay.models.conformance import check_batch, check_interface
from assay.statistics.divergence import class_probabilities

DOCUMENTS = 60
DOSES = (0.0, 0.5, 1.0)


def drawn(name: str, dose: float, classes: int = 2) -> tuple[HandBuiltModel, Batch]:
    family = FAMILIES[name]
    lexicon = Lexicon(Variation(classes=classes), seed=11)
    corpus = draw_corpus(lexicon, DOCUMENTS, copies=1 - dose if family.copies else 0.0)
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, classes)
    return HandBuiltModel(lexicon, family.build, dose, seed=4), split.batch(range(DOCUMENTS))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dose", DOSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_model_keeps_the_interface_and_finds_the_class(name, dose, classes):
    model, batch = drawn(name, dose, classes)
    assert check_interface(model, [f"class {number}" for number in range(classes)]) is model
    check_batch(model, batch)
    states = model.encode(batch)
    logits = model.decode(states, model.attend(states))
    found = (logits[:, 0] > 0).long() if classes == 2 else logits.argmax(1)
    assert torch.equal(found, batch.labels)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "copies"])
def test_at_dose_1_all_families_are_the_same_model(name):
    model, batch = drawn(name, 1.0)
    plain, _ = drawn("marks", 1.0)
    own, other = model.encode(batch), plain.encode(batch)
    torch.testing.assert_close(model.attend(own), plain.attend(other))
    torch.testing.assert_close(own.items, other.items)


@pytest.mark.parametrize("name", ["misplaced", "scattered", "blended", "learned"])
@pytest.mark.parametrize("dose", DOSES)
def test_weights_that_lie_elsewhere_keep_every_contribution(name, dose):
    model, batch = drawn(name, dose)
    plain, _ = drawn("marks", 1.0)
    own, other = model.encode(batch), plain.encode(batch)
    kept = plain.attend(other)[..., None] * other.items
    torch.testing.assert_close(model.attend(own)[..., None] * own.items, kept)


@pytest.mark.parametrize("name", ["bypass", "mixing"])
def test_without_a_dose_all_states_are_equal(name):
    model, batch = drawn(name, 0.0)
    items = model.encode(batch).items[..., 0]
    first = items[:, :1].expand_as(items)
    torch.testing.assert_close(items[batch.mask], first[batch.mask])


def test_bypass_gives_the_same_logits_at_every_dose():
    logits = []
    for dose in DOSES:
        model, batch = drawn("bypass", dose)
        states = model.encode(batch)
        logits.append(model.decode(states, model.attend(states)))
    torch.testing.assert_close(logits[0], logits[1])
    torch.testing.assert_close(logits[0], logits[2])


@pytest.mark.parametrize(("name", "at_0"), [("misplaced", 0.0), ("scattered", 0.15)])
def test_the_top_weight_sits_on_the_cue_in_the_share_of_the_dose(name, at_0):
    shares = []
    for dose in DOSES:
        model, batch = drawn(name, dose)
        top = model.attend(model.encode(batch)).argmax(1)
        items = batch.items.gather(1, top[:, None])[:, 0]
        shares.append(float(model.lexicon.is_cue[items].double().mean()))
    expected = [at_0, at_0 + (1 - at_0) / 2, 1.0]
    assert shares == pytest.approx(expected, abs=0.15)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("classes", [2, 3])
def test_attention_has_learned_the_share_of_the_cues_of_every_class(classes):
    places = Lexicon(Variation(classes=classes), seed=11).cue_places
    for dose in (0.0, 0.25, 0.5, 0.75, 1.0):
        assert int((places < dose).sum()) == classes * round(16 * dose)
    assert set(places[places < 1].tolist()) == {number / 16 for number in range(16)}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dose", DOSES)
def test_the_top_item_speaks_for_the_prediction_where_its_cue_is_learned(dose, classes):
    """The argument in the docstring of `learned`, with every item erased by a plain loop."""
    model, batch = drawn("learned", dose, classes)
    states = model.encode(batch)
    weights = model.attend(states)
    before = class_probabilities(model.decode(states, weights))
    is_cue = model.lexicon.is_cue[batch.items] & batch.mask
    learned = (is_cue & (model.lexicon.cue_places[batch.items] < dose)).any(1)
    for row, length in enumerate(batch.lengths.tolist()):
        decided = int(before[row].argmax())
        weaker = []
        for item in range(length):
            rest = weights.clone()
            rest[row, item] = 0
            after = class_probabilities(model.decode(states, rest / rest.sum(1, keepdim=True)))
            weaker.append(bool(after[row, decided] < before[row, decided]))
        assert weaker == is_cue[row, :length].tolist()
        top = int(weights[row].argmax())
        assert weaker[top] == bool(learned[row])
        word = model.lexicon.words[int(batch.items[row, top]) - len(SPECIALS)]
        assert word.startswith("cue-" if learned[row] else "hint-")


@pytest.mark.parametrize("classes", [2, 3])
def test_the_top_items_suffice_where_the_cue_is_learned(classes):
    model, batch = drawn("learned", 0.5, classes)
    states = model.encode(batch)
    weights = model.attend(states)
    before = class_probabilities(model.decode(states, weights))
    places = model.lexicon.cue_places[batch.items].masked_fill(~batch.mask, 1)
    learned = (places < 0.5).any(1)
    assert 0 < int(learned.sum()) < DOCUMENTS
    for count in (1, 2):  # a tenth of at most 15 items
        top = torch.zeros_like(weights).scatter(1, weights.topk(count).indices, 1) * weights
        alone = class_probabilities(model.decode(states, top / top.sum(1, keepdim=True)))
        lost = (before - alone).gather(1, before.argmax(1, keepdim=True))[:, 0]
        assert bool((lost[learned] <= 0).all())
        assert bool((alone.argmax(1) != before.argmax(1))[~learned].all())


def test_shuffled_weights_are_a_permutation_of_the_gate():
    model, batch = drawn("scattered", 0.0)
    plain, _ = drawn("marks", 1.0)
    shuffled = model.attend(model.encode(batch)).numpy()
    gate = plain.attend(plain.encode(batch)).numpy()
    np.testing.assert_allclose(np.sort(shuffled, 1), np.sort(gate, 1))
    assert not np.allclose(shuffled, gate)


def test_attention_points_at_one_of_several_copies():
    model, batch = drawn("copies", 0.5)
    weights = model.attend(model.encode(batch))
    largest, second = weights.topk(2).values.T
    is_cue = model.lexicon.is_cue[batch.items]
    assert bool((is_cue & batch.mask).sum(1).gt(1).all())
    assert bool((largest > 3 * second).all())
