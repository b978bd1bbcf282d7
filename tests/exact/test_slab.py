"""Tests of pairs of items when all items lie on one side of a bound, as with saturated models."""

import numpy as np
import pytest

from assay.exact.numerics import overlap
from assay.exact.slab import cheapest_pairs


@pytest.mark.parametrize("sign", [-1, 1], ids=["all below", "all above"])
@pytest.mark.parametrize("items", [1, 2, 7])
def test_no_pair_exists_when_all_items_lie_on_one_side(sign, items):
    rng = np.random.default_rng(items)
    weights = rng.dirichlet(np.ones(items), 4)
    values = sign * rng.uniform(1, 2, size=(4, items))
    mask, nothing = np.ones((4, items), dtype=bool), np.full((4, 2), np.inf)
    found = cheapest_pairs(weights, values, mask, np.zeros((4, 2)), nothing)
    assert np.isinf(found.overlap).all()
    assert found.first.shape == found.second.shape == found.share.shape == (4, 2)


@pytest.mark.parametrize("sign", [-1, 1], ids=["all below", "all above"])
def test_one_sided_documents_use_no_items_of_other_documents(sign):
    rng = np.random.default_rng(3)
    weights, mask = rng.dirichlet(np.ones(5), 2), np.ones((2, 5), dtype=bool)
    values = np.stack([sign * rng.uniform(1, 2, 5), np.array([-2.0, -1.0, 1.0, 2.0, 3.0])])
    nothing = np.full((2, 1), np.inf)
    together = cheapest_pairs(weights, values, mask, np.zeros((2, 1)), nothing)
    for row in range(2):
        part = slice(row, row + 1)
        own = weights[part], values[part], mask[part], np.zeros((1, 1)), nothing[part]
        alone = cheapest_pairs(*own)
        for name in ("overlap", "first", "second", "share"):
            assert (getattr(alone, name) == getattr(together, name)[part]).all()
    assert np.isinf(together.overlap[0, 0])
    assert np.isfinite(together.overlap[1, 0])


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0], ids=["uniform", "even", "peaked"])
def test_no_pair_that_beats_a_known_overlap_is_left_out(spread: float):
    rng = np.random.default_rng(8)
    weights = np.exp(spread * rng.normal(size=(60, 9)))
    weights /= weights.sum(1, keepdims=True)
    values, mask, targets = rng.normal(size=(60, 9)), np.ones((60, 9), bool), np.zeros((60, 1))
    every = cheapest_pairs(weights, values, mask, targets, np.full((60, 1), np.inf)).overlap[:, 0]
    for row in range(60):
        costs = [np.inf]
        for i in np.flatnonzero(values[row] < 0):
            for j in np.flatnonzero(values[row] > 0):
                share = values[row, i] / (values[row, i] - values[row, j])
                shares, own = np.array([1 - share, share]), weights[row, [i, j]]
                costs.append(overlap(shares, own).sum())
        assert every[row] == pytest.approx(min(costs), abs=1e-12)
    for factor in (0.9, 1.0, 1.1):
        found = cheapest_pairs(weights, values, mask, targets, factor * every[:, None]).overlap
        better = every <= factor * every
        np.testing.assert_array_equal(found[better, 0], every[better])
