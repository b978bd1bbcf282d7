"""Tests of the closed forms of erasure against enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.special import softmax

from assay.exact.erasure import (
    AffineErasure,
    at_least_two_logits,
    decided_classes,
    first_flip,
    removal_order,
)
from assay.exact.erasure_measures import PERCENTS, curves, smallest_flipping_sets

LONGEST = 8


def case(rng, documents, classes, *, integers):
    """Random documents; integers are exact, so that ties are exact ties."""
    lengths = rng.integers(2, LONGEST + 1, documents)
    mask = np.arange(LONGEST) < lengths[:, None]
    if integers:
        weights = rng.integers(0, 4, mask.shape).astype(float)
        items = rng.integers(-2, 3, (*mask.shape, classes)).astype(float)
        bias = rng.integers(-1, 2, classes).astype(float)
    else:
        weights = rng.dirichlet(np.full(LONGEST, 0.5), documents)
        weights[rng.random(weights.shape) < 0.1] = 0
        items, bias = rng.normal(size=(*mask.shape, classes)), rng.normal(size=classes)
    weights[:, 0] += (weights * mask).sum(1) == 0
    items[~mask] = np.nan  # values on padding must not matter
    return AffineErasure.of(weights, items, bias, mask)


def remaining_logits(erasure, remaining):
    """Logits (B, R, C) of the remaining items (R, T) or (B, R, T), by the definition."""
    left = erasure.weights[:, None] * remaining
    mass = left.sum(-1, keepdims=True)
    context = np.einsum("brt,btc->brc", left, erasure.items)
    return erasure.bias + np.divide(context, mass, out=np.zeros_like(context), where=mass > 0)


def remaining_votes(erasure, remaining):
    """The same before the division, which is exact for integers; the bias if no item remains."""
    left = erasure.weights[:, None] * remaining
    votes = np.einsum("brt,btc->brc", left, erasure.items + erasure.bias)
    return np.where(left.sum(-1, keepdims=True) > 0, votes, erasure.bias)


SUBSETS = np.array(list(product((False, True), repeat=LONGEST)))  # erased items


def smallest_by_enumeration(erasure):
    """Over all subsets: the least count that flips, or NaN, and whether each subset flips."""
    only_present = ~(SUBSETS[None] & ~erasure.present[:, None]).any(-1)
    c = decided_classes(remaining_votes(erasure, np.ones((1, LONGEST), bool)))
    flips = (decided_classes(remaining_votes(erasure, ~SUBSETS)) != c) & only_present
    counts = np.where(flips, SUBSETS.sum(1), 99).min(1)
    return np.where(counts == 99, np.nan, counts), flips


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("classes", [1, 2, 3, 5])
def test_smallest_flipping_set_equals_enumeration(classes, integers):
    rng = np.random.default_rng(classes)
    erasure = case(rng, 1500, classes, integers=integers)
    at_least_two = erasure.present.sum(1) >= 2
    expected, flips = smallest_by_enumeration(erasure)
    found = smallest_flipping_sets(erasure)
    np.testing.assert_array_equal(found.items[at_least_two], expected[at_least_two])
    np.testing.assert_array_equal(found.never[at_least_two], np.isnan(expected[at_least_two]))
    assert np.isnan(found.items[~at_least_two]).all()
    # The set that is named flips, has that many members and that mass.
    which = found.members @ (1 << np.arange(LONGEST)[::-1])
    flipped = at_least_two & ~np.isnan(expected)
    assert flips[np.flatnonzero(flipped), which[flipped]].all()
    assert (found.members.sum(1)[flipped] == expected[flipped]).all()
    share = (found.members * erasure.weights).sum(1) / erasure.weights.sum(1)
    np.testing.assert_allclose(found.mass[flipped], share[flipped], rtol=1e-12)
    assert not found.members[~flipped].any()
    # No set of that size that flips is lighter.
    masses = np.where(
        flips & (SUBSETS.sum(1) == expected[:, None]), erasure.weights @ SUBSETS.T, 99
    )
    least = (masses.min(1) / erasure.weights.sum(1))[flipped]
    np.testing.assert_allclose(found.mass[flipped], least, rtol=1e-12)
    assert found.proven.all()
    if integers:
        assert len(np.unique(expected[flipped])) > 3


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("classes", [1, 3, 5])
def test_every_step_of_an_order_equals_the_definition(classes, integers):
    rng = np.random.default_rng(classes + 10)
    erasure = case(rng, 800, classes, integers=integers)
    order = removal_order(
        rng.random(erasure.weights.shape), erasure.present, np.zeros(erasure.present.shape)
    )
    rank = np.argsort(order, axis=1)
    left = rank[:, None] > np.arange(LONGEST)[:, None]
    removed, kept = erasure.without_first(order), erasure.with_first(order)
    np.testing.assert_allclose(removed, remaining_logits(erasure, left), atol=1e-12)
    np.testing.assert_allclose(kept, remaining_logits(erasure, ~left), atol=1e-12)
    np.testing.assert_array_equal(
        decided_classes(removed), decided_classes(remaining_votes(erasure, left))
    )
    found = first_flip(erasure, order, removed)
    best = smallest_flipping_sets(erasure)
    flips = ~np.isnan(found.items)
    assert (found.items[flips] >= best.items[flips]).all()
    c = decided_classes(erasure.intact)
    for row in np.flatnonzero(erasure.present.sum(1) >= 2)[:200]:
        n = erasure.present[row].sum()
        steps = [j + 1 for j in range(n) if decided_classes(removed[row, j]) != c[row]]
        assert found.never[row] == (not steps)
        if steps:
            assert found.items[row] == steps[0]
            erased = erasure.weights[row, order[row, : steps[0]]].sum() / erasure.weights[row].sum()
            assert found.mass[row] == pytest.approx(erased, rel=1e-12)


@pytest.mark.parametrize("classes", [1, 4])
def test_erasing_each_item_alone(classes):
    erasure = case(np.random.default_rng(3), 500, classes, integers=False)
    expected = remaining_logits(erasure, ~np.eye(LONGEST, dtype=bool))
    np.testing.assert_allclose(erasure.without_each, expected, atol=1e-12)


def test_rest_beside_a_dominant_weight_is_accurate():
    """1 - a would have no digits left; the sums of the other weights keep theirs."""
    weights = np.array([[1.0, 3e-17, 1e-17]])
    items = np.array([[[5.0], [2.0], [-6.0]]])
    erasure = AffineErasure.of(weights, items, [0.5], np.ones((1, 3)))
    # Of the rest three quarters say 2 and one quarter -6.
    assert erasure.without_each[0, 0].tolist() == pytest.approx([0, 0.5])
    order = np.array([[0, 1, 2]])
    expected = [[0, 0.5], [0, -5.5], [0, 0.5]]
    np.testing.assert_allclose(erasure.without_first(order)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("classes", [1, 3])
def test_gradient_equals_finite_differences(classes):
    erasure = case(np.random.default_rng(4), 60, classes, integers=False)
    c = decided_classes(erasure.intact)
    norm = erasure.weights / erasure.weights.sum(1, keepdims=True)

    def p(weights):
        logits = erasure.bias + np.einsum("bt,btc->bc", weights, erasure.items)
        return softmax(logits, -1)[np.arange(len(c)), c]

    step = 1e-6
    for t in range(LONGEST):
        moved = step * np.eye(LONGEST)[t]
        slope = (p(norm + moved) - p(norm - moved)) / (2 * step)
        np.testing.assert_allclose(erasure.gradient[:, t], slope, atol=1e-8)


def test_saturated_predictions_have_a_gradient():
    """p is exactly one in float64, but the gradients of the items still differ."""
    erasure = AffineErasure.of([[0.5, 0.5]], [[[90.0], [80.0]]], [0.0], [[True, True]])
    first, second = erasure.gradient[0]
    assert first > second > 0
    assert first / second == pytest.approx(90 / 80)


def test_curves_equal_a_loop_over_steps():
    rng = np.random.default_rng(5)
    erasure = case(rng, 40, 3, integers=False)
    order = removal_order(erasure.weights, erasure.present, np.zeros(erasure.present.shape))
    removed, kept = erasure.without_first(order), erasure.with_first(order)
    found = curves(erasure, removed, kept)
    for row in np.flatnonzero(erasure.present.sum(1) >= 2):
        n, c = erasure.present[row].sum(), decided_classes(erasure.intact)[row]
        whole, nothing = (softmax(z[row])[c] for z in (erasure.intact, erasure.empty))
        out = [whole, *(softmax(removed[row, j])[c] for j in range(n))]
        back = [nothing, *(softmax(kept[row, j])[c] for j in range(n))]
        tops = [int(np.ceil(percent * n / 100)) for percent in PERCENTS]
        assert out[-1] == pytest.approx(nothing)
        assert back[-1] == pytest.approx(whole)
        falls = [np.mean([whole - p[k] for k in tops]) for p in (out, back)]
        expected = [*falls, np.trapezoid(out) / n, np.trapezoid(back) / n]
        got = [
            getattr(found, name)[row]
            for name in ("comprehensiveness", "sufficiency", "deletion_auc", "insertion_auc")
        ]
        assert got == pytest.approx(expected, abs=1e-12)
        tenth = max(1, int(n / 10 + 0.5))
        assert found.lost_alone[row] == pytest.approx(max(0.0, whole - back[tenth]), abs=1e-12)


def test_with_two_classes_some_tenth_of_the_items_loses_nothing():
    """The items with the highest logits by themselves are never below the weighted mean of all."""
    rng = np.random.default_rng(8)
    erasure = case(rng, 60, 2, integers=False)
    c = decided_classes(erasure.intact)[:, None, None]
    own = np.take_along_axis(erasure.items, c, axis=-1)[..., 0]
    lead = 2 * own - erasure.items.sum(-1)
    order = removal_order(lead, erasure.present, np.zeros(erasure.present.shape))
    lost = curves(erasure, erasure.without_first(order), erasure.with_first(order)).lost_alone
    several = erasure.present.sum(1) >= 2
    assert several.any()
    assert lost[several] == pytest.approx(0, abs=1e-12)


def test_batch_and_padding_change_nothing():
    rng = np.random.default_rng(6)
    erasure = case(rng, 12, 3, integers=False)
    order = removal_order(erasure.weights, erasure.present, np.zeros(erasure.present.shape))
    together = erasure.without_first(order), erasure.intact, smallest_flipping_sets(erasure).items
    for row in range(12):
        n = int(erasure.present[row].nonzero()[0].max()) + 1
        part = AffineErasure(
            erasure.weights[row : row + 1, :n], erasure.items[row : row + 1, :n], erasure.bias
        )
        own = removal_order(part.weights, part.present, np.zeros(part.present.shape))
        np.testing.assert_array_equal(part.without_first(own)[0], together[0][row, :n])
        np.testing.assert_array_equal(part.intact[0], together[1][row])
        np.testing.assert_array_equal(smallest_flipping_sets(part).items[0], together[2][row])


def test_results_of_a_single_item_are_nan():
    erasure = AffineErasure.of([[0.0, 1.0, 0.0]], np.ones((1, 3, 1)), [-2.0], np.ones((1, 3)))
    order = removal_order(erasure.weights, erasure.present, np.zeros(erasure.present.shape))
    assert order[0, 0] == 1
    removed = erasure.without_first(order)
    flips = first_flip(erasure, order, removed)
    for values in (flips.items, flips.mass, flips.never):
        assert np.isnan(values).all()
    assert np.isnan(curves(erasure, removed, erasure.with_first(order)).deletion_auc).all()
    assert np.isnan(smallest_flipping_sets(erasure).never).all()


def test_one_logit_means_two_classes_and_ties_go_to_the_first():
    assert at_least_two_logits(np.array([[0.0]])).tolist() == [[0, 0]]
    assert decided_classes(at_least_two_logits(np.array([[0.0], [1e-300], [-1.0]]))).tolist() == [
        0,
        1,
        0,
    ]
