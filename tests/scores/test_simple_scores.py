"""Are replacement, norm and chance what their names say?"""

import numpy as np
import pytest
import torch

from assay.models.view import NotApplicable, View
from assay.scores.attention import attention_norm, random
from assay.scores.score import rows_per_pass
from assay.scores.surrogates import DRAWS, feature_permutation, replacements
from assay.statistics.divergence import class_probabilities, tvd
from tests.scores.known_models import POOL, view_of
from tests.small_models import batch, network


@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_replacement_is_a_plain_loop(task: str, classes: int, monkeypatch):
    monkeypatch.setattr("assay.scores.score.PASS_BYTES", 20_000)  # several passes
    view = view_of([3, 6], task=task, classes=classes)
    assert rows_per_pass(view, 6) < 6 * DRAWS
    words, found = replacements(view), feature_permutation(view)
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
        there = view.batch.mask[:, item]
        expected = torch.stack(moved).mean(0)[there]
        torch.testing.assert_close(found[there, item], expected)


def test_replacements_are_words_of_the_corpus_and_all_of_them_in_time():
    drawn = replacements(view_of([40, 40]))
    assert set(drawn.flatten().tolist()) == set(POOL.tolist())


def test_without_a_corpus_there_is_nothing_to_replace_with():
    with pytest.raises(NotApplicable, match="corpus"):
        feature_permutation(View(network(), batch([3])))


def test_the_norm_by_hand():
    view = view_of([4])
    for item in range(4):
        state = view.states.items[0, item].detach().numpy()
        expected = float(view.weights[0, item]) * np.sqrt((state**2).sum())
        assert float(attention_norm(view)[0, item]) == pytest.approx(expected)


def test_chance_is_uniform():
    drawn = random(view_of([2000]))[0].numpy()
    assert 0 <= drawn.min() < 0.01 < 0.99 < drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=0.02)
