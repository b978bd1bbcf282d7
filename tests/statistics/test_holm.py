"""Holm's procedure, compared with the adjusted p-values of its definition."""

import numpy as np
import pytest

from assay.statistics.holm import holm


def adjusted(p_values: np.ndarray) -> np.ndarray:
    """The running maximum of (m - k) p over the ascending p-values."""
    order = np.argsort(p_values)
    steps = (len(p_values) - np.arange(len(p_values))) * p_values[order]
    result = np.empty(len(p_values))
    result[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return result


def test_rejections_equal_those_of_the_adjusted_p_values():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p_values = rng.random(6) ** 4
        assert [each.rejected for each in holm(p_values)] == list(adjusted(p_values) <= 0.05)


def test_levels_by_hand():
    found = holm([0.02, 0.001, 0.5, 0.03])
    assert [each.rejected for each in found] == [False, True, False, False]
    # 0.001 is compared with 0.05 / 4; 0.02 fails at 0.05 / 3, where the others stay.
    assert [each.alpha for each in found] == pytest.approx([0.05 / 3, 0.05 / 4, 0.05 / 3, 0.05 / 3])


def test_one_test_needs_no_correction_and_none_is_none():
    assert holm([0.049])[0].rejected
    assert holm([]) == []
