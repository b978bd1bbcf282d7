"""Tests of tau and its p-value against scipy, row by row, and of counting inversions."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from assay.statistics import kendall as module
from assay.statistics.kendall import Kendall, inversions, kendall

TOLERANCE = 1e-12


def scipy_rows(x, y, mask):
    """The oracle: one call per row; NaN where there are fewer than two items."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of constant and tiny lists
        for a, b, real in zip(x, y, mask, strict=True):
            enough = real.sum() > 1
            rows.append(tuple(kendalltau(a[real], b[real])) if enough else (np.nan, np.nan))
    return Kendall(*np.array(rows).T)


def assert_equal_to_scipy(x, y, mask):
    ours, theirs = kendall(x, y, mask), scipy_rows(x, y, mask)
    np.testing.assert_allclose(ours.tau, theirs.tau, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(ours.p, theirs.p, rtol=0, atol=TOLERANCE)


def prefix_mask(rng, rows, length):
    return np.arange(length) < rng.integers(0, length + 1, size=(rows, 1))


def test_by_hand():
    # Two of three pairs agree. All six orders have a tau at least as far from zero, so p is 1.
    one = np.array([[1.0, 2.0, 3.0]])
    other = np.array([[1.0, 3.0, 2.0]])
    result = kendall(one, other, np.ones((1, 3), bool))
    assert result.tau[0] == pytest.approx(1 / 3)
    assert result.p[0] == 1.0


def test_perfect_agreement_of_four_has_two_orders_of_24():
    one = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert kendall(one, one, np.ones((1, 4), bool)).p[0] == pytest.approx(2 / 24)


@pytest.mark.parametrize("length", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("values", [2, 3, 1000])
def test_short_lists_with_and_without_ties(length, values):
    rng = np.random.default_rng(length * values)
    x, y = rng.integers(0, values, size=(2, 150, length)).astype(float)
    assert_equal_to_scipy(x, y, prefix_mask(rng, 150, length))


@pytest.mark.parametrize("decimals", [1, 2, 16])
def test_sentence_length(decimals):
    rng = np.random.default_rng(decimals)
    x = rng.random((400, 50)).round(decimals)
    y = (x + rng.normal(size=(400, 50))).round(decimals)
    assert_equal_to_scipy(x, y, prefix_mask(rng, 400, 50))


@pytest.mark.parametrize("length", [33, 34, 55, 56, 57, 112, 113, 200, 1001, 4000])
@pytest.mark.parametrize("decimals", [1, 3, 16])
def test_long_lists(length, decimals):
    rng = np.random.default_rng(length)
    x, y = rng.random((2, 5, length)).round(decimals)
    assert_equal_to_scipy(
        x, y, np.arange(length) < np.array([[length], [length]] + [[length - 9]] * 3)
    )


@pytest.mark.parametrize("length", [2, 3, 5, 33, 34, 60, 170, 171, 172, 300])
def test_nearly_sorted_lists_of_any_length(length):
    x = np.tile(np.arange(length, dtype=float), (4, 1))
    y = x.copy()
    y[1, :2] = y[1, 1::-1]
    y[2] *= -1
    y[3] = -y[1]
    assert_equal_to_scipy(x, y, np.ones_like(x, dtype=bool))


def test_tiny_p_is_accurate():
    x = np.arange(40.0)[None]
    p = kendall(x, x, np.ones((1, 40), bool)).p[0]
    assert p == pytest.approx(kendalltau(x[0], x[0]).pvalue, rel=1e-9)


def test_mask_with_gaps_hides_any_value():
    rng = np.random.default_rng(5)
    x, y = rng.random((2, 200, 30)).round(1)
    mask = rng.random((200, 30)) < 0.6
    x[~mask], y[~mask] = np.nan, np.inf
    assert_equal_to_scipy(x, y, mask)


def test_infinite_and_signed_values():
    x = np.array([[np.inf, -np.inf, 0.0, -0.0, 5.0, -5.0, 1e-320]])
    y = np.array([[3.0, -3.0, 1.0, 2.0, np.inf, -1e300, 0.5]])
    assert_equal_to_scipy(x, y, np.ones_like(x, dtype=bool))


def test_undefined_tau_is_nan():
    x = np.array([[1.0, 1, 1], [1, 2, 3], [1, 2, 3], [1, 2, 3], [np.nan, 2, 3]])
    y = np.array([[1.0, 2, 3], [4, 4, 4], [1, 2, 3], [1, 2, 3], [1, 2, 3]])
    mask = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
    result = kendall(x, y, mask)
    assert np.isnan(result.tau).all()
    assert np.isnan(result.p).all()


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_empty_batches(shape):
    result = kendall(np.empty(shape), np.empty(shape), np.ones(shape, bool))
    assert result.tau.shape == result.p.shape == shape[:1]
    assert np.isnan(result.tau).all()


def test_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(6)
    x, y = rng.random((2, 50, 20)).round(1)
    mask = prefix_mask(rng, 50, 20)
    whole = kendall(x, y, mask)
    monkeypatch.setattr(module, "CHUNK_BYTES", 3 * 20 * module.BYTES_PER_ITEM)
    np.testing.assert_array_equal(kendall(x, y, mask), whole)


def test_memory_is_bounded():
    x, y = np.random.default_rng(0).random((2, 300, 4000))
    mask = np.ones(x.shape, dtype=bool)
    tracemalloc.start()
    kendall(x, y, mask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * module.CHUNK_BYTES


def test_batch_and_padding_change_nothing():
    rng = np.random.default_rng(7)
    x, y = rng.random((2, 40, 100)).round(2)
    mask = prefix_mask(rng, 40, 100)
    together = kendall(x, y, mask)
    for row, items in enumerate(mask.sum(axis=1)):
        part = (slice(row, row + 1), slice(0, items))
        alone = kendall(x[part], y[part], mask[part])
        np.testing.assert_array_equal(alone, [together.tau[[row]], together.p[[row]]])


def test_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 4\)"):
        kendall(np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 3), bool))


lists = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=70)


def one_row(pairs):
    x, y = np.array(pairs, dtype=float).T[:, None]
    return x, y, np.ones_like(x, dtype=bool)


@given(lists)
def test_symmetric(pairs):
    x, y, mask = one_row(pairs)
    np.testing.assert_allclose(kendall(x, y, mask), kendall(y, x, mask), rtol=0, atol=TOLERANCE)


@given(lists)
def test_reversing_one_list_changes_the_sign(pairs):
    x, y, mask = one_row(pairs)
    tau, p = kendall(x, y, mask)
    np.testing.assert_allclose(kendall(x, -y, mask), (-tau, p), rtol=0, atol=TOLERANCE)


@given(lists)
def test_only_the_order_matters(pairs):
    x, y, mask = one_row(pairs)
    np.testing.assert_array_equal(kendall(np.exp(x), y**3, mask), kendall(x, y, mask))


@given(lists, st.randoms(use_true_random=False))
def test_order_of_items_does_not_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    np.testing.assert_array_equal(kendall(*one_row(pairs)), kendall(*one_row(shuffled)))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=70, unique=True))
def test_a_list_agrees_with_itself(values):
    x = np.array([values])
    assert kendall(x, x, np.ones_like(x, dtype=bool)).tau[0] == pytest.approx(1, abs=TOLERANCE)


def count_inversions(row):
    return sum(a > b for i, a in enumerate(row) for b in row[i + 1 :])


@pytest.mark.parametrize("length", [0, 1, 2, 7, 55, 56, 57, 112, 113, 230])
@pytest.mark.parametrize("values", [2, 1000])
def test_inversions_equal_comparing_every_pair(length, values):
    ranks = np.random.default_rng(length).integers(0, min(values, length + 1), size=(6, length))
    assert inversions(ranks).tolist() == [count_inversions(row) for row in ranks.tolist()]


@pytest.mark.parametrize("length", [50, 300, 5000])
def test_inversions_of_sorted_and_reversed_lists(length):
    rising = np.arange(length)
    both = np.stack([rising, rising[::-1]])
    assert inversions(both).tolist() == [0, length * (length - 1) // 2]


def test_inversions_of_ranks_beyond_16_bits():
    length = 40_000
    falling = np.arange(length)[::-1][None]
    assert inversions(falling).tolist() == [length * (length - 1) // 2]


@pytest.mark.parametrize("block", [1, 2, 5, 256])
def test_width_of_blocks_changes_nothing(block, monkeypatch):
    ranks = np.random.default_rng(block).integers(0, 300, size=(4, 300))
    expected = inversions(ranks)
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "CACHED_RANKS", 500)
    np.testing.assert_array_equal(inversions(ranks), expected)
