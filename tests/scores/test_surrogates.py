"""Tests of LIME and kernel SHAP against their definitions."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import torch

from assay.bench.captum_loops import document_log_odds, kernel_shap_loop, lime_loop
from assay.scores import surrogates
from assay.scores.surrogates import kernel_shap, lime
from assay.statistics.keyed_random import document_keys
from tests.builders.known_models import view_of

KEY = document_keys(["document 0"], 0, "test")[0]


def log_odds_by_presence(view, row: int):
    """The log-odds (R,) of a document as a function of presences (R, n), by encoding it again."""
    forward, embedded = document_log_odds(view, row)
    return lambda present: forward(embedded * present[..., None].to(embedded.dtype)).detach()


def shapley(value, n: int) -> np.ndarray:
    """Shapley values by the definition: over all coalitions without the item."""
    shares = np.zeros(n)
    for item in range(n):
        others = [i for i in range(n) if i != item]
        for size in range(n):
            chance = factorial(size) * factorial(n - size - 1) / factorial(n)
            for coalition in combinations(others, size):
                present = torch.zeros(2, n, dtype=torch.bool)
                present[:, list(coalition)] = True
                present[1, item] = True
                without, with_it = value(present).tolist()
                shares[item] += chance * (with_it - without)
    return shares


@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_short_documents_get_exact_shapley_values(encoder: str, task: str, classes: int):
    view = view_of([1, 2, 6], encoder=encoder, task=task, classes=classes)
    found = kernel_shap(view)
    for row, n in enumerate([1, 2, 6]):
        expected = shapley(log_odds_by_presence(view, row), n)
        np.testing.assert_allclose(found[row, :n], expected, atol=1e-5)


def test_sampled_shapley_values_are_close_and_add_up(monkeypatch):
    monkeypatch.setattr(surrogates, "SAMPLES", 200)
    view = view_of([10], encoder="average")
    value = log_odds_by_presence(view, 0)
    found = kernel_shap(view)[0].numpy()
    ends = value(torch.tensor([[True] * 10, [False] * 10]))
    assert found.sum() == pytest.approx(float(ends[0] - ends[1]), abs=1e-5)
    monkeypatch.setattr(surrogates, "SAMPLES", 2**10)  # all of them: exact (test above)
    exact = kernel_shap(view)[0].numpy()
    assert np.corrcoef(found, exact)[0, 1] > 0.99
    assert np.abs(found - exact).max() < 0.1 * np.abs(exact).max()


def test_coalitions_come_with_their_complements():
    present, weights = surrogates.draw_coalitions(KEY, 30)
    assert present[0].all()
    assert not present[1].any()
    inner = present[2:]
    half = len(inner) // 2
    assert (inner[:half] == ~inner[half:]).all()
    assert (inner.sum(1) > 0).all()
    assert (inner.sum(1) < 30).all()
    assert (weights == 1).all()


def test_coalition_sizes_follow_the_shapley_kernel():
    sizes = surrogates.sampled_coalitions(KEY, 6, 20_000)[0].sum(1)
    kernel = np.array([1 / (k * (6 - k)) for k in range(1, 6)])
    shares = np.bincount(sizes, minlength=7)[1:6] / len(sizes)
    np.testing.assert_allclose(shares, kernel / kernel.sum(), atol=0.015)


def test_fewer_coalitions_than_items_still_add_up():
    rng = np.random.default_rng(0)
    samples = np.vstack([np.ones(50), np.zeros(50), rng.random((20, 50)) < 0.5]) > 0
    outputs = rng.normal(size=(1, 22))
    shares = surrogates.solve_shapley(samples[None], outputs, np.ones((1, 22)))
    assert shares.sum() == pytest.approx(outputs[0, 0] - outputs[0, 1])
    # Of all values that fit, those nearest to equal ones.
    equal = (outputs[0, 0] - outputs[0, 1]) / 50
    centered = samples - samples.mean(1, keepdims=True)
    excess = outputs[0] - outputs[0, 1] - samples.sum(1) * equal
    expected = equal + np.linalg.lstsq(centered, excess, rcond=None)[0]
    np.testing.assert_allclose(shares[0], expected, atol=1e-4)


def test_lime_is_a_weighted_ridge_regression():
    """By its normal equations, with an unpenalized intercept."""
    view = view_of([9])
    present, weights = surrogates.draw_subsets(document_keys(view.batch.ids, 0, "lime")[0], 9)
    outputs = log_odds_by_presence(view, 0)(torch.from_numpy(present)).numpy()
    design = np.hstack([present, np.ones((len(present), 1))])
    penalty = surrogates.PENALTY * np.diag([1.0] * 9 + [0.0])
    gram = design.T @ (weights[:, None] * design) + penalty
    expected = np.linalg.solve(gram, design.T @ (weights * outputs))[:9]
    np.testing.assert_allclose(lime(view)[0], expected, atol=1e-4)


def test_samples_of_lime():
    present, weights = surrogates.draw_subsets(KEY, 12)
    assert len(present) == surrogates.SAMPLES + surrogates.SAMPLES_PER_ITEM * 12
    assert present[0].all()
    assert weights[0] == 1
    absent = 12 - present[1:].sum(1)
    assert set(absent) == set(range(1, 13))
    order = np.argsort(absent, kind="stable")
    assert (np.diff(weights[1:][order]) <= 0).all()  # the more is gone, the less it counts


def test_absent_items_have_a_zero_embedding():
    view = view_of([5], encoder="cnn")
    embedded = view.model.embed(view.batch).detach().clone()
    embedded[0, 2] = 0
    states = view.model.contextualise(embedded, view.batch)
    logit = view.model.decode(states, view.model.attend(states))[0, 0]
    present = torch.tensor([[True, True, False, True, True]])
    sign = 2 * view.decisions[0] - 1
    torch.testing.assert_close(log_odds_by_presence(view, 0)(present)[0], sign * logit)


@pytest.mark.parametrize(("score", "loop"), [(lime, lime_loop), (kernel_shap, kernel_shap_loop)])
@pytest.mark.parametrize("kind", [{}, {"encoder": "cnn"}, {"task": "pair", "classes": 3}], ids=str)
def test_scores_equal_those_of_captum(score, loop, kind: dict):
    """captum's loop at the same samples, with the fits of scikit-learn and LAPACK."""
    lengths = [15, 4, 15, 33, 1]
    view = view_of(lengths, **kind)
    found = score(view)
    for row, expected in enumerate(loop(view, rows=50)):
        np.testing.assert_allclose(found[row, : lengths[row]], expected, atol=1e-7)


def test_samples_drawn_in_parts_are_the_same(monkeypatch):
    whole = surrogates.draw_subsets(KEY, 40)[0], surrogates.draw_coalitions(KEY, 40)[0]
    monkeypatch.setattr(surrogates, "CELLS", 100)
    parts = surrogates.draw_subsets(KEY, 40)[0], surrogates.draw_coalitions(KEY, 40)[0]
    for one, other in zip(whole, parts, strict=True):
        assert (one == other).all()


def test_normal_equations_in_parts_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    samples, outputs = rng.random((2, 30, 7)) < 0.5, rng.normal(size=(2, 30))
    weights = rng.random((2, 30))
    whole = surrogates.normal_equations(samples, outputs, weights)
    monkeypatch.setattr(surrogates, "CELLS", 20)
    parts = surrogates.normal_equations(samples, outputs, weights)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    expected = samples[1].T @ np.diag(weights[1]) @ samples[1]
    np.testing.assert_allclose(whole[0][1], expected, atol=1e-12)
