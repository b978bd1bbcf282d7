"""Are replacement, norm and chance what their names say?"""

import numpy as np
import pytest

from assay.scores.attention import attention_norm, random
from tests.scores.known_models import view_of


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
