"""Tests that relaxing, tightening and branching exclude no feasible weights, and help."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.exact.branch_and_bound import SPLITS, branch, relax, root, tighten
from assay.exact.constraints import prediction_shift, probabilities
from assay.exact.linear_programs import programs
from assay.exact.numerics import overlap
from tests.builders.exact_cases import simplex_grid
from tests.exact.test_linear_programs import random_documents, whole_box

GRIDS = {3: simplex_grid(3, 120), 4: simplex_grid(4, 36), 5: simplex_grid(5, 18)}


def feasible_grid(documents, row):
    """Grid points that keep the prediction, and points between them and the original weights."""
    grid, own = GRIDS[documents.weights.shape[1]], documents.weights[row]
    points = np.concatenate([own + part * (grid - own) for part in (1.0, 0.5, 0.2, 0.05, 0.01)])
    shift = prediction_shift(points @ documents.values[row], documents.original[row])
    return points[shift <= documents.eps[row, 0]]


@settings(max_examples=25, deadline=None)
@given(
    items=st.sampled_from([3, 4, 5]),
    classes=st.integers(3, 7),
    eps=st.sampled_from([0.001, 0.01, 0.1, 0.3]),
    scale=st.sampled_from([0.3, 2.0, 20.0]),
    seed=st.integers(0, 10_000),
)
def test_no_feasible_weights_are_below_any_bound_or_outside_the_ranges(
    items, classes, eps, scale, seed
):
    documents = random_documents(np.random.default_rng(seed), 2, items, classes, eps, scale)
    original = documents.weights
    program = programs(documents, *whole_box(documents))
    first = relax(program, original, original)
    tight, nodes = root(program, original)
    before = nodes.least_overlap()
    branch(tight, original, nodes, np.full(2, np.inf))
    after = nodes.least_overlap()
    assert (before >= first.overlap).all()
    assert (after >= before).all()
    for row in range(2):
        points = feasible_grid(documents, row)
        assert (points >= tight.low[row] - 1e-9).all()
        assert (points <= tight.high[row] + 1e-9).all()
        assert overlap(points, original[row]).sum(1).min() >= after[row] - 1e-9


def test_nodes_cover_the_first_box():
    documents = random_documents(np.random.default_rng(1), 6, 5, 3, 0.1)
    program, nodes = root(programs(documents, *whole_box(documents)), documents.weights)
    branch(program, documents.weights, nodes, np.full(6, np.inf))
    for row in range(6):
        used = np.isfinite(nodes.overlap[row])
        assert 1 < used.sum() <= SPLITS + 1
        for point in feasible_grid(documents, row):
            inside = (point >= nodes.low[row] - 1e-9) & (point <= nodes.high[row] + 1e-9)
            assert inside[used].all(axis=-1).any()


def test_tightening_and_branching_each_help_with_many_classes():
    documents = random_documents(np.random.default_rng(4), 12, 15, 10, 0.01)
    original = documents.weights
    program = programs(documents, *whole_box(documents))
    first = relax(program, original, original).overlap
    tight, nodes = root(program, original)
    tightened = nodes.least_overlap()
    branch(tight, original, nodes, np.full(12, np.inf))
    assert np.median(tightened - first) > 0.1
    assert np.median(nodes.least_overlap() - tightened) > 0.02


def test_equal_items_leave_every_weight_free():
    documents = random_documents(np.random.default_rng(5), 3, 4, 3, 0.01)
    same = np.repeat(documents.values[:, :1], 4, axis=1)
    documents = replace(documents, values=same, original=probabilities(same[:, 0]))
    program = programs(documents, *whole_box(documents))
    every = np.tile(np.arange(4), (3, 1))
    tight = tighten(program, documents.weights, every)
    np.testing.assert_allclose(tight.low, 0, rtol=0, atol=1e-8)
    np.testing.assert_allclose(tight.high, 1, rtol=0, atol=1e-8)


def test_known_weights_stop_the_branching():
    documents = random_documents(np.random.default_rng(6), 4, 9, 5, 0.01)
    program, nodes = root(programs(documents, *whole_box(documents)), documents.weights)
    before = nodes.least_overlap()
    branch(program, documents.weights, nodes, before)
    assert (nodes.least_overlap() == before).all()
    assert np.isfinite(nodes.overlap).sum() == 4


@pytest.mark.parametrize("eps", [0.01, 0.1])
def test_one_document_is_bounded_as_in_a_batch(eps):
    documents = random_documents(np.random.default_rng(7), 5, 9, 6, eps)

    def bounds(part):
        program, nodes = root(programs(part, *whole_box(part)), part.weights)
        branch(program, part.weights, nodes, np.full(len(part.weights), np.inf))
        return nodes.least_overlap()

    together = bounds(documents)
    alone = [bounds(documents.rows(np.array([row])))[0] for row in range(5)]
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-12)
