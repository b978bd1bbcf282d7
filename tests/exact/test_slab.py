"""Tests of pairs of items when all items lie on one side of a bound, as with saturated models."""

import numpy as np
import pytest

from assay.exact.slab import cheapest_pairs


@pytest.mark.parametrize("sign", [-1, 1], ids=["all below", "all above"])
@pytest.mark.parametrize("items", [1, 2, 7])
def test_no_pair_exists_when_all_items_lie_on_one_side(sign, items):
    rng = np.random.default_rng(items)
    weights = rng.dirichlet(np.ones(items), 4)
    values = sign * rng.uniform(1, 2, size=(4, items))
    found = cheapest_pairs(weights, values, np.ones((4, items), dtype=bool), np.zeros((4, 2)))
    assert np.isinf(found.overlap).all()
    assert found.first.shape == found.second.shape == found.share.shape == (4, 2)


@pytest.mark.parametrize("sign", [-1, 1], ids=["all below", "all above"])
def test_one_sided_documents_use_no_items_of_other_documents(sign):
    rng = np.random.default_rng(3)
    weights, mask = rng.dirichlet(np.ones(5), 2), np.ones((2, 5), dtype=bool)
    values = np.stack([sign * rng.uniform(1, 2, 5), np.array([-2.0, -1.0, 1.0, 2.0, 3.0])])
    together = cheapest_pairs(weights, values, mask, np.zeros((2, 1)))
    for row in range(2):
        part = slice(row, row + 1)
        alone = cheapest_pairs(weights[part], values[part], mask[part], np.zeros((1, 1)))
        for name in ("overlap", "first", "second", "share"):
            assert (getattr(alone, name) == getattr(together, name)[part]).all()
    assert np.isinf(together.overlap[0, 0])
    assert np.isfinite(together.overlap[1, 0])
