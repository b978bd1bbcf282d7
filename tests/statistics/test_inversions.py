"""Are pairs in the wrong order counted as by looking at each pair?"""

import numpy as np
import pytest

from assay.statistics import kendall as module
from assay.statistics.kendall import inversions


def every_pair(row):
    return sum(a > b for i, a in enumerate(row) for b in row[i + 1 :])


@pytest.mark.parametrize("length", [0, 1, 2, 7, 55, 56, 57, 112, 113, 230])
@pytest.mark.parametrize("values", [2, 1000])
def test_equals_looking_at_every_pair(length, values):
    ranks = np.random.default_rng(length).integers(0, min(values, length + 1), size=(6, length))
    assert inversions(ranks).tolist() == [every_pair(row) for row in ranks.tolist()]


@pytest.mark.parametrize("length", [50, 300, 5000])
def test_sorted_and_reversed(length):
    rising = np.arange(length)
    both = np.stack([rising, rising[::-1]])
    assert inversions(both).tolist() == [0, length * (length - 1) // 2]


def test_ranks_that_do_not_fit_sixteen_bits():
    length = 40_000
    falling = np.arange(length)[::-1][None]
    assert inversions(falling).tolist() == [length * (length - 1) // 2]


@pytest.mark.parametrize("block", [1, 2, 5, 256])
def test_the_width_of_blocks_changes_nothing(block, monkeypatch):
    ranks = np.random.default_rng(block).integers(0, 300, size=(4, 300))
    expected = inversions(ranks)
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "CACHED_RANKS", 500)
    np.testing.assert_array_equal(inversions(ranks), expected)
