"""Tests that keyed random numbers are fair and do not depend on the batch."""

import hashlib
import itertools

import numpy as np
import pytest
from scipy import stats

from assay.statistics.keyed_random import document_keys, permutations, uniform

NAMES = [f"document {i}" for i in range(12)]
LEAST_P = 1e-3  # the p-value below which a fixed seed counts as unfair


@pytest.fixture
def keys():
    return document_keys(NAMES, seed=7, purpose="test")


@pytest.fixture
def mask():
    return np.arange(9) < np.array([9, 1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 9])[:, None]


def test_keys_are_a_hash_of_seed_purpose_and_name():
    digest = hashlib.sha256(b'[7, "test", "caf\\u00e9"]').digest()
    assert document_keys(["café"], 7, "test").tolist() == [int.from_bytes(digest[:8], "little")]


def test_keys_differ_by_name_seed_and_purpose():
    variants = [document_keys(NAMES, seed, use) for seed in (0, 1, -1) for use in ("a", "b", "")]
    every = np.concatenate(variants)
    assert every.dtype == np.uint64
    assert len(set(every.tolist())) == every.size


def test_first_number_equals_splitmix64():
    # The published generator from state 0 begins with this word.
    first = uniform(np.zeros(1, dtype=np.uint64), 1)
    assert first[0, 0] == (0xE220A8397B1DCDAF >> 11) / 2**53


def test_uniform_distribution(keys):
    draws = uniform(keys, 100, 100).ravel()
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = np.histogram(draws, bins=100, range=(0, 1))[0]
    assert stats.chisquare(counts).pvalue > LEAST_P


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_neighbors_along_every_axis_are_independent(keys, axis):
    draws = np.moveaxis(uniform(keys, 60, 70), axis, 0)
    near = np.histogram2d(draws[1:].ravel(), draws[:-1].ravel(), bins=8, range=[(0, 1)] * 2)[0]
    assert stats.chisquare(near.ravel()).pvalue > LEAST_P


def test_consecutive_keys_are_independent():
    draws = uniform(np.arange(5000, dtype=np.uint64), 4)
    correlations = np.corrcoef(draws.T) - np.eye(4)
    assert abs(correlations).max() < 0.06
    assert stats.kstest(draws[:, 0], "uniform").pvalue > LEAST_P


def test_a_larger_shape_begins_with_the_smaller(keys):
    np.testing.assert_array_equal(uniform(keys, 6, 9)[:, :2, :5], uniform(keys, 2, 5))


def test_uniform_does_not_depend_on_the_batch(keys):
    before = keys.copy()
    together = uniform(keys, 3, 4)
    np.testing.assert_array_equal(keys, before)
    for row in range(len(keys)):
        np.testing.assert_array_equal(uniform(keys[row : row + 1], 3, 4)[0], together[row])


def test_permutations_move_real_positions_only(keys, mask):
    orders = permutations(keys, mask, 20)
    assert orders.shape == (12, 20, 9)
    assert orders.dtype == np.int64
    np.testing.assert_array_equal(
        np.sort(orders, axis=-1), np.broadcast_to(np.arange(9), orders.shape)
    )
    for row, items in enumerate(mask.sum(axis=1)):
        np.testing.assert_array_equal(orders[row, :, items:], np.tile(np.arange(items, 9), (20, 1)))


def test_permutations_respect_gaps(keys):
    mask = np.random.default_rng(0).random((12, 9)) < 0.6
    orders = permutations(keys, mask, 20)
    np.testing.assert_array_equal(
        np.sort(orders, axis=-1), np.broadcast_to(np.arange(9), orders.shape)
    )
    still = orders == np.arange(9)
    assert still[np.broadcast_to(~mask[:, None], orders.shape)].all()
    assert not still.all()


def test_permutations_do_not_depend_on_batch_or_padding(keys, mask):
    together = permutations(keys, mask, 5)
    wider = permutations(keys, np.pad(mask, ((0, 0), (0, 30))), 5)
    np.testing.assert_array_equal(wider[:, :, :9], together)
    for row, items in enumerate(mask.sum(axis=1)):
        alone = permutations(keys[[row]], mask[[row], :items], 5)
        np.testing.assert_array_equal(alone[0], together[row, :, :items])


def test_more_permutations_begin_with_the_same(keys, mask):
    np.testing.assert_array_equal(permutations(keys, mask, 9)[:, :4], permutations(keys, mask, 4))


def test_all_orders_are_equally_likely(keys):
    orders = permutations(keys, np.ones((12, 4), bool), 1000).reshape(-1, 4).tolist()
    found = [tuple(order) for order in orders]
    counts = [found.count(order) for order in itertools.permutations(range(4))]
    assert sum(counts) == 12_000
    assert stats.chisquare(counts).pvalue > LEAST_P


def test_empty_requests(keys, mask):
    assert permutations(keys, mask, 0).shape == (12, 0, 9)
    assert permutations(keys[:0], mask[:0], 3).shape == (0, 3, 9)
    assert permutations(keys, mask[:, :0], 3).shape == (12, 3, 0)
    assert document_keys([], 0, "test").shape == (0,)
