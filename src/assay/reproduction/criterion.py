"""The criterion of the reproduction: when two numbers, two programs or two findings agree.

`docs/reproduction/criterion.md` fixes the rules and gives the reasons; it was committed before the
results of the runs were read. Everything here is a function of numbers, without files.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from assay.papers.declared import Measure
from assay.statistics.intervals import Interval

Verdict = Literal["equivalent", "compatible", "different", "too imprecise", "not judged"]
Outcome = Literal["reproduced", "in direction", "not reproduced", "untested"]
WORDS: tuple[Verdict, ...] = ("equivalent", "compatible", "too imprecise", "different")
LEAST_FREEDOM = 4  # of the variance between seeds, for a verdict
LEAST_CORPORA = 3  # for an interval of a correlation
KNOWN = 1e9  # degrees of freedom of a variance that is known
LARGEST_Z = float(np.arctanh(1 - 1e-12))  # where cells lie on a line
# Corpora whose test documents are the paper's. Of the others, the paper's split is not known.
SAME_TEST = ("sst", "snli", "babi1", "babi2", "babi3")


@dataclass(frozen=True)
class Margin:
    """The largest difference of a quantity that would change no reader's conclusion."""

    name: str
    limit: float
    pattern: str  # of "quantity statistic"; a score on test has the quantity "score"


MARGINS = (
    Margin("mean tau", 0.10, r"tau_\w+ mean"),
    Margin("standard deviation of tau", 0.05, r"tau_\w+ std"),
    Margin("share of documents with p ≤ 0.05", 0.15, r"p_\w+ significant"),
    Margin("gain in F1 from attention", 0.01, r"f1_difference .*"),
    Margin("F1, accuracy", 0.025, r"(score|f1|macro_f1|accuracy) .*"),
    Margin("median TVD", 0.05, r"median_tvd .*"),
    Margin("JSD", 0.07, r"\w*jsd .*"),
    Margin("half TVD", 0.015, r"(\w*tvd) .*"),
    Margin("share of decisions that change", 0.03, r"flip_\w+ .*"),
    Margin(
        "share of documents in which one order needs fewer items",
        0.10,
        r"(fewer|more)_than_attention .*",
    ),
)


def margin_of(measure: Measure) -> Margin | None:
    """The margin of a measure's quantity; None if the criterion declares none."""
    name = f"{measure.data or measure.quantity or 'score'} {measure.statistic or ''}"
    return next((each for each in MARGINS if re.fullmatch(each.pattern, name)), None)


@dataclass(frozen=True)
class Spread:
    """A variance between seeds and its degrees of freedom."""

    variance: float
    freedom: int


def pooled_spread(models: Sequence[Sequence[Sequence[float]]]) -> Spread:
    """The variance between seeds, pooled over models: values by model, class and seed.

    Classes of a model share its seeds, so they are averaged and add no degrees of freedom.
    """
    total, freedom = 0.0, 0
    for classes in models:
        variances = [float(np.var(values, ddof=1)) for values in classes if len(values) > 1]
        if variances:
            own = max(len(values) for values in classes) - 1
            total, freedom = total + own * float(np.mean(variances)), freedom + own
    return Spread(total / freedom if freedom else float("nan"), freedom)


@dataclass(frozen=True)
class Difference:
    """An estimated difference with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The bounds of Student's interval; NaN without degrees of freedom."""
        if self.freedom < 1 or np.isnan(self.error):
            return float("nan"), float("nan")
        half = float(stdtrit(min(self.freedom, KNOWN), (1 + level) / 2)) * self.error
        return self.value - half, self.value + half

    def is_within(self, limit: float) -> bool:
        """Whether two one-sided tests at 5 % show that it is smaller than the limit."""
        low, high = self.interval(0.90)
        return low > -limit and high < limit

    @property
    def excludes_zero(self) -> bool:
        low, high = self.interval()
        return low > 0 or high < 0


def difference(
    ours: float,
    other: float,
    spread: Spread,
    runs: tuple[int, int],
    *,
    unit: float = 0.0,
    documents: float = 0.0,
) -> Difference:
    """Our mean minus another number, for `runs` seeds on our side and on theirs.

    `unit` is that of the last printed digit, and `documents` the variance from test documents that
    differ. The degrees of freedom are those of the spread, corrected for the variances that are
    known (Welch and Satterthwaite).
    """
    seeds = spread.variance * (1 / runs[0] + 1 / runs[1])
    whole = seeds + unit**2 / 12 + documents
    freedom = spread.freedom * (whole / seeds) ** 2 if seeds > 0 else KNOWN
    if spread.freedom == 0:
        freedom = 0
    return Difference(ours - other, float(np.sqrt(whole)), freedom)


def verdict_on(found: Difference, margin: float) -> Verdict:
    """The verdict on a cell; see the page for the rules."""
    low, high = found.interval()
    if np.isnan(low):
        return "not judged"
    if found.is_within(margin):
        return "equivalent"
    if found.excludes_zero:
        return "different"
    return "compatible" if (high - low) / 2 <= 2 * margin else "too imprecise"


def bias_over(clusters: Mapping[str, Sequence[float]]) -> Difference:
    """The mean difference over corpora, each with the same weight; Student's t over corpora."""
    means = np.array([np.mean(values) for values in clusters.values()])
    count = len(means)
    error = float(means.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
    return Difference(float(means.mean()), error, count - 1)


def bias_word(found: Difference, margin: float) -> str:
    if found.is_within(margin):
        return "no bias beyond the margin"
    return "bias" if found.excludes_zero else "undecided"


Floats = NDArray[np.float64]
Statistic = Callable[[NDArray[np.bool_]], float]  # of the cells that are kept


def correlation(ours: Sequence[float], other: Sequence[float], corpora: Sequence[str]) -> Interval:
    """Pearson's correlation over cells; the interval from a jackknife over corpora."""
    x, y = np.asarray(ours), np.asarray(other)
    found = _jackknife(lambda keep: _z(x[keep], y[keep]), corpora)
    low, high = found.interval()
    value, low, high = (float(np.tanh(each)) for each in (found.value, low, high))
    return Interval(value, low, high, len(x))


def correlation_change(
    ours: tuple[Sequence[float], Sequence[float]], other: Sequence[float], corpora: Sequence[str]
) -> Difference:
    """How much better the first of two arms correlates with the same numbers, in Fisher's z."""
    (first, second), y = (np.asarray(arm) for arm in ours), np.asarray(other)
    return _jackknife(
        lambda keep: _z(first[keep], y[keep]) - _z(second[keep], y[keep]),
        corpora,
    )


def _z(x: Floats, y: Floats) -> float:
    """Fisher's z of the correlation; NaN if one side is constant."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    r = float(np.corrcoef(x, y)[0, 1])
    return float(np.clip(np.arctanh(r), -LARGEST_Z, LARGEST_Z)) if abs(r) < 1 else LARGEST_Z * r


def _jackknife(statistic: Statistic, corpora: Sequence[str]) -> Difference:
    names = np.asarray(corpora)
    value = statistic(np.ones(len(names), dtype=bool))
    groups = sorted(set(corpora))
    if len(groups) < LEAST_CORPORA:
        return Difference(value, float("nan"), 0)
    without = np.array([statistic(names != group) for group in groups])
    count = len(groups)
    error = np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    return Difference(value, float(error), count - 1)


def outcome_of(effects: Sequence[Interval], *, every: bool) -> Outcome:
    """The outcome of a conclusion from its mean effect on each corpus; positive is as claimed."""
    if not any(effect.n > 1 for effect in effects):
        return "untested"
    holds = sum(effect.low > 0 for effect in effects)
    needed = len(effects) if every else len(effects) // 2 + 1
    if holds >= needed and not any(effect.high < 0 for effect in effects):
        return "reproduced"
    positive = sum(effect.value > 0 for effect in effects)
    return "in direction" if positive > len(effects) / 2 else "not reproduced"
