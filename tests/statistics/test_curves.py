"""Tests of trade-off curves against values computed by hand."""

import math

import numpy as np
import pytest

from assay.statistics.curves import area, bend, gap


def points(*pairs: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    distance, cost = zip(*pairs, strict=True)
    return np.array(distance), np.array(cost)


def test_straight_line():
    curve = points((0.0, 0.1), (0.2, 0.2), (0.4, 0.3))
    assert area(*curve) == pytest.approx(0.2)
    assert bend(*curve) == pytest.approx(0)


def test_late_and_early_rise():
    """The cost is 0 up to distance 0.5, then rises to 1: half of the chord's triangle is below."""
    late, early = points((0, 0), (0.5, 0), (1, 1)), points((0, 0), (0.5, 1), (1, 1))
    assert area(*late) == pytest.approx(0.25)
    assert bend(*late) == pytest.approx(0.5)
    assert area(*early) == pytest.approx(0.75)
    assert bend(*early) == pytest.approx(-0.5)


def test_order_of_points_does_not_matter():
    pairs = [(0.6, 0.3), (0.1, 0.0), (0.4, 0.05), (0.69, 0.4)]
    assert area(*points(*pairs)) == area(*points(*pairs[::-1]))
    assert bend(*points(*pairs)) == bend(*points(*pairs[::-1]))


def test_the_bend_does_not_depend_on_units():
    distance, cost = points((0.1, 0.02), (0.3, 0.05), (0.6, 0.3))
    assert bend(distance, cost) == pytest.approx(bend(10 * distance + 3, 7 * cost + 2))


@pytest.mark.parametrize(
    "curve",
    [points((0.2, 0.1)), points((0.2, 0.1), (0.2, 0.4), (0.2, 0.3))],
    ids=["one point", "no width"],
)
def test_area_and_bend_are_nan_without_width(curve):
    assert math.isnan(area(*curve))
    assert math.isnan(bend(*curve))


def test_bend_of_noise_is_bounded():
    """It ends slightly above its start; the hump must not be measured by that difference."""
    hump = points((0.0, 0.0), (0.1, 0.01), (0.9, 0.01), (1.0, 1e-9))
    assert -2 <= bend(*hump) < 0
    assert bend(*hump) == pytest.approx(-2 * 0.9, abs=1e-6)


def test_bend_is_nan_for_two_points_or_a_falling_curve():
    assert math.isnan(bend(*points((0, 0), (1, 1))))
    assert math.isnan(bend(*points((0, 0.5), (0.5, 0.2), (1, 0.1))))


def test_gap_is_zero_to_itself_and_symmetric():
    one, other = points((0, 0), (0.4, 0.3), (1, 1)), points((0, 0.2), (0.7, 0.3), (1, 0.4))
    assert gap(one, one) == 0
    assert gap(one, other) == gap(other, one) > 0


def test_gap_by_hand():
    """Up to 0.4 both cost 0.1; up to 0.6 one costs 0.1, the other 0.5; 0.8 is out of reach."""
    one, other = points((0.6, 0.1), (0.2, 0.3)), points((0.4, 0.1), (0.8, 0.5))
    assert gap(one, other) == pytest.approx(0.4 * 0.2 / 0.6)


def test_the_gap_does_not_cancel():
    """A curve that is cheaper at first and more costly later is still a different curve."""
    one, other = points((0.5, 0.0), (1, 1.0)), points((0.5, 0.4), (1, 0.6))
    assert gap(one, other) == pytest.approx(0.4)


def test_gap_equals_the_mean_over_many_distances():
    rng = np.random.default_rng(4)
    one, other = rng.uniform(0, 1, (2, 7)), rng.uniform(0, 1, (2, 5))
    reach = min(one[0].max(), other[0].max())
    distances = (np.arange(200_000) + 0.5) / 200_000 * reach
    costs = [
        np.where(x[:, None] >= distances, y[:, None], np.inf).min(axis=0) for x, y in (one, other)
    ]
    expected = np.abs(costs[0] - costs[1]).mean()
    assert gap(tuple(one), tuple(other)) == pytest.approx(expected, abs=1e-4)


def test_gap_is_nan_without_reach():
    assert math.isnan(gap(points((0, 0), (0, 1)), points((0.3, 0), (1, 1))))
