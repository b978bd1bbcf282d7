"""Tests of divergences against scipy and hand-computed values."""

import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from assay.statistics.divergence import class_probabilities, decisions, jsd, kl, tvd


@pytest.fixture
def pair():
    """Distributions over five outcomes, some of them impossible."""
    rng = np.random.default_rng(0)
    raw = rng.random((2, 40, 5)) * (rng.random((2, 40, 5)) < 0.7) + 1e-300
    return raw / raw.sum(axis=-1, keepdims=True)


def test_jsd_equals_scipy(pair):
    p, q = pair
    ours = jsd(torch.from_numpy(p), torch.from_numpy(q)).numpy()
    np.testing.assert_allclose(ours, jensenshannon(p, q, axis=-1) ** 2, rtol=1e-12, atol=1e-14)


def test_kl_equals_scipy(pair):
    p, q = pair
    ours = kl(torch.from_numpy(p), torch.from_numpy(q)).numpy()
    np.testing.assert_allclose(ours, entropy(p, q, axis=-1), rtol=1e-12)


def test_by_hand():
    p, q = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.5, 0.0, 0.5])
    assert tvd(p, q) == pytest.approx(0.5)
    assert jsd(p, q) == pytest.approx(0.5 * math.log(2))
    assert kl(p, q) == math.inf
    assert kl(p, torch.tensor([0.25, 0.75, 0.0])) == pytest.approx(
        0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_disjoint_and_equal_distributions(dtype):
    p, q = torch.eye(2, dtype=dtype)
    assert tvd(p, q) == 1
    assert jsd(p, q) == pytest.approx(math.log(2))
    assert jsd(p, p) == tvd(p, p) == kl(p, p) == 0
    assert jsd(p, q).dtype == tvd(p, q).dtype == kl(p, q).dtype == dtype


def test_jsd_of_almost_equal_distributions_is_accurate():
    step = 1e-9
    p = torch.tensor([0.5, 0.5], dtype=torch.float64)
    q = torch.tensor([0.5 + step, 0.5 - step], dtype=torch.float64)
    # To second order the divergence is the sum of (p - q)^2 / (8 m) over the outcomes.
    assert jsd(p, q) == pytest.approx(step**2 / 2, rel=0.5)


def test_tiny_probabilities_are_accurate():
    p = torch.tensor([1e-30, 1.0], dtype=torch.float64)
    q = torch.tensor([0.5, 0.5], dtype=torch.float64)
    sure = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert jsd(p, q) == pytest.approx(float(jsd(sure, q)))
    assert jsd(p, q) == pytest.approx(0.5 * (math.log(4 / 3) + math.log(2) + 0.5 * math.log(1 / 3)))


def test_smallest_floats():
    tiny = torch.tensor([5e-324, 1.0], dtype=torch.float64)
    sure = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert 0 <= jsd(tiny, sure) < 1e-300


def test_leading_axes_broadcast(pair):
    p, q = torch.from_numpy(pair)
    for distance in (tvd, jsd, kl):
        table = distance(p[:, None], q[None])
        assert table.shape == (40, 40)
        torch.testing.assert_close(table.diagonal(), distance(p, q))


def test_one_logit_gives_two_class_probabilities():
    z = torch.tensor([[0.0], [2.0], [-60.0]], dtype=torch.float64)
    two = class_probabilities(z)
    torch.testing.assert_close(two, torch.softmax(torch.cat([torch.zeros_like(z), z], -1), -1))
    torch.testing.assert_close(two.sum(-1), torch.ones(3, dtype=torch.float64))


def test_several_logits_give_a_softmax():
    logits = torch.tensor([[[math.log(1.0), math.log(3.0), math.log(4.0)]]])
    torch.testing.assert_close(class_probabilities(logits), torch.tensor([[[0.125, 0.375, 0.5]]]))


def test_decisions_take_the_lowest_index_among_ties():
    logits = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, 1.0, 5.0]])
    assert decisions(logits).tolist() == [1, 0, 2]
    assert decisions(torch.tensor([[-1.0], [0.0], [0.5]])).tolist() == [0, 0, 1]


def test_decisions_with_ties_in_many_classes():
    logits = torch.randint(0, 3, (500, 40), generator=torch.Generator().manual_seed(0)).float()
    assert decisions(logits).tolist() == np.argmax(logits.numpy(), axis=-1).tolist()
