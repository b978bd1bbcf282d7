"""Tests that sequential programs end in feasible weights that are far from the original."""

import numpy as np
import pytest

from assay.exact.constraints import prediction_shift, weighted_logits
from assay.exact.numerics import dense_jsd
from assay.exact.sequential_programs import sequential_best, toward_original
from tests.exact.test_linear_programs import random_documents, whole_box


def shifts(documents, weights):
    return prediction_shift(weighted_logits(weights, documents.values), documents.original)


@pytest.mark.parametrize("eps", [0.001, 0.01, 0.1, 0.5])
@pytest.mark.parametrize(("items", "classes"), [(5, 3), (15, 10), (4, 8)])
def test_the_result_is_feasible_and_no_nearer_than_its_start(items, classes, eps):
    rng = np.random.default_rng(items)
    documents = random_documents(rng, 20, items, classes, eps)
    start = rng.dirichlet(np.ones(items), 20)
    moved = toward_original(documents, start)
    best = sequential_best(documents, start, *whole_box(documents))
    for weights in (moved, best):
        assert (shifts(documents, weights) <= eps).all()
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(1), 1, rtol=0, atol=1e-12)
    assert (dense_jsd(best, documents.weights) >= dense_jsd(moved, documents.weights)).all()


def test_feasible_weights_are_not_moved():
    rng = np.random.default_rng(1)
    documents = random_documents(rng, 6, 5, 3, 1.0)
    start = rng.dirichlet(np.ones(5), 6)
    np.testing.assert_allclose(toward_original(documents, start), start, rtol=0, atol=1e-15)


def test_weights_are_moved_no_further_than_needed():
    documents = random_documents(np.random.default_rng(2), 10, 5, 3, 0.01)
    start = np.eye(5)[np.zeros(10, dtype=int)]
    moved = toward_original(documents, start)
    np.testing.assert_allclose(shifts(documents, moved), 0.01, rtol=0, atol=1e-5)


def test_programs_beat_the_way_from_the_nearest_vertex():
    documents = random_documents(np.random.default_rng(3), 20, 15, 10, 0.01)
    lightest = np.eye(15)[documents.weights.argmin(1)]
    straight = dense_jsd(toward_original(documents, lightest), documents.weights)
    best = sequential_best(documents, lightest, *whole_box(documents))
    assert np.median(dense_jsd(best, documents.weights) - straight) > 0.15
