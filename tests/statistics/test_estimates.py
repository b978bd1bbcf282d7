"""Estimates with two sampling units, compared with scipy, scikit-learn and plain loops."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from assay.statistics.estimates import (
    f1_influence,
    mean_estimate,
    pair_values,
    ratio_estimate,
)
from assay.statistics.two_way import mean_squares, variance

RNG = np.random.default_rng(0)
TABLE = RNG.normal(0.3, 0.2, (50, 1)) + RNG.normal(0, 0.05, 4) + RNG.normal(0, 0.1, (50, 4))


def test_a_single_model_gives_students_interval():
    values = TABLE[:, 0]
    found = mean_estimate(values)
    plain = stats.ttest_1samp(values, 0.2)
    assert found.interval() == pytest.approx(tuple(plain.confidence_interval(0.95)))
    above = stats.ttest_1samp(values, 0.2, alternative="greater").pvalue
    assert found.p_above(0.2) == pytest.approx(above)
    below = stats.ttest_1samp(values, 0.4, alternative="less").pvalue
    assert found.p_below(0.4) == pytest.approx(below)
    assert (found.n, found.models, found.df) == (50, None, pytest.approx(49))


def test_mean_squares_equal_the_loops_of_a_textbook():
    n, models = TABLE.shape
    grand = TABLE.mean()
    documents = models * sum((row.mean() - grand) ** 2 for row in TABLE) / (n - 1)
    by_model = n * sum((column.mean() - grand) ** 2 for column in TABLE.T) / (models - 1)
    residual = sum(
        (TABLE[i, s] - TABLE[i].mean() - TABLE[:, s].mean() + grand) ** 2
        for i in range(n)
        for s in range(models)
    ) / ((n - 1) * (models - 1))
    found = mean_squares(TABLE)
    assert tuple(map(float, found)) == pytest.approx((documents, by_model, residual))
    parts = variance(found, n, models)
    assert parts.total == pytest.approx((documents + by_model - residual) / (n * models))


def test_many_tables_at_once_give_what_each_gives():
    tables = RNG.normal(size=(3, 20, 4))
    together = mean_squares(tables)
    for place, table in enumerate(tables):
        assert [each[place] for each in together] == pytest.approx(list(mean_squares(table)))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.995])
def test_p_values_and_intervals_agree(level):
    for bounds in ((-np.inf, np.inf), (-1.0, 1.0)):
        found = mean_estimate(np.clip(TABLE, -1, 1), bounds)
        low, high = found.interval(level)
        assert found.p_above(low) == pytest.approx((1 - level) / 2, rel=1e-6)
        assert found.p_below(high) == pytest.approx((1 - level) / 2, rel=1e-6)


def test_thirty_equal_documents_have_no_interval_of_width_zero():
    """The exact bound for 0 of 30 at 97.5 %: q^30 = 0.025 (Clopper and Pearson)."""
    found = mean_estimate(np.zeros(30), (0, 1))
    exact = stats.binomtest(0, 30).proportion_ci(0.95, method="exact")
    assert found.interval() == pytest.approx((0, exact.high))
    assert found.p_below(0.05) == pytest.approx(0.95**30)
    ones = mean_estimate(np.ones(30), (0, 1))
    assert ones.interval() == pytest.approx((1 - exact.high, 1))


def test_bounds_hardly_widen_the_interval_of_a_varied_sample():
    values = RNG.random(500)
    free, bounded = (mean_estimate(values, bounds) for bounds in ((-np.inf, np.inf), (0, 1)))
    assert bounded.interval() == pytest.approx(free.interval())


@pytest.mark.parametrize("side", [-1, 1])
def test_an_estimate_beyond_its_bounds_lies_inside_its_interval(side):
    """A ratio may be below -1: the interval must not end at -1, above the estimate."""
    rng = np.random.default_rng(0)
    estimate = mean_estimate(side * 3 + rng.normal(0, 1, 100), (-1, 1))
    free = mean_estimate(side * 3 + rng.normal(0, 0, 100), (-1, 1))
    low, high = estimate.interval()
    assert low < estimate.value < high
    inner, outer = (high, low) if side < 0 else (low, high)
    assert abs(outer) > 3 > abs(inner) > 1
    assert free.interval()[0] <= free.value <= free.interval()[1]


def test_a_threshold_beyond_the_estimate_has_a_large_p():
    found = mean_estimate(TABLE)
    assert found.p_above(found.value + 0.1) > 0.5
    assert found.p_above(found.value) == pytest.approx(0.5)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_documents_decide_nothing(count):
    found = mean_estimate(np.full(count, 0.9))
    assert np.isnan(found.interval()).all()
    assert (found.p_above(0), found.p_below(1)) == (1, 1)


def test_nan_is_refused():
    with pytest.raises(ValueError, match="without NaN"):
        mean_estimate(np.array([0.1, np.nan]))


def test_the_error_of_a_ratio_equals_the_jackknife():
    below = RNG.gamma(2, 1, 400)
    above = 0.4 * below + RNG.normal(0, 0.3, 400)
    found = ratio_estimate(above, below)
    assert found.value == pytest.approx(above.mean() / below.mean())
    left = (above.sum() - above) / (below.sum() - below)
    jackknife = np.sqrt(399 / 400 * ((left - left.mean()) ** 2).sum())
    assert found.error == pytest.approx(jackknife, rel=0.01)


@pytest.mark.parametrize(("classes", "average"), [([1], "binary"), ([0, 1, 2], "macro")])
def test_f1_influence_averages_to_f1_and_its_error_equals_the_jackknife(classes, average):
    labels = RNG.integers(0, max(2, len(classes)), 300)
    models = np.where(RNG.random((2, 300)) < 0.8, labels, RNG.permutation(labels))
    table = f1_influence(labels, models, classes)
    for predicted, column in zip(models, table.T, strict=True):
        assert column.mean() == pytest.approx(f1_score(labels, predicted, average=average))
    left = [
        f1_score(np.delete(labels, place), np.delete(models[0], place), average=average)
        for place in range(300)
    ]
    jackknife = np.sqrt(299 / 300 * ((left - np.mean(left)) ** 2).sum())
    assert mean_estimate(table[:, 0]).error == pytest.approx(jackknife, rel=0.02)


def test_a_class_that_is_never_named_has_an_f1_of_zero():
    labels, models = np.zeros(10, dtype=np.int64), np.zeros((1, 10), dtype=np.int64)
    assert f1_influence(labels, models, [1]) == pytest.approx(np.zeros((10, 1)))


def test_pseudo_values_of_pairs_give_the_jackknife_over_models():
    pairs = list(combinations(range(5), 2))
    lean = RNG.normal(0, 0.1, 5)
    table = np.stack(
        [lean[one] + lean[other] + RNG.normal(0, 0.01, 40) for one, other in pairs], axis=1
    )
    values = pair_values(table, pairs)
    assert values.mean(1) == pytest.approx(table.mean(1))
    left = [table[:, [model not in pair for pair in pairs]].mean() for model in range(5)]
    jackknife = 4 / 5 * ((left - np.mean(left)) ** 2).sum()
    squares = mean_squares(values)
    assert squares.models / values.size == pytest.approx(jackknife)


def test_every_pair_is_needed_once():
    with pytest.raises(ValueError, match="each pair is needed once"):
        pair_values(np.zeros((3, 2)), [(0, 1), (0, 2)])


def test_more_documents_and_models_narrow_the_interval_as_planned():
    found = mean_estimate(TABLE)
    same = found.with_size(50, 4)
    assert same.interval() == pytest.approx(found.interval())
    error = {size: found.with_size(*size).error for size in ((50, 4), (5_000, 4), (50, 400))}
    assert error[5_000, 4] < error[50, 4]
    assert error[50, 400] < error[50, 4]
