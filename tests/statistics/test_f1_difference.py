"""Tests of the difference of two F1 scores and its interval, against resampling of documents."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from assay.statistics import intervals as intervals
from assay.statistics.intervals import f1_difference


def random_models(classes: int, models: int, documents: int = 300):
    rng = np.random.default_rng(classes)
    labels = rng.integers(0, classes, documents)
    better, worse = (
        np.where(
            rng.random((models, documents)) < right,
            labels,
            rng.integers(0, classes, (models, documents)),
        )
        for right in (0.8, 0.5)
    )
    return labels, better, worse


@pytest.mark.parametrize(("classes", "average"), [(2, "binary"), (4, "macro")])
def test_value_equals_scikit_learn(classes, average):
    labels, better, worse = random_models(classes, 2)
    one, other = (
        np.mean([f1_score(labels, model, average=average) for model in models])
        for models in (better, worse)
    )
    found = f1_difference(labels, better, worse, seed=0)
    assert found.value == pytest.approx(one - other, abs=1e-12)
    assert found.n == len(labels)


def test_bounds_equal_a_plain_bootstrap():
    labels, better, worse = random_models(2, 2)

    def f1(rows: np.ndarray, decided: np.ndarray) -> float:
        right = (labels[rows] & decided[rows]).sum()
        return 2 * right / (labels[rows].sum() + decided[rows].sum())

    def gap(rows: np.ndarray) -> float:
        one, other = (np.mean([f1(rows, m) for m in models]) for models in (better, worse))
        return float(one - other)

    rng = np.random.default_rng(1)
    n = len(labels)
    plain = np.quantile([gap(rng.integers(0, n, n)) for _ in range(2_000)], [0.025, 0.975])
    found = f1_difference(labels, better, worse, seed=0)
    assert (found.low, found.high) == pytest.approx(tuple(plain), abs=0.01)


def test_equal_models_have_a_difference_of_exactly_zero():
    labels, better, _ = random_models(2, 1)
    found = f1_difference(labels, better, better, seed=3)
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_swapping_the_models_negates_the_difference():
    labels, better, worse = random_models(2, 1)
    one = f1_difference(labels, better, worse, seed=3)
    other = f1_difference(labels, worse, better, seed=3)
    assert one.value == pytest.approx(-other.value)


def test_pieces_do_not_change_the_draws(monkeypatch):
    labels, better, worse = random_models(2, 1)
    whole = f1_difference(labels, better, worse, seed=3)
    monkeypatch.setattr(intervals, "COUNTS_AT_ONCE", 50)
    assert f1_difference(labels, better, worse, seed=3) == whole


def test_different_numbers_of_models_can_be_compared():
    labels, better, worse = random_models(2, 3)
    assert f1_difference(labels, better[:1], worse, seed=0).value > 0
