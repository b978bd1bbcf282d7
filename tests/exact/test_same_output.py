"""Tests of weights with the same output, against brute force over corners and hand-worked cases."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from assay.exact.same_output import furthest_same_output
from assay.statistics.divergence import jsd

SLOPES = np.random.default_rng(5).normal(size=(12, 5))


def mean(heads: Tensor) -> Tensor:
    row = heads.mean(-2)
    return row / row.sum(-1, keepdim=True)


def distance(heads: np.ndarray, own: np.ndarray) -> float:
    return float(jsd(mean(torch.from_numpy(heads)), mean(torch.from_numpy(own))))


def corners(weights: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Every corner of the polytope of one head: at most d + 1 items carry the weight."""
    size, width = values.shape
    rows = np.vstack([values.T, np.ones(size)])
    target, found = rows @ weights, []
    for count in range(1, width + 2):
        for chosen in itertools.combinations(range(size), count):
            part = rows[:, chosen]
            solved = np.linalg.lstsq(part, target, rcond=None)[0]
            if np.abs(part @ solved - target).max() < 1e-9 and solved.min() > -1e-12:
                corner = np.zeros(size)
                corner[list(chosen)] = np.maximum(solved, 0)
                found.append(corner)
    return found


@pytest.mark.parametrize("items", [3, 4, 5])
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("count", [1, 2])
def test_it_finds_the_best_corner(items, width, count):
    """The JSD is convex, so that a combination of corners of the heads is the furthest."""
    reached = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        heads = rng.dirichlet(np.ones(items), count) * rng.uniform(0.4, 1.0, (count, 1))
        values = rng.normal(size=(count, items, width))
        each = [corners(heads[head], values[head]) for head in range(count)]
        best = max(distance(np.array(both), heads) for both in itertools.product(*each))
        found = furthest_same_output(heads, values, mean, SLOPES[:, :items])
        if items <= width + 1:
            assert found is None
            assert best < 1e-9
            continue
        assert found is not None
        assert found.jsd == pytest.approx(distance(found.heads, heads), abs=1e-9)
        assert found.jsd <= best + 1e-9
        reached.append(found.jsd / best)
    assert not reached or np.mean(reached) > 0.95


def test_the_weights_are_exactly_feasible():
    rng = np.random.default_rng(0)
    heads = rng.dirichlet(np.full(40, 0.5), 4) * np.array([[0.9], [0.3], [1.0], [0.0]])
    values = rng.normal(size=(4, 40, 8))
    found = furthest_same_output(heads, values, mean, rng.normal(size=(2, 40)))
    assert found is not None
    assert found.jsd > 0.05
    assert found.heads.min() >= 0
    np.testing.assert_allclose(found.heads.sum(1), heads.sum(1), atol=1e-12)
    before, after = (np.einsum("ht,htd->hd", w, values) for w in (heads, found.heads))
    np.testing.assert_allclose(after, before, atol=1e-10)


def test_three_items_by_hand():
    """Values 0, 1, 2 and all weight on the middle one: half on each end has the same sum."""
    heads, values = np.array([[0.0, 1.0, 0.0]]), np.array([[[0.0], [1.0], [2.0]]])
    found = furthest_same_output(heads, values, mean, np.array([[0.0, -1.0, 0.0]]))
    assert found is not None
    np.testing.assert_allclose(found.heads, [[0.5, 0.0, 0.5]], atol=1e-12)
    assert found.jsd == pytest.approx(np.log(2))


def test_equal_values_allow_any_weights_and_others_none():
    heads = np.array([[0.5, 0.3, 0.2]])
    found = furthest_same_output(heads, np.zeros((1, 3, 2)), mean, SLOPES[:, :3])
    assert found is not None
    assert found.heads.max() == pytest.approx(1.0)  # all weight on one item
    assert found.heads.argmax() == 2  # on the lightest one
    different = np.array([[[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]])
    assert furthest_same_output(heads, different, mean, SLOPES[:, :3]) is None
    assert furthest_same_output(heads[:, :1], different[:, :1], mean, SLOPES[:, :1]) is None
