"""Tests of the scores from attention and of the random score."""

import numpy as np
import pytest

from assay.models.view import NotApplicable, View
from assay.scores.attention import (
    attention_contribution,
    attention_norm,
    attention_polarity,
    random,
)
from tests.builders.known_models import view_of
from tests.builders.small_models import batch, network


def test_attention_norm_by_hand():
    view = view_of([4])
    for item in range(4):
        state = view.states.items[0, item].detach().numpy()
        expected = float(view.weights[0, item]) * np.sqrt((state**2).sum())
        assert float(attention_norm(view)[0, item]) == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 4])
def test_attention_contribution_by_hand(classes: int):
    view = View(network(classes=classes), batch([4, 2], classes=classes))
    found = attention_contribution(view).numpy()
    weight, bias = (p.detach().numpy() for p in view.model.head.output.parameters())
    for item in range(4):
        logits = weight @ view.states.items[0, item].detach().numpy()
        centered = logits - logits.mean() if classes > 2 else logits
        expected = float(view.weights[0, item]) * np.sqrt((centered**2).sum())
        assert found[0, item] == pytest.approx(expected)
    assert (found[1, 2:] == 0).all()
    assert bias.shape == ((1,) if classes == 2 else (4,))


def test_a_constant_added_to_all_logits_of_an_item_contributes_nothing():
    view = View(network(classes=3), batch([5], classes=3))
    before = attention_contribution(view).numpy()
    view.affine.items[0, 2] += 7
    np.testing.assert_allclose(attention_contribution(view).numpy(), before, atol=1e-12)


def test_attention_contribution_needs_affine_logits():
    view = View(network("pair", classes=3), batch([3], pair=True, classes=3))
    with pytest.raises(NotApplicable, match="affine_terms"):
        attention_contribution(view)


def test_random_score_is_uniform():
    draws = random(view_of([2000]))[0].numpy()
    assert 0 <= draws.min() < 0.01 < 0.99 < draws.max() < 1
    assert draws.mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("classes", [2, 4])
def test_attention_polarity_by_hand(classes: int):
    view = View(network(classes=classes, seed=4), batch([4, 2, 5], classes=classes))
    found = attention_polarity(view).numpy()
    weight, _ = (p.detach().numpy() for p in view.model.head.output.parameters())
    for row, length in enumerate((4, 2, 5)):
        decided = int(view.decisions[row])
        for item in range(length):
            logits = weight @ view.states.items[row, item].detach().numpy()
            if classes == 2:
                speaks = logits[0] if decided == 1 else -logits[0]
            else:
                speaks = logits[decided] - np.delete(logits, decided).mean()
            expected = float(view.weights[row, item]) * speaks
            assert found[row, item] == pytest.approx(expected)
    assert (found[1, 2:] == 0).all()


def test_polarities_add_up_to_the_log_odds_without_the_bias():
    view = View(network(), batch([4, 7]))
    bias = float(view.model.head.output.bias.detach())
    sign = 2 * view.decisions.numpy() - 1
    logits = view.logits[:, 0].numpy()
    np.testing.assert_allclose(attention_polarity(view).sum(1), sign * (logits - bias), atol=1e-12)
