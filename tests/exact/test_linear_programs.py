"""Tests of the linear programs against HiGHS and against points of both sets."""

import numpy as np
import pytest
from scipy.optimize import linprog

from assay.exact import linear_programs
from assay.exact.constraints import ConstrainedDocuments, prediction_shift, probabilities
from assay.exact.linear_programs import (
    allowed_prices,
    best_prediction,
    best_weights,
    certified_maximum,
    maximize,
    programs,
)
from assay.exact.numerics import TOLERANCE

SHAPES = [(4, 3), (9, 5), (15, 10), (6, 12)]  # items, classes


def random_documents(rng, count, items, classes, eps, scale=1.5):
    weights = rng.dirichlet(np.ones(items), count)
    values = rng.normal(size=(count, items, classes)) * scale
    original = probabilities((weights[:, None] @ values)[:, 0])
    mask = np.ones((count, items), dtype=bool)
    return ConstrainedDocuments(weights, values, mask, original, np.full((count, 1), eps))


def whole_box(documents):
    return np.zeros(documents.weights.shape), documents.mask.astype(float)


def ball_points(rng, original, eps, count):
    """Predictions in the ball: mass eps from one or some classes to others, none below zero."""
    classes = len(original)
    shift = rng.dirichlet(np.full(classes, 0.3), count)
    shift[::2] -= rng.dirichlet(np.full(classes, 0.3), len(shift[::2]))
    givers = np.flatnonzero(original > eps) if (original > eps).any() else np.arange(classes)
    shift[1::2] -= np.eye(classes)[rng.choice(givers, len(shift[1::2]))]
    shift *= eps / np.maximum(np.abs(shift).sum(1, keepdims=True) / 2, 1e-12)
    worst = np.where(shift < 0, original / np.where(shift < 0, -shift, 1), np.inf).min(1)
    return original + shift * np.minimum(1, 0.999 * worst)[:, None]


@pytest.mark.parametrize(("items", "classes"), SHAPES)
def test_best_weights_of_a_box_agree_with_highs(items, classes):
    rng = np.random.default_rng(items)
    documents = random_documents(rng, 20, items, classes, 0.01)
    own = documents.weights
    low = own * rng.uniform(size=own.shape)
    high = own + (1 - own) * rng.uniform(size=own.shape)
    worth = rng.normal(size=own.shape)
    found = best_weights(programs(documents, low, high), worth)
    np.testing.assert_allclose(found.sum(1), 1, rtol=0, atol=1e-12)
    assert (found >= low - 1e-15).all()
    assert (found <= high + 1e-15).all()
    for row in range(20):
        bounds = np.stack([low[row], high[row]], axis=1)
        exact = linprog(-worth[row], A_eq=np.ones((1, items)), b_eq=[1.0], bounds=bounds)
        assert worth[row] @ found[row] == pytest.approx(-exact.fun, abs=1e-9)


@pytest.mark.parametrize("eps", [0.001, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("classes", [3, 5, 12])
def test_no_point_of_the_ball_has_a_larger_price_than_the_best_prediction(classes, eps):
    rng = np.random.default_rng(classes)
    documents = random_documents(rng, 20, 6, classes, eps)
    program = programs(documents, *whole_box(documents))
    prices = allowed_prices(program, rng.normal(size=(20, classes)))
    np.testing.assert_allclose(prices.sum(1), 0, rtol=0, atol=1e-12)
    best = best_prediction(program, prices)
    shift = prediction_shift(best, documents.original)
    assert (shift <= eps + 2 * TOLERANCE).all()
    np.testing.assert_allclose(np.exp(best).sum(1), 1, rtol=0, atol=1e-9)
    for row in range(20):
        points = ball_points(rng, documents.original[row], eps, 400)
        assert (np.log(points) @ prices[row]).max() <= prices[row] @ best[row] + 1e-9


@pytest.mark.parametrize("eps", [0.01, 0.1])
@pytest.mark.parametrize(("items", "classes"), SHAPES)
def test_any_prices_give_a_bound_on_all_feasible_weights(items, classes, eps):
    rng = np.random.default_rng(items + classes)
    documents = random_documents(rng, 12, items, classes, eps)
    program = programs(documents, *whole_box(documents))
    gain = rng.normal(size=documents.weights.shape)
    bounds = [
        certified_maximum(program, gain, scale * rng.normal(size=(12, classes)))
        for scale in (0.0, 0.1, 1.0, 10.0)
    ]
    bounds.append(maximize(program, gain, documents.weights).bound)
    for row in range(12):
        near = documents.weights[row] + rng.uniform(0, 1, (300, 1)) ** 3 * (
            rng.dirichlet(np.full(items, 0.5), 300) - documents.weights[row]
        )
        shift = prediction_shift(near @ documents.values[row], documents.original[row])
        reached = (near[shift <= eps] @ gain[row]).max()
        assert all(bound[row] >= reached - 1e-9 for bound in bounds)


@pytest.mark.parametrize("eps", [0.01, 0.1])
@pytest.mark.parametrize(("items", "classes"), SHAPES)
def test_the_maximum_is_that_of_highs_over_many_points_of_the_ball(items, classes, eps):
    """A hull of some points is inside the hull of all, so HiGHS may find a little less."""
    rng = np.random.default_rng(items * classes)
    documents = random_documents(rng, 3, items, classes, eps)
    program = programs(documents, *whole_box(documents))
    gain = rng.normal(size=documents.weights.shape)
    found = maximize(program, gain, documents.weights)
    for row in range(3):
        corners = ball_points(rng, documents.original[row], eps, 3000)
        rays = np.eye(classes)[documents.original[row] <= eps]  # classes that may lose everything
        inner = highs_maximum(documents, row, gain[row], np.log(corners), rays)
        assert found.bound[row] >= inner - 1e-7
        assert found.bound[row] <= inner + 0.1 * np.ptp(gain[row])


def highs_maximum(documents, row, gain, points, rays):
    """The maximum over weights whose logits are a mix of points less rays, up to a constant."""
    values, count = documents.values[row], len(points)
    items, classes = values.shape
    logits = np.hstack([values.T, -points.T, rays.T, np.ones((classes, 1))])
    sums = np.zeros((2, logits.shape[1]))
    sums[0, :items] = sums[1, items : items + count] = 1
    bounds = [(0, None)] * (logits.shape[1] - 1) + [(None, None)]
    costs = np.concatenate([-gain, np.zeros(logits.shape[1] - items)])
    rows, right = np.vstack([logits, sums]), np.concatenate([np.zeros(classes), [1, 1]])
    return -linprog(costs, A_eq=rows, b_eq=right, bounds=bounds).fun


def test_the_bound_is_attained_by_the_weights_of_the_solution():
    rng = np.random.default_rng(2)
    documents = random_documents(rng, 40, 15, 10, 0.01)
    gain = rng.normal(size=documents.weights.shape)
    found = maximize(programs(documents, *whole_box(documents)), gain, documents.weights)
    np.testing.assert_allclose(found.weights.sum(1), 1, rtol=0, atol=1e-12)
    assert (found.weights >= 0).all()
    reached = (gain * found.weights).sum(1)
    np.testing.assert_allclose(found.bound, reached, rtol=0, atol=2 * linear_programs.GAIN)


def test_an_early_stop_loosens_the_bound_and_never_breaks_it(monkeypatch):
    rng = np.random.default_rng(3)
    documents = random_documents(rng, 40, 12, 8, 0.01)
    program = programs(documents, *whole_box(documents))
    gain = rng.normal(size=documents.weights.shape)
    whole = maximize(program, gain, documents.weights).bound
    monkeypatch.setattr(linear_programs, "PIVOTS", 3)
    early = maximize(program, gain, documents.weights).bound
    assert (early >= whole - 2 * linear_programs.GAIN).all()
    assert early.mean() > whole.mean() + 0.01


def test_a_box_without_feasible_weights_has_a_bound_below_every_gain():
    """Weights far from the original cannot keep this prediction; the penalty shows it."""
    values = np.eye(3)[None] * 8.0
    weights = np.full((1, 3), 1 / 3)
    original = probabilities((weights[:, None] @ values)[:, 0])
    mask = np.ones((1, 3), dtype=bool)
    documents = ConstrainedDocuments(weights, values, mask, original, np.array([[0.01]]))
    low, high = np.array([[0.9, 0.0, 0.0]]), np.ones((1, 3))
    program = programs(documents, low, high)
    assert maximize(program, np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]])).bound[0] < -10
