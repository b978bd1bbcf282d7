"""Rank agreement: against scipy, by enumeration of all orders, and by hand."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kendalltau

from assay.statistics.keyed_random import document_keys
from assay.statistics.rank_agreement import expected_overlap, rank_tau, top_count, top_overlap

KEYS = document_keys([f"document {row}" for row in range(40)], 0, "test")


def real(lengths: list[int], width: int) -> np.ndarray:
    return np.arange(width) < np.array(lengths)[:, None]


def test_tau_is_scipy_s_and_a_constant_list_counts_as_zero():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, (2, 40, 9)).astype(float)
    first[0] = 1.0
    mask = real(rng.integers(2, 10, 40).tolist(), 9)
    expected = [
        kendalltau(x[m], y[m]).statistic for x, y, m in zip(first, second, mask, strict=True)
    ]
    np.testing.assert_allclose(rank_tau(first, second, mask), np.nan_to_num(expected), atol=1e-12)
    assert rank_tau(first, second, mask)[0] == 0


def test_documents_with_fewer_than_two_items_and_missing_values_have_no_agreement():
    values = np.array([[1.0, 2.0, np.nan]] * 4)
    mask = real([0, 1, 2, 3], 3)
    for found in (rank_tau(values, values, mask), top_overlap(values, values, mask, KEYS[:4])):
        assert np.isnan(found).tolist() == [True, True, False, True]
    assert np.isnan(expected_overlap(mask)).tolist() == [True, True, False, False]


ALL_ORDERS = np.array(list(permutations(range(4))))
REFERENCE = np.tile([3.0, 1.0, 1.0, 2.0], (len(ALL_ORDERS), 1))
EVERY = np.ones(ALL_ORDERS.shape, dtype=bool)


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.1, 0.1), (0.25,) * 4, (0.4, 0.4, 0.1, 0.1)])
def test_tau_is_zero_in_the_mean_over_all_orders_of_one_list(weights):
    shuffled = np.array(weights)[ALL_ORDERS]
    assert rank_tau(shuffled, REFERENCE, EVERY).mean() == pytest.approx(0, abs=1e-12)


def test_the_overlap_is_k_of_t_in_the_mean_over_all_orders_of_one_list():
    shuffled = np.array([0.5, 0.3, 0.1, 0.1])[ALL_ORDERS]
    overlap = top_overlap(shuffled, REFERENCE, EVERY, np.repeat(KEYS[:1], len(ALL_ORDERS)))
    assert overlap.mean() == pytest.approx(1 / 4)
    np.testing.assert_allclose(expected_overlap(EVERY), 1 / 4)


def test_ties_at_the_top_are_broken_by_chance_and_independently_of_each_other():
    constant = np.ones((4000, 4))
    mask = np.ones(constant.shape, dtype=bool)
    keys = document_keys([str(row) for row in range(4000)], 0, "test")
    overlap = top_overlap(constant, constant, mask, keys)
    assert set(overlap) == {0.0, 1.0}
    assert overlap.mean() == pytest.approx(1 / 4, abs=0.03)
    top = np.tile([1.0, 0.0, 0.0, 0.0], (4000, 1))
    assert top_overlap(constant, top, mask, keys).mean() == pytest.approx(1 / 4, abs=0.03)


def test_the_overlap_by_hand():
    """Twenty items have a top of two: here one of them is shared."""
    first, second = np.zeros((2, 1, 20))
    first[0, [3, 7]] = 1.0, 2.0
    second[0, [3, 8]] = 1.0, 2.0
    mask = np.ones((1, 20), dtype=bool)
    assert top_overlap(first, second, mask, KEYS[:1]) == [0.5]
    assert top_overlap(first, first, mask, KEYS[:1]) == [1.0]
    assert expected_overlap(mask) == [0.1]


def test_the_top_is_a_tenth_of_the_items_and_at_least_one():
    lengths = np.array([1, 2, 14, 15, 24, 25, 100])
    assert top_count(lengths).tolist() == [1, 1, 1, 2, 2, 3, 10]


def test_padding_and_company_change_nothing():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 40, 12))
    mask = real(rng.integers(2, 13, 40).tolist(), 12)
    wider = [np.pad(x, ((0, 0), (0, 5)), constant_values=7.0) for x in (first, second)]
    wide_mask = np.pad(mask, ((0, 0), (0, 5)))
    whole = top_overlap(first, second, mask, KEYS)
    np.testing.assert_array_equal(top_overlap(*wider, wide_mask, KEYS), whole)
    alone = [
        top_overlap(first[r : r + 1], second[r : r + 1], mask[r : r + 1], KEYS[r : r + 1])[0]
        for r in range(40)
    ]
    np.testing.assert_array_equal(alone, whole)
