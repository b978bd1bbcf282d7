"""Tests that the exact adversary is exact, feasible, and independent of the batch."""

import math
import tracemalloc

import numpy as np
import pytest
import torch
from scipy.special import expit, logit

from assay.exact.numerics import TOLERANCE, best_so_far
from assay.exact.two_classes import exact_adversary, furthest_from_each, furthest_from_uniform
from assay.statistics.divergence import jsd
from tests.builders.exact_cases import (
    plain_jsd,
    plain_optimum,
    prediction,
    random_case,
    simplex_grid,
)

FRONTIER = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
FIELDS = ("jsd", "tvd", "first", "second", "share", "moved")


@pytest.fixture(params=[False, True], ids=["continuous", "ties"])
def case(request):
    return random_case(np.random.default_rng(7), 600, 6, ties=request.param)


def test_equals_vertex_enumeration(case):
    weights, terms, bias, mask = case
    eps = (0.003, 0.01, 0.05, 0.3)
    ours = exact_adversary(*case, eps).jsd
    outputs = prediction(weights, terms, bias)
    for b, n in enumerate(mask.sum(1)):
        values = terms[b, :n, 0] + bias[0]
        plain = [plain_optimum(weights[b, :n], values, outputs[b], e) for e in eps]
        np.testing.assert_allclose(ours[b], plain, rtol=0, atol=1e-9)


def test_witness_is_feasible_and_has_the_reported_values(case):
    weights, terms, bias, mask = case
    found = exact_adversary(*case, FRONTIER)
    witness = found.weights(weights)
    moved = np.abs(
        expit(bias[0] + (witness * terms[:, None, :, 0]).sum(-1))
        - prediction(weights, terms, bias)[:, None]
    )
    assert (moved <= np.array(FRONTIER) + TOLERANCE).all()
    np.testing.assert_allclose(found.tvd, moved, rtol=0, atol=1e-12)
    np.testing.assert_allclose(witness.sum(-1), 1, rtol=0, atol=1e-12)
    assert (witness >= 0).all()
    assert (witness[~mask[:, None].repeat(len(FRONTIER), 1)] == 0).all()
    scored = jsd(torch.from_numpy(witness), torch.from_numpy(weights)[:, None]).numpy()
    np.testing.assert_allclose(found.jsd, scored, rtol=0, atol=1e-12)


def test_jsd_is_monotone_in_eps_in_any_order(case):
    rising = exact_adversary(*case, FRONTIER)
    assert (np.diff(rising.jsd, axis=1) >= 0).all()
    assert (rising.jsd >= 0).all()
    order = np.random.default_rng(0).permutation(len(FRONTIER))
    shuffled = exact_adversary(*case, np.array(FRONTIER)[order])
    for name in FIELDS:
        assert np.array_equal(getattr(shuffled, name), getattr(rising, name)[:, order])


def test_a_wide_bound_gives_the_unconstrained_optimum(case):
    weights, _, _, mask = case
    lightest = np.where(mask, weights, np.inf).argmin(1)
    best = [plain_jsd(np.eye(6)[t], w) for t, w in zip(lightest, weights, strict=True)]
    for eps in (1.0, 2.0):
        found = exact_adversary(*case, [eps])
        np.testing.assert_allclose(found.jsd[:, 0], best, rtol=0, atol=1e-12)
        assert np.array_equal(found.first[:, 0], lightest)


@pytest.mark.parametrize("items", [2, 3, 4])
def test_no_point_of_a_fine_grid_is_better(items):
    rng = np.random.default_rng(items)
    weights, terms, bias, mask = (a[:60] for a in random_case(rng, 60, items))
    mask[:], weights = True, rng.dirichlet(np.ones(items), 60)
    grid = simplex_grid(items, {2: 2000, 3: 100, 4: 30}[items])
    moved = np.abs(
        expit(bias[0] + terms[..., 0] @ grid.T) - prediction(weights, terms, bias)[:, None]
    )
    scored = jsd(torch.from_numpy(grid), torch.from_numpy(weights)[:, None]).numpy()
    eps = np.array([0.01, 0.05, 0.2])
    best = np.where(moved[:, None] <= eps[:, None], scored[:, None], 0).max(-1)
    ours = exact_adversary(weights, terms, bias, mask, eps).jsd
    assert (ours >= best - 1e-12).all()
    assert (ours[:, -1] - best[:, -1]).mean() < 0.02  # and the grid comes near


def test_three_items_by_hand():
    # Logits -1, 0, 1 under weights 1/4, 1/2, 1/4: the prediction is 1/2. With eps 0.01 the middle
    # item alone keeps it; so do the outer two, mixed onto a bound, and those overlap less.
    weights = np.array([[0.25, 0.5, 0.25]])
    terms = np.array([[[-1.0], [0.0], [1.0]]])
    found = exact_adversary(weights, terms, [0.0], np.ones((1, 3)), [0.01])
    share = (1 - logit(0.51)) / 2  # the lower bound comes first: item 0 gets the larger half
    assert (found.first[0, 0], found.second[0, 0]) == (0, 2)
    assert found.share[0, 0] == pytest.approx(share)
    assert found.tvd[0, 0] == pytest.approx(0.01)
    assert found.jsd[0, 0] == pytest.approx(plain_jsd([1 - share, 0, share], weights[0]))


def test_batch_and_padding_change_no_bit(case):
    weights, terms, bias, mask = case
    together = exact_adversary(*case, FRONTIER)
    noise = np.random.default_rng(1).normal(size=(len(weights), 5))
    wide = exact_adversary(
        np.concatenate([weights, noise], 1),
        np.concatenate([terms, noise[..., None]], 1),
        bias,
        np.pad(mask, ((0, 0), (0, 5))),
        FRONTIER,
    )
    for b in range(0, 600, 7):
        row = slice(b, b + 1)
        n = mask[b].sum()
        alone = exact_adversary(weights[row, :n], terms[row, :n], bias, mask[row, :n], FRONTIER)
        for name in FIELDS:
            assert np.array_equal(getattr(alone, name)[0], getattr(together, name)[b])
    for name in FIELDS:
        assert np.array_equal(getattr(wide, name), getattr(together, name))


def test_padding_between_items_is_never_used(case):
    weights, terms, bias, mask = case
    spread = np.zeros((600, 12)), np.full((600, 12, 1), np.nan), np.zeros((600, 12), dtype=bool)
    for part, whole in zip(spread, (weights, terms, mask), strict=True):
        part[:, 1::2] = whole
    apart = exact_adversary(spread[0], spread[1], bias, spread[2], FRONTIER)
    together = exact_adversary(*case, FRONTIER)
    assert np.array_equal(apart.jsd, together.jsd)
    assert np.array_equal(apart.first, 2 * together.first + 1)
    assert np.array_equal(apart.second, 2 * together.second + 1)


def test_a_softmax_over_two_classes_is_the_sigmoid_of_the_difference(case):
    weights, terms, bias, mask = case
    other = np.round(np.random.default_rng(3).normal(size=terms.shape))
    both = np.concatenate([other, other + terms], axis=-1)
    ours = exact_adversary(weights, both, np.array([1.0, 1.0 + bias[0]]), mask, FRONTIER)
    np.testing.assert_allclose(ours.jsd, exact_adversary(*case, FRONTIER).jsd, rtol=0, atol=1e-9)


def test_tensors_are_accepted():
    case = random_case(np.random.default_rng(0), 20, 5)
    tensors = [torch.from_numpy(np.asarray(part)) for part in case]
    assert np.array_equal(exact_adversary(*tensors, [0.01]).jsd, exact_adversary(*case, [0.01]).jsd)


def test_documents_with_one_item_or_none_keep_their_weights():
    weights = np.array([[1.0, 0.0], [0.0, 0.0]])
    mask = np.array([[True, False], [False, False]])
    found = exact_adversary(weights, np.ones((2, 2, 1)), [0.5], mask, [0.01, 1.0])
    assert (found.jsd == 0).all()
    assert found.moved.tolist() == [[True, True], [False, False]]
    assert np.array_equal(found.weights(weights), np.stack([weights] * 2, axis=1))


def test_ties_resolve_to_the_lowest_index():
    weights = np.full((1, 6), 1 / 6)
    terms = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])[None, :, None]
    found = exact_adversary(weights, terms, [0.0], np.ones((1, 6)), [0.01])
    assert (found.first[0, 0], found.second[0, 0]) == (0, 3)


def test_saturated_predictions_are_bounded_on_one_side_only():
    terms = np.array([[[40.0], [50.0], [3.0], [-60.0]]])
    weights = np.array([[0.6, 0.3, 0.05, 0.05]])
    found = exact_adversary(weights, terms, [0.0], np.ones((1, 4)), [0.0, 0.01, 0.06])
    assert found.first[0, 0] == 1  # with eps 0 the lightest item that keeps probability one
    witness = found.weights(weights)[0]
    assert ((1 - expit(witness @ terms[0, :, 0])) <= np.array([0, 0.01, 0.06]) + TOLERANCE).all()
    assert found.first[0, 2] == 2  # expit(3) is within 0.06 of one, and item 2 is the lightest


def test_invalid_arguments_are_refused():
    weights, terms, bias, mask = random_case(np.random.default_rng(0), 2, 3, classes=3)
    with pytest.raises(ValueError, match="3 logits"):
        exact_adversary(weights, terms, bias, mask, [0.01])
    with pytest.raises(ValueError, match="eps"):
        exact_adversary(weights, terms[..., :1], bias[:1], mask, [-0.1])
    with pytest.raises(ValueError, match="finite"):
        exact_adversary(weights, terms[..., :1] * math.inf, bias[:1], mask, [0.1])


def test_best_so_far_keeps_the_first_among_ties():
    scores = np.array([[0.3, 0.1, 0.3, 0.5]])
    assert best_so_far(scores, np.array([0.01, 0.02, 0.03, 0.04])).tolist() == [[0, 0, 0, 3]]
    assert best_so_far(scores, np.array([0.04, 0.03, 0.02, 0.01])).tolist() == [[3, 3, 3, 3]]


def test_memory_for_a_long_document():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(3000), 1)
    terms = rng.normal(size=(1, 3000, 1)) * 3
    tracemalloc.start()
    found = exact_adversary(weights, terms, [0.0], np.ones((1, 3000)), [0.01])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # one table of all pairs would be 72 MB
    assert found.jsd[0, 0] > 0.69


@pytest.mark.parametrize("classes", [1, 2])
def test_several_weights_of_a_document_are_each_the_exact_adversary(case, classes: int):
    weights, terms, bias, mask = case
    if classes == 2:
        terms, bias = np.concatenate([0 * terms, terms], -1), np.array([0.0, bias[0]])
    turned = np.where(mask, np.roll(weights, 1, axis=1), 0)
    turned[:, 0] += 1 - turned.sum(1)
    found = furthest_from_each(np.stack([weights, turned], 1), terms, bias, mask, 0.01)
    for column, own in enumerate((weights, turned)):
        expected = exact_adversary(own, terms, bias, mask, [0.01]).jsd[:, 0]
        np.testing.assert_allclose(found[:, column], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("eps", [0.0, 0.001, 0.01, 0.3])
def test_uniform_weights_need_no_comparison_of_pairs(case, eps: float):
    _, terms, bias, mask = case
    uniform = mask / mask.sum(1, keepdims=True)
    expected = exact_adversary(uniform, terms, bias, mask, [eps]).jsd[:, 0]
    found = furthest_from_uniform(terms, bias, mask, eps)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
