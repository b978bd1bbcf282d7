"""Tests that the lightest set of a given size is the lightest, against enumeration."""

from itertools import combinations

import numpy as np
import pytest

from assay.exact import lightest_sets as module
from assay.exact.lightest_sets import Problems, lightest_sets

ITEMS = 13


def random_problems(
    rng: np.random.Generator, count: int, *, integers: bool, ties: bool
) -> tuple[Problems, np.ndarray]:
    """Problems that the items of largest lead solve, and those sets."""
    shape = (count, ITEMS)
    weights = rng.integers(1, 6, shape).astype(float) if integers else rng.random(shape) ** 3
    leads = rng.integers(-4, 5, shape).astype(float) if integers else rng.normal(size=shape)
    leads *= weights
    absent = rng.random(shape) < 0.15
    weights[absent], leads[absent] = np.inf, 0.0
    size = rng.integers(1, 6, count)
    order = np.argsort(np.where(absent, np.inf, -leads), axis=1, kind="stable")
    start = np.zeros(shape, dtype=bool)
    np.put_along_axis(start, order, np.arange(ITEMS) < size[:, None], axis=1)
    problems = Problems(weights, leads, size, np.full(count, ties))
    solved = problems.met(start) & ((~absent).sum(1) > size)
    return problems.rows(np.flatnonzero(solved)), start[solved]


def least_by_enumeration(problems: Problems, row: int) -> float:
    there = np.flatnonzero(np.isfinite(problems.weights[row]))
    weights, leads = problems.weights[row], problems.leads[row]
    total = leads.sum()
    best = np.inf
    for chosen in combinations(there.tolist(), int(problems.size[row])):
        left = total - leads[list(chosen)].sum()
        if left < -1e-12 or (abs(left) <= 1e-12 and problems.tie_is_enough[row]):
            best = min(best, weights[list(chosen)].sum())
    return best


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_no_other_set_of_the_size_is_lighter(integers: bool, ties: bool):
    problems, start = random_problems(np.random.default_rng(1), 400, integers=integers, ties=ties)
    assert len(start) > 100
    found = lightest_sets(problems, start)
    assert found.proven.all()
    assert problems.met(found.members).all()
    np.testing.assert_array_equal(found.members.sum(1), problems.size)
    mass = problems.mass(found.members)
    assert (mass < problems.mass(start) - 1e-9).mean() > 0.2  # the start was not the answer
    for row in range(0, len(start), 3):
        assert mass[row] == pytest.approx(least_by_enumeration(problems, row), abs=1e-12)


def test_a_search_cut_short_keeps_a_valid_set_and_says_so(monkeypatch):
    problems, start = random_problems(np.random.default_rng(2), 300, integers=False, ties=False)
    whole = lightest_sets(problems, start)
    monkeypatch.setattr(module, "MOST_NODES", 1)
    cut = lightest_sets(problems, start)
    assert not cut.proven.all()
    assert problems.met(cut.members).all()
    assert (problems.mass(cut.members) <= problems.mass(start)).all()
    assert (problems.mass(cut.members) >= problems.mass(whole.members)).all()
    np.testing.assert_allclose(
        problems.mass(cut.members)[cut.proven], problems.mass(whole.members)[cut.proven]
    )


def test_padding_changes_nothing():
    problems, start = random_problems(np.random.default_rng(3), 50, integers=False, ties=False)
    wide = ((0, 0), (0, 7))
    padded = Problems(
        np.pad(problems.weights, wide, constant_values=np.inf),
        np.pad(problems.leads, wide),
        problems.size,
        problems.tie_is_enough,
    )
    found = lightest_sets(padded, np.pad(start, wide)).members
    assert not found[:, ITEMS:].any()
    np.testing.assert_array_equal(found[:, :ITEMS], lightest_sets(problems, start).members)


def test_by_hand():
    """Leads 3, 2, 2 and -6 sum to 1: erasing any of the first three is enough."""
    problems = Problems(
        np.array([[0.5, 0.2, 0.3, 0.1]]),
        np.array([[3.0, 2.0, 2.0, -6.0]]),
        np.array([1]),
        np.zeros(1, bool),
    )
    start = np.array([[True, False, False, False]])
    found = lightest_sets(problems, start)
    assert found.members.tolist() == [[False, True, False, False]]
