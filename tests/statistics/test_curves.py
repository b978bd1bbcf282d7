"""Do area and bend of a frontier agree with what can be worked out by hand?"""

import math

import numpy as np
import pytest

from assay.statistics.curves import area, bend, gap


def points(*pairs: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    far, price = zip(*pairs, strict=True)
    return np.array(far), np.array(price)


def test_a_straight_line():
    curve = points((0.0, 0.1), (0.2, 0.2), (0.4, 0.3))
    assert area(*curve) == pytest.approx(0.2)
    assert bend(*curve) == pytest.approx(0)


def test_a_late_rise_and_an_early_one():
    """Nothing is paid up to 0.5 of 1, then 1: the curve has half the chord's triangle below it."""
    late, early = points((0, 0), (0.5, 0), (1, 1)), points((0, 0), (0.5, 1), (1, 1))
    assert area(*late) == pytest.approx(0.25)
    assert bend(*late) == pytest.approx(0.5)
    assert area(*early) == pytest.approx(0.75)
    assert bend(*early) == pytest.approx(-0.5)


def test_the_order_of_the_points_does_not_matter():
    pairs = [(0.6, 0.3), (0.1, 0.0), (0.4, 0.05), (0.69, 0.4)]
    assert area(*points(*pairs)) == area(*points(*pairs[::-1]))
    assert bend(*points(*pairs)) == bend(*points(*pairs[::-1]))


def test_the_bend_does_not_depend_on_units():
    far, price = points((0.1, 0.02), (0.3, 0.05), (0.6, 0.3))
    assert bend(far, price) == pytest.approx(bend(10 * far + 3, 7 * price + 2))


@pytest.mark.parametrize(
    "curve",
    [points((0.2, 0.1)), points((0.2, 0.1), (0.2, 0.4), (0.2, 0.3))],
    ids=["one point", "no width"],
)
def test_what_is_no_curve_has_neither(curve):
    assert math.isnan(area(*curve))
    assert math.isnan(bend(*curve))


def test_a_hump_of_noise_bends_within_bounds():
    """It ends a hair above where it began: the hump must not be measured by that hair."""
    hump = points((0.0, 0.0), (0.1, 0.01), (0.9, 0.01), (1.0, 1e-9))
    assert -2 <= bend(*hump) < 0
    assert bend(*hump) == pytest.approx(-2 * 0.9, abs=1e-6)


def test_two_points_or_a_falling_curve_have_no_bend():
    assert math.isnan(bend(*points((0, 0), (1, 1))))
    assert math.isnan(bend(*points((0, 0.5), (0.5, 0.2), (1, 0.1))))


def test_the_gap_is_zero_to_itself_and_the_same_both_ways():
    one, other = points((0, 0), (0.4, 0.3), (1, 1)), points((0, 0.2), (0.7, 0.3), (1, 0.4))
    assert gap(one, one) == 0
    assert gap(one, other) == gap(other, one) > 0


def test_the_gap_worked_by_hand():
    """Up to 0.4 both ask 0.1; from there to 0.6 the one asks 0.1, the other 0.5; 0.8 is beyond."""
    one, other = points((0.6, 0.1), (0.2, 0.3)), points((0.4, 0.1), (0.8, 0.5))
    assert gap(one, other) == pytest.approx(0.4 * 0.2 / 0.6)


def test_the_gap_does_not_cancel():
    """Cheaper at first and dearer afterwards is still another frontier."""
    one, other = points((0.5, 0.0), (1, 1.0)), points((0.5, 0.4), (1, 0.6))
    assert gap(one, other) == pytest.approx(0.4)


def test_the_gap_agrees_with_looking_at_many_distances():
    rng = np.random.default_rng(4)
    one, other = rng.uniform(0, 1, (2, 7)), rng.uniform(0, 1, (2, 5))
    reach = min(one[0].max(), other[0].max())
    places = (np.arange(200_000) + 0.5) / 200_000 * reach
    prices = [
        np.where(x[:, None] >= places, y[:, None], np.inf).min(axis=0) for x, y in (one, other)
    ]
    expected = np.abs(prices[0] - prices[1]).mean()
    assert gap(tuple(one), tuple(other)) == pytest.approx(expected, abs=1e-4)


def test_who_goes_nowhere_has_no_gap():
    assert math.isnan(gap(points((0, 0), (0, 1)), points((0.3, 0), (1, 1))))
