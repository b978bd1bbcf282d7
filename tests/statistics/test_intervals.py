"""Tests of the intervals against plain resampling and scipy."""

import math
import tracemalloc
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score

from assay.statistics.intervals import (
    DRAWS,
    Interval,
    _resampled_medians,
    balanced_accuracy_interval,
    mean_interval,
    mean_intervals,
    median_interval,
    seeds_interval,
    share_interval,
)

BOOTSTRAPS = [mean_interval, median_interval]


def plain_bootstrap(values, statistic, draws, seed):
    rng = np.random.default_rng(seed)
    return np.array([statistic(rng.choice(values, values.size)) for _ in range(draws)])


@pytest.mark.parametrize("n", [2, 3, 8, 9, 300])
@pytest.mark.parametrize(
    ("interval", "statistic"), [(mean_interval, np.mean), (median_interval, np.median)]
)
def test_bounds_equal_plain_resampling(n, interval, statistic):
    values = np.random.default_rng(n).gamma(2.0, size=n)
    ours = interval(values, seed=1)
    draws = plain_bootstrap(values, statistic, 20_000, seed=2)
    assert ours.value == pytest.approx(statistic(values))
    assert ours.n == n
    # The bound is a quantile of 2,000 draws: it must fall within the noise of its own level.
    for bound, level in ((ours.low, 0.025), (ours.high, 0.975)):
        assert (draws < bound - 1e-9).mean() <= level + 0.015
        assert (draws <= bound + 1e-9).mean() >= level - 0.015


@pytest.mark.parametrize("n", [2, 4, 5, 12, 41])
def test_direct_medians_have_the_distribution_of_resampled_ones(n):
    values = np.sort(np.random.default_rng(n).random(n))
    direct = np.concatenate([_resampled_medians(values, seed) for seed in range(10)])
    resampled = plain_bootstrap(values, np.median, 10 * DRAWS, seed=99)
    assert stats.ks_2samp(direct, resampled).pvalue > 1e-3


@pytest.mark.parametrize("interval", BOOTSTRAPS)
def test_result_depends_on_the_seed(interval):
    values = np.random.default_rng(0).random(501)
    assert interval(values, seed=3) == interval(values, seed=3)
    assert interval(values, seed=3) != interval(values, seed=4)


@pytest.mark.parametrize("interval", BOOTSTRAPS)
def test_no_value_and_one_value(interval):
    nothing = interval([], seed=0)
    assert nothing.n == 0
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.low)
    assert math.isnan(nothing.high)
    assert interval([0.25], seed=0) == Interval(0.25, 0.25, 0.25, 1)


@pytest.mark.parametrize("interval", BOOTSTRAPS)
def test_constant_values_have_no_width(interval):
    assert interval([2.0] * 10, seed=0) == Interval(2.0, 2.0, 2.0, 10)


def test_coverage_of_the_mean():
    rng = np.random.default_rng(8)
    intervals = [mean_interval(rng.normal(size=60), seed) for seed in range(300)]
    covered = np.mean([i.low <= 0 <= i.high for i in intervals])
    assert 0.90 < covered < 0.98


@pytest.mark.parametrize("interval", BOOTSTRAPS)
def test_memory_is_bounded_for_many_instances(interval):
    values = np.random.default_rng(0).random(25_000)
    tracemalloc.start()
    interval(values, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 * 2**20


@pytest.mark.parametrize("interval", [*BOOTSTRAPS, lambda values, seed: seeds_interval(values)])
def test_nan_is_refused(interval):
    with pytest.raises(ValueError, match="leave them out"):
        interval([1.0, math.nan], seed=0)


def test_wilson_interval_by_its_formula():
    hits, n, z = 7, 20, stats.norm.ppf(0.975)
    center = (hits + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(hits * (n - hits) / n + z**2 / 4)
    ours = share_interval(hits, n)
    assert (ours.value, ours.n) == (0.35, 20)
    assert (ours.low, ours.high) == pytest.approx((center - half, center + half))


def test_shares_of_zero_and_one():
    assert share_interval(0, 10).low == 0
    assert share_interval(10, 10).high == 1
    assert math.isnan(share_interval(0, 0).value)
    with pytest.raises(ValueError, match="3 hits of 2"):
        share_interval(3, 2)


def test_seeds_interval_equals_scipy():
    values = [0.81, 0.84, 0.79, 0.80]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    ours = seeds_interval(values)
    assert (ours.value, ours.n) == (pytest.approx(np.mean(values)), 4)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high))


def test_one_seed_has_no_bounds():
    one = seeds_interval([0.8])
    assert (one.value, one.n) == (0.8, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    assert math.isnan(seeds_interval([]).value)


def test_balanced_accuracy_equals_scikit_learn():
    rng = np.random.default_rng(3)
    labels = rng.choice(["a", "b", "c"], 200, p=[0.7, 0.2, 0.1]).tolist()
    predictions = rng.choice(["a", "b", "c"], 200).tolist()
    found = balanced_accuracy_interval(labels, predictions)
    assert found.value == pytest.approx(balanced_accuracy_score(labels, predictions))
    assert found.low < found.value < found.high


def test_a_constant_answer_does_not_clear_chance():
    labels = ["a"] * 90 + ["b"] * 10
    found = balanced_accuracy_interval(labels, ["a"] * 100)
    assert (found.value, found.low < 0.5 < found.high) == (0.5, True)
    perfect = balanced_accuracy_interval(labels, labels)
    assert (perfect.value, perfect.low > 0.5) == (1.0, True)


def test_balanced_accuracy_of_few_documents_is_covered():
    """Thirty documents of two classes; a wrong sure answer would call a guess knowledge."""
    rng = np.random.default_rng(0)
    labels = np.array(["a"] * 20 + ["b"] * 10)
    hits = 0
    for _ in range(1_000):
        predictions = np.where(rng.random(30) < 0.5, "a", "b")
        found = balanced_accuracy_interval(labels.tolist(), predictions.tolist())
        hits += found.low <= 0.5
    assert hits / 1_000 >= 0.965


def test_columns_that_share_their_resamples_have_the_intervals_of_single_ones():
    rng = np.random.default_rng(3)
    columns = [rng.normal(size=n) for n in (40, 7, 40, 1, 0, 40)]
    for column, interval in zip(columns, mean_intervals(columns, 5), strict=True):
        np.testing.assert_equal(asdict(interval), asdict(mean_interval(column, 5)))
