"""Tests that the bracket contains the optimum and is narrow."""

import numpy as np
import pytest
import torch

from assay.exact.numerics import TOLERANCE
from assay.exact.search import published_search, starting_logits
from assay.exact.several_classes import bracket_adversary
from assay.statistics.divergence import class_probabilities, jsd, tvd
from assay.statistics.keyed_random import document_keys
from tests.builders.exact_cases import plain_jsd, random_case, simplex_grid

FRONTIER = (0.001, 0.01, 0.05, 0.2, 0.5)
THREE_BOUNDS = (0.001, 0.01, 0.2)
SHAPES = [(4, 3), (9, 3), (26, 3), (9, 5), (26, 4)]


def decoded(weights, terms, bias):
    """Probabilities for weights (B, P, T), computed independently of the package."""
    logits = torch.from_numpy(weights) @ torch.from_numpy(terms) + torch.from_numpy(bias)
    return class_probabilities(logits)


@pytest.fixture(
    scope="module",
    params=[(*shape, ties) for shape in SHAPES for ties in (False, True)],
    ids=lambda p: f"T{p[0]}-C{p[1]}-{'ties' if p[2] else 'continuous'}",
)
def bracketed(request):
    items, classes, ties = request.param
    case = random_case(np.random.default_rng(items), 24, items, classes, ties=ties)
    return case, bracket_adversary(*case, FRONTIER)


def test_witness_is_feasible_and_has_the_reported_values(bracketed):
    (weights, terms, bias, mask), found = bracketed
    shift = tvd(decoded(found.weights, terms, bias), decoded(weights[:, None], terms, bias)).numpy()
    assert (shift <= np.array(FRONTIER) + TOLERANCE).all()
    np.testing.assert_allclose(found.tvd, shift, rtol=0, atol=1e-12)
    scored = jsd(torch.from_numpy(found.weights), torch.from_numpy(weights)[:, None])
    np.testing.assert_allclose(found.lower, scored.numpy(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.weights.sum(-1), 1, rtol=0, atol=1e-9)
    assert (found.weights >= 0).all()
    assert (found.weights * ~mask[:, None] == 0).all()


def test_ends_are_in_order_and_monotone_in_eps(bracketed):
    _, found = bracketed
    assert (found.lower >= 0).all()
    assert (found.lower <= found.upper).all()
    assert (np.diff(found.lower, axis=1) >= 0).all()
    assert (np.diff(found.upper, axis=1) >= 0).all()


def test_a_wide_bound_gives_the_unconstrained_optimum(bracketed):
    (weights, terms, bias, mask), _ = bracketed
    found = bracket_adversary(weights, terms, bias, mask, [1.0])
    lightest = np.where(mask, weights, np.inf).argmin(1)
    points = np.eye(weights.shape[1])[lightest]
    best = [plain_jsd(point, w) for point, w in zip(points, weights, strict=True)]
    np.testing.assert_allclose(found.lower[:, 0], best, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.upper[:, 0], best, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("items", "classes"), [(3, 3), (4, 3), (4, 4)])
def test_no_point_of_a_fine_grid_is_above_the_upper_end(items, classes):
    rng = np.random.default_rng(items)
    _, terms, bias, mask = random_case(rng, 80, items, classes, scale=1.0)
    mask[:], weights = True, rng.dirichlet(np.ones(items), 80)
    grid = simplex_grid(items, {3: 100, 4: 30}[items])
    repeated = np.repeat(grid[None], 80, axis=0)
    shift = tvd(decoded(repeated, terms, bias), decoded(weights[:, None], terms, bias)).numpy()
    scored = jsd(torch.from_numpy(grid), torch.from_numpy(weights)[:, None]).numpy()
    eps = np.array([0.01, 0.05, 0.2])
    best = np.where(shift[:, None] <= eps[:, None], scored[:, None], 0).max(-1)
    found = bracket_adversary(weights, terms, bias, mask, eps)
    assert (found.upper >= best - 1e-9).all()
    assert (found.lower >= best - 0.01).mean() > 0.95  # and the witness is rarely worse
    assert found.lower.mean() >= best.mean()


@pytest.mark.parametrize("classes", [3, 5])
def test_search_stays_below_the_upper_end(classes):
    torch.set_num_threads(1)
    weights, terms, bias, mask = random_case(np.random.default_rng(1), 40, 9, classes)
    starts = starting_logits(document_keys([str(b) for b in range(40)], 0, "search"), 9)
    values, offset = torch.from_numpy(terms), torch.from_numpy(bias)
    searched = published_search(
        lambda proposals: proposals @ values + offset,
        torch.from_numpy(weights),
        torch.from_numpy(mask),
        [0.01, 0.05],
        starts,
    ).jsd.numpy()
    found = bracket_adversary(weights, terms, bias, mask, [0.01, 0.05])
    assert (searched <= found.upper + 1e-6).all()
    assert (searched.mean(0) < found.lower.mean(0)).all()


@pytest.mark.parametrize("scale", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("peak", [1.0, 2.0])
def test_bracket_is_narrow_for_three_classes_and_few_items(scale, peak):
    rng = np.random.default_rng(3)
    weights, terms, bias, mask = random_case(rng, 90, 20, 3, peak=peak, scale=scale)
    keep = mask.sum(1) > 3
    found = bracket_adversary(weights[keep], terms[keep], bias, mask[keep], [0.01, 0.05])
    assert (np.median(found.upper - found.lower, axis=0) <= 0.005).all()  # promised: 0.02


@pytest.mark.parametrize(
    ("classes", "items", "widest"),
    [(5, 5, 0.01), (5, 15, 0.03), (10, 5, 0.01), (10, 15, 0.08), (20, 15, 0.08), (10, 50, 0.06)],
)
def test_bracket_of_many_classes_is_narrow(classes, items, widest):
    """The median over random heads; closed forms alone leave 0.34 at ten classes, 15 items."""
    rng = np.random.default_rng(classes)
    weights, terms = rng.dirichlet(np.ones(items), 12), rng.normal(size=(12, items, classes))
    mask = np.ones((12, items), dtype=bool)
    found = bracket_adversary(weights, terms, np.zeros(classes), mask, [0.01])
    assert np.median(found.upper - found.lower) <= widest


def test_refining_one_eps_leaves_the_others_valid_and_no_narrower():
    case = random_case(np.random.default_rng(6), 8, 9, 6)
    whole = bracket_adversary(*case, THREE_BOUNDS)
    part = bracket_adversary(*case, THREE_BOUNDS, refined=(0.01,))
    none = bracket_adversary(*case, THREE_BOUNDS, refined=(0.3,))
    for found, wider in ((whole, part), (part, none)):
        assert (found.upper - found.lower <= wider.upper - wider.lower + 1e-9).all()
        assert (found.lower <= wider.upper + 1e-9).all()
        assert (wider.lower <= found.upper + 1e-9).all()
    assert (part.upper - part.lower)[:, 1].mean() < (none.upper - none.lower)[:, 1].mean() - 0.02


@pytest.mark.parametrize("classes", [3, 5, 10])
def test_two_items_are_solved_exactly(classes):
    rng = np.random.default_rng(classes)
    terms, bias = rng.normal(size=(50, 6, classes)) * 2, rng.normal(size=classes)
    weights, mask = np.zeros((50, 6)), np.zeros((50, 6), dtype=bool)
    weights[:, [1, 4]], mask[:, [1, 4]] = rng.dirichlet(np.ones(2), 50), True
    line = np.zeros((50, 5001, 6))
    line[..., 4] = np.linspace(0, 1, 5001)
    line[..., 1] = 1 - line[..., 4]
    shift = tvd(decoded(line, terms, bias), decoded(weights[:, None], terms, bias)).numpy()
    scored = jsd(torch.from_numpy(line), torch.from_numpy(weights)[:, None]).numpy()
    found = bracket_adversary(weights, terms, bias, mask, [0.01, 0.1])
    for e, eps in enumerate((0.01, 0.1)):
        best = np.where(shift <= eps, scored, 0).max(-1)
        assert (found.lower[:, e] >= best - 1e-12).all()
        assert (found.lower[:, e] <= best + 0.005).all()
        assert (found.upper[:, e] >= best - 1e-9).all()


def test_batch_and_padding_change_nothing():
    weights, terms, bias, mask = random_case(np.random.default_rng(8), 12, 9, 3)
    together = bracket_adversary(weights, terms, bias, mask, FRONTIER)
    noise = np.random.default_rng(1).normal(size=(12, 15, 3))
    wide = bracket_adversary(
        np.concatenate([weights, noise[..., 0]], 1),
        np.concatenate([terms, noise], 1),
        bias,
        np.pad(mask, ((0, 0), (0, 15))),
        FRONTIER,
    )
    alone = [
        bracket_adversary(weights[b : b + 1], terms[b : b + 1], bias, mask[b : b + 1], FRONTIER)
        for b in range(12)
    ]
    for name in ("lower", "upper", "tvd"):
        expected = getattr(together, name)
        np.testing.assert_allclose(getattr(wide, name), expected, rtol=0, atol=1e-9)
        parts = np.concatenate([getattr(one, name) for one in alone])
        np.testing.assert_allclose(parts, expected, rtol=0, atol=1e-9)


def test_one_item_no_items_and_no_documents():
    weights = np.array([[1.0, 0.0], [0.0, 0.0]])
    mask = np.array([[True, False], [False, False]])
    found = bracket_adversary(weights, np.ones((2, 2, 3)), np.zeros(3), mask, [0.01, 1.0])
    assert (found.lower == 0).all()
    assert (found.upper[0] <= 1e-12).all()
    empty = bracket_adversary(weights[:0], np.ones((0, 2, 3)), np.zeros(3), mask[:0], [0.01])
    assert empty.lower.shape == (0, 1)
    assert empty.weights.shape == (0, 1, 2)


def test_two_classes_are_refused():
    with pytest.raises(ValueError, match="exact"):
        bracket_adversary(*random_case(np.random.default_rng(0), 2, 3, 2), [0.01])


@pytest.mark.parametrize("classes", [3, 4, 5, 14, 23, 30])
@pytest.mark.parametrize("items", [1, 3, 24])
@pytest.mark.parametrize("scale", [0.0, 0.01, 8.0, 60.0])
def test_uncertain_and_saturated_models(classes, items, scale):
    rng = np.random.default_rng(classes)
    weights, terms, bias, mask = random_case(rng, 3, items, classes, scale=scale)
    favored = np.where(np.arange(classes) == classes // 2, 3 * scale, 0.0)
    found = bracket_adversary(weights, terms + favored, bias, mask, THREE_BOUNDS)
    assert (found.lower <= found.upper).all()
    assert (found.lower >= 0).all()
    assert (found.upper <= np.log(2) + 1e-9).all()
    np.testing.assert_allclose(found.weights.sum(-1), 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("classes", [3, 14])
def test_long_documents_do_not_depend_on_the_batch(classes):
    weights, terms, bias, mask = random_case(np.random.default_rng(5), 6, 40, classes, scale=6.0)
    together = bracket_adversary(weights, terms, bias, mask, THREE_BOUNDS)
    for row in range(6):
        part = slice(row, row + 1)
        alone = bracket_adversary(weights[part], terms[part], bias, mask[part], THREE_BOUNDS)
        np.testing.assert_allclose(alone.lower, together.lower[part], rtol=0, atol=1e-9)
        np.testing.assert_allclose(alone.upper, together.upper[part], rtol=0, atol=1e-9)


def test_classes_without_any_probability_do_not_hide_the_corners():
    """An infinite logit made the cost of every corner NaN, and no corner was taken."""
    case = random_case(np.random.default_rng(1), 20, 12, 5, scale=600.0)
    with np.errstate(divide="raise", invalid="raise"):
        found = bracket_adversary(*case, (0.01, 0.2))
    assert (found.lower[1] > 0.3).all()  # without corners the ascent ends below 0.07
