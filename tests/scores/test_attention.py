"""Tests of the scores from attention and of the random score."""

import numpy as np
import pytest

from assay.scores.attention import attention_norm, random
from tests.builders.known_models import view_of


def test_attention_norm_by_hand():
    view = view_of([4])
    for item in range(4):
        state = view.states.items[0, item].detach().numpy()
        expected = float(view.weights[0, item]) * np.sqrt((state**2).sum())
        assert float(attention_norm(view)[0, item]) == pytest.approx(expected)


def test_random_score_is_uniform():
    draws = random(view_of([2000]))[0].numpy()
    assert 0 <= draws.min() < 0.01 < 0.99 < draws.max() < 1
    assert draws.mean() == pytest.approx(0.5, abs=0.02)
