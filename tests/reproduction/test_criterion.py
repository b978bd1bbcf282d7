"""Tests of the criterion: against scipy, by simulation, and against the page that fixes it."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.papers.declared import Measure
from assay.reproduction.criterion import (
    MARGINS,
    Difference,
    Spread,
    bias_over,
    bias_word,
    correlation,
    correlation_change,
    difference,
    margin_of,
    outcome_of,
    pooled_spread,
    verdict_on,
)
from assay.statistics.intervals import Interval, seeds_interval

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction" / "criterion.md"
UNIT = 0.01  # two printed places


def test_the_margins_are_those_of_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for margin in MARGINS:
        limit = "3 points" if margin.limit == 0.03 else f"{margin.limit:.3f}".removesuffix("0")
        assert f"| {margin.name} | {limit}" in page


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (Measure("score"), "F1, accuracy"),
        (Measure("m", "agreement", "tau_attention_gradient", "mean"), "mean tau"),
        (Measure("m", "agreement", "tau_attention_gradient", "std"), "standard deviation of tau"),
        (
            Measure("m", "agreement", "p_attention_gradient", "significant"),
            "share of documents with p ≤ 0.05",
        ),
        (
            Measure("m", "uniform", "f1_difference", "mean_over_seeds"),
            "gain in F1 from attention",
        ),
        (Measure("m", "guide", "f1", "mean_over_seeds"), "F1, accuracy"),
        (Measure("m", "imitation", "mean_half_tvd", "mean_over_seeds"), "half TVD"),
        (Measure("m", "permutation", "median_tvd", "median"), "median TVD"),
        (Measure("m", "seeds", "mean_jsd", "mean_over_seeds"), "JSD"),
        (Measure("m", "erase_one", "flip_top_only", "share"), "share of decisions that change"),
    ],
)
def test_every_quantity_has_its_margin(measure, name):
    found = margin_of(measure)
    assert found is not None
    assert found.name == name


def test_a_quantity_of_another_kind_has_no_margin():
    assert margin_of(Measure("m", "seeds", "items_to_flip", "median")) is None
    assert margin_of(Measure("m", data="mean_words")) is None


def test_the_pooled_variance_of_single_classes_is_that_of_the_t_test():
    a, b = [0.2, 0.3, 0.25], [0.5, 0.1, 0.4, 0.35]
    spread = pooled_spread([[a], [b], [[0.7]]])
    assert spread.freedom == 5
    expected = (2 * np.var(a, ddof=1) + 3 * np.var(b, ddof=1)) / 5
    assert spread.variance == pytest.approx(expected)
    # A t test with equal variances uses the same standard error.
    found = difference(np.mean(a), np.mean(b), spread, (3, 4))
    test = stats.ttest_ind(a, b)
    assert found.value / found.error == pytest.approx(test.statistic)
    assert found.freedom == pytest.approx(test.df)
    assert found.interval() == pytest.approx(tuple(test.confidence_interval()))


def test_classes_of_a_model_add_no_degrees_of_freedom():
    one, two = [0.1, 0.2, 0.4], [0.3, 0.1, 0.2]
    spread = pooled_spread([[one, two]])
    assert spread.freedom == 2
    assert spread.variance == pytest.approx((np.var(one, ddof=1) + np.var(two, ddof=1)) / 2)
    assert pooled_spread([[[0.5]]]).freedom == 0


def test_known_variances_raise_the_degrees_of_freedom():
    spread = Spread(0.01, 4)
    plain = difference(0.5, 0.4, spread, (5, 1))
    assert plain.freedom == pytest.approx(4)
    known = difference(0.5, 0.4, spread, (5, 1), unit=UNIT, documents=0.012)
    assert known.error**2 == pytest.approx(0.012 + UNIT**2 / 12 + 0.012)
    assert known.freedom == pytest.approx(4 * (known.error**2 / 0.012) ** 2)


def test_seeds_without_any_variance_leave_the_rounding():
    found = difference(1.0, 1.0, Spread(0.0, 8), (5, 1), unit=UNIT)
    low, high = found.interval()
    assert high == pytest.approx(stats.norm.ppf(0.975) * UNIT / np.sqrt(12))
    assert low == -high
    assert verdict_on(found, 0.15) == "equivalent"


def covered(spread_between_seeds, seeds, models, trials=4_000):
    """How often the interval covers a new single run of the same distribution, as printed."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(trials):
        values = rng.normal(0.4, spread_between_seeds, (models, seeds))
        printed = round(rng.normal(0.4, spread_between_seeds), 2)
        spread = pooled_spread([[own] for own in values])
        found = difference(values[0].mean(), printed, spread, (seeds, 1), unit=UNIT)
        hits += not found.excludes_zero
    return hits / trials


@pytest.mark.parametrize(("scale", "seeds", "models"), [(0.05, 5, 1), (0.05, 5, 4), (0.03, 3, 3)])
def test_the_interval_covers_a_new_run_in_95_of_100_trials(scale, seeds, models):
    assert covered(scale, seeds, models) == pytest.approx(0.95, abs=0.012)


def test_rounding_alone_is_covered_at_least_as_often():
    assert covered(0.001, 5, 4) >= 0.95


@pytest.mark.parametrize("corpora", [3, 5, 8])
def test_the_interval_of_the_bias_covers_it_although_cells_share_their_corpus(corpora):
    rng = np.random.default_rng(corpora)
    hits, trials, bias = 0, 4_000, 0.07
    for _ in range(trials):
        shared = rng.normal(bias, 0.06, corpora)
        cells = {
            str(name): each + rng.normal(0, 0.02, rng.integers(1, 7))
            for name, each in enumerate(shared)
        }
        low, high = bias_over(cells).interval()
        hits += low <= bias <= high
    assert hits / trials == pytest.approx(0.95, abs=0.012)


def test_every_corpus_has_the_same_weight():
    found = bias_over({"a": [0.1] * 30, "b": [0.3]})
    assert found.value == pytest.approx(0.2)
    assert np.isnan(bias_over({"a": [0.1, 0.2]}).interval()[0])


@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [
        (0.02, 0.02, "equivalent"),
        (0.06, 0.01, "equivalent"),  # it excludes zero, but is smaller than the margin
        (0.08, 0.06, "compatible"),
        (0.3, 0.05, "different"),
        (0.1, 0.15, "too imprecise"),
    ],
)
def test_the_verdicts_follow_the_rules(value, error, verdict):
    assert verdict_on(Difference(value, error, 1000), 0.1) == verdict


def test_without_degrees_of_freedom_nothing_is_judged():
    found = difference(0.5, 0.4, pooled_spread([[[0.5]]]), (1, 1), unit=UNIT)
    assert verdict_on(found, 0.1) == "not judged"


def test_the_words_for_a_bias():
    assert bias_word(Difference(0.01, 0.02, 9), 0.1) == "no bias beyond the margin"
    assert bias_word(Difference(-0.3, 0.05, 9), 0.1) == "bias"
    assert bias_word(Difference(0.05, 0.05, 9), 0.1) == "undecided"


def test_the_correlation_is_pearsons_and_lies_in_its_interval():
    rng = np.random.default_rng(0)
    corpora = [name for name in "abcdef" for _ in range(4)]
    other = rng.normal(size=24)
    ours = other + rng.normal(size=24)
    found = correlation(ours, other, corpora)
    assert found.value == pytest.approx(stats.pearsonr(ours, other).statistic)
    assert -1 <= found.low < found.value < found.high <= 1
    assert found.n == 24


def test_cells_on_a_line_correlate_perfectly():
    found = correlation([1, 2, 3, 4.0], [2, 4, 6, 8.0], list("abcd"))
    assert found.value == pytest.approx(1.0)
    assert np.isnan(correlation([1, 2, 3.0], [1, 3, 2.0], list("aab")).low)  # two corpora


def test_the_interval_of_a_correlation_covers_it_in_most_trials():
    rng = np.random.default_rng(3)
    corpora = [name for name in "abcdefgh" for _ in range(3)]
    hits, trials, rho = 0, 1_000, 0.6
    for _ in range(trials):
        shared = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 8).repeat(3, axis=0)
        own = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 24)
        x, y = (shared + own).T
        found = correlation(x, y, corpora)
        hits += found.low <= rho <= found.high
    assert 0.90 <= hits / trials <= 0.99


def test_an_arm_that_follows_print_correlates_better_than_one_that_does_not():
    rng = np.random.default_rng(1)
    corpora = [name for name in "abcdefgh" for _ in range(4)]
    other = rng.normal(size=32)
    close, far = other + 0.05 * rng.normal(size=32), rng.normal(size=32)
    change = correlation_change((close, far), other, corpora)
    assert change.interval()[0] > 0
    assert correlation_change((far, far), other, corpora).value == 0


def effects(*values):
    return [seeds_interval(each) for each in values]


def test_the_outcomes_of_a_conclusion():
    clear, faint, against = [0.2, 0.21, 0.22], [0.1, -0.05, 0.02], [-0.2, -0.21, -0.19]
    assert outcome_of(effects(clear, clear), every=True) == "reproduced"
    assert outcome_of(effects(clear, faint), every=True) == "in direction"
    assert outcome_of(effects(clear, clear, faint), every=False) == "reproduced"
    assert outcome_of(effects(clear, clear, against), every=False) == "in direction"
    assert outcome_of(effects(clear, against), every=False) == "not reproduced"
    assert outcome_of(effects([0.3]), every=True) == "untested"
    assert outcome_of([], every=True) == "untested"
    # A corpus with one seed can support a claim only in direction.
    assert outcome_of(effects(clear, [0.3]), every=True) == "in direction"
    assert outcome_of([Interval(-1.0, -1.0, -1.0, 2)], every=True) == "not reproduced"
