"""Tests of the scores from replacing items, against plain loops."""

import pytest
import torch

from assay.bench.captum_loops import feature_permutation_loop
from assay.data.vocabulary import UNKNOWN
from assay.models.view import NotApplicable, View
from assay.scores.replacement import (
    DRAWS,
    draw_replacements,
    feature_permutation,
    leave_one_out_masked,
)
from assay.scores.score import rows_per_pass
from assay.statistics.divergence import class_probabilities, tvd
from tests.builders.known_models import POOL, Bare, view_of
from tests.builders.small_models import batch, network


@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_feature_permutation_equals_a_plain_loop(task: str, classes: int, monkeypatch):
    monkeypatch.setattr("assay.scores.score.PASS_BYTES", 20_000)  # several passes
    view = view_of([3, 6], task=task, classes=classes)
    assert rows_per_pass(view, 6) < 6 * DRAWS
    words, found = draw_replacements(view), feature_permutation(view)
    for item in range(6):
        moved = []
        for draw in range(DRAWS):
            items = view.batch.items.clone()
            items[:, item] = words[:, item, draw]
            changed = view_of([3, 6], task=task, classes=classes).batch
            changed.items.copy_(items * view.batch.mask)
            states = view.model.encode(changed)
            logits = view.model.decode(states, view.model.attend(states))
            moved.append(tvd(class_probabilities(logits), view.probabilities))
        real = view.batch.mask[:, item]
        expected = torch.stack(moved).mean(0)[real]
        torch.testing.assert_close(found[real, item], expected)


def test_replacements_are_all_words_of_the_corpus():
    words = draw_replacements(view_of([40, 40]))
    assert set(words.flatten().tolist()) == set(POOL.tolist())


def test_feature_permutation_needs_a_corpus():
    with pytest.raises(NotApplicable, match="corpus"):
        feature_permutation(View(network(), batch([3])))


def replaced(view: View, item: int, word: int) -> torch.Tensor:
    """The TVD (B,) after one item of every document is replaced, by encoding it again."""
    changed = batch(view.batch.lengths.tolist())
    changed.items[:, item] = torch.where(view.batch.mask[:, item], word, 0)
    states = view.model.encode(changed)
    logits = view.model.decode(states, view.model.attend(states))
    return tvd(class_probabilities(logits.double()), view.probabilities)


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_masked_leave_one_out_equals_a_plain_loop(encoder: str):
    view = view_of([3, 6, 1], encoder=encoder)
    found = leave_one_out_masked(view)
    for item in range(6):
        expected = replaced(view, item, UNKNOWN) * view.batch.mask[:, item]
        torch.testing.assert_close(found[:, item], expected)


def test_the_unknown_word_itself_scores_zero():
    view = view_of([5, 4])
    view.batch.items[0, 2] = UNKNOWN
    found = leave_one_out_masked(view)
    assert found[0, 2] == 0
    assert (found[0, [0, 1, 3, 4]] > 0).all()


def test_masked_leave_one_out_of_a_model_with_three_methods():
    inner, bare = view_of([4, 2]), View(Bare(), batch([4, 2]))
    torch.testing.assert_close(leave_one_out_masked(bare), leave_one_out_masked(inner))


def test_a_model_without_an_unknown_word_has_no_masked_leave_one_out():
    model = Bare()
    model.unknown = None
    with pytest.raises(NotApplicable, match="unknown word"):
        leave_one_out_masked(View(model, batch([4, 2])))


def test_feature_permutation_equals_captum():
    view = view_of([7, 3])
    found = feature_permutation(view)
    for row, expected in enumerate(feature_permutation_loop(view, rows=5)):
        torch.testing.assert_close(found[row, : len(expected)], expected, rtol=1e-6, atol=1e-9)
