"""How far might this number be off, had other instances or other seeds been drawn?

95 % intervals: percentile bootstrap over instances for means and medians, Wilson for shares,
Student's t over seeds. The caller leaves out what has no value (and counts it): a NaN is refused.

How good is a model on test, and how sure is that, had other documents been drawn?

A resample of documents is a draw of their (label, prediction) pairs, so the table of counts
is drawn directly from its multinomial distribution and every score computed from the counts.

How much better is one model than another on the same documents, and how sure is that?

Documents are resampled, and every model answers the same resample: what makes a document hard is
hard for both and drops out of the difference.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Values = Floats | Sequence[float]
LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
DRAWS = 2_000
CACHED_DRAWS = 1 << 15  # at once: half a megabyte in two buffers, which stays in a core's cache


@dataclass(frozen=True)
class Interval:
    """A value, the bounds of its 95 % interval and the number of instances, seeds or trials."""

    value: float
    low: float
    high: float
    n: int

    def times(self, factor: float) -> "Interval":
        """In another unit: the factor is above zero."""
        return Interval(self.value * factor, self.low * factor, self.high * factor, self.n)


def mean_interval(values: Values, seed: int) -> Interval:
    """The mean over instances; bounds from the means of resampled instances."""
    given = _checked(values)
    if given.size < 2:
        return _too_few(given)
    return _percentile_interval(float(given.mean()), _resampled_means(given, seed), given.size)


def median_interval(values: Values, seed: int) -> Interval:
    """The median over instances; bounds from the medians of resampled instances."""
    given = _checked(values)
    if given.size < 2:
        return _too_few(given)
    medians = _resampled_medians(np.sort(given), seed)
    return _percentile_interval(float(np.median(given)), medians, given.size)


def share_interval(hits: int, n: int) -> Interval:
    """The share `hits / n` with Wilson's interval."""
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} hits of {n} is no share")
    if n == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    bounds = stats.binomtest(hits, n).proportion_ci(LEVEL, method="wilson")
    return Interval(hits / n, float(bounds.low), float(bounds.high), n)


def seeds_interval(values: Values) -> Interval:
    """The mean over seeds with Student's t interval; one seed has no bounds."""
    given = _checked(values)
    value = float(given.mean()) if given.size else np.nan
    if given.size < 2:
        return Interval(value, np.nan, np.nan, given.size)
    half = float(stats.t.ppf(TAILS[1], given.size - 1) * stats.sem(given))
    return Interval(value, value - half, value + half, given.size)


def _checked(values: Values) -> Floats:
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or np.isnan(given).any():
        raise ValueError(
            "an interval needs a flat list of values without NaN: leave them out first"
        )
    return given


def _too_few(values: Floats) -> Interval:
    only = float(values[0]) if values.size else np.nan
    return Interval(only, only, only, values.size)


def _percentile_interval(value: float, draws: Floats, n: int) -> Interval:
    low, high = np.quantile(draws, TAILS)
    return Interval(value, float(low), float(high), n)


def _resampled_means(values: Floats, seed: int) -> Floats:
    """Means of resamples, some rows at a time in the same two buffers.

    Fresh arrays for every piece would cost more, in pages the system must hand out, than the draws.
    """
    rng = np.random.default_rng(seed)
    rows = max(1, CACHED_DRAWS // values.size)
    drawn = np.empty((rows, values.size))
    chosen = np.empty(drawn.shape, dtype=np.intp)
    means = np.empty(DRAWS)
    for start in range(0, DRAWS, rows):
        rng.random(out=drawn)
        drawn *= values.size
        np.copyto(chosen, drawn, casting="unsafe")  # rounds down to a place
        values.take(chosen, out=drawn, mode="clip")
        part = means[start : start + rows]
        part[:] = drawn.mean(axis=1)[: part.size]
    return means


def _resampled_medians(ordered: Floats, seed: int) -> Floats:
    """Medians of resamples, without resampling.

    A resample is n uniform numbers read as places in the sorted values, so its k-th smallest value
    sits at the place of the k-th smallest of n uniform numbers, which is Beta(k, n + 1 - k); and
    below it the next smaller one is that times the largest of k - 1 uniform numbers. Both middle
    values are therefore drawn directly, from their exact joint distribution.
    """
    rng = np.random.default_rng(seed)
    n = ordered.size
    upper = n // 2 + 1
    high = rng.beta(upper, n + 1 - upper, size=DRAWS)
    if n % 2:
        return ordered[_places(high, n)]
    low = high * rng.random(DRAWS) ** (1 / (upper - 1))
    return (ordered[_places(low, n)] + ordered[_places(high, n)]) / 2


def _places(uniforms: Floats, n: int) -> NDArray[np.int64]:
    return np.minimum((uniforms * n).astype(np.int64), n - 1)  # rounding may reach 1.0


ConfusionCounts = NDArray[np.float64]  # (..., C, C): label by prediction


def score_interval(
    labels: Sequence[str], predictions: Sequence[str], classes: Sequence[str], score: str, seed: int
) -> Interval:
    """`accuracy`, `macro_f1` or, of two classes, `f1` of the second, with its 95 % interval."""
    place = {name: number for number, name in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)))
    for label, prediction in zip(labels, predictions, strict=True):
        counts[place[label], place[prediction]] += 1
    used = counts.sum(0) + counts.sum(1) > 0  # as scikit-learn: a class nobody named is no class
    counts = counts[np.ix_(used, used)] if score == "macro_f1" else counts
    compute = CLASSIFICATION_SCORES[score]
    n = len(labels)
    drawn = np.random.default_rng(seed).multinomial(n, counts.ravel() / n, size=DRAWS)
    resampled = drawn.reshape(DRAWS, *counts.shape).astype(np.float64)
    low, high = np.quantile(compute(resampled), TAILS)
    return Interval(float(compute(counts)), float(low), float(high), n)


def _accuracy(counts: ConfusionCounts) -> ConfusionCounts:
    right: ConfusionCounts = np.trace(counts, axis1=-2, axis2=-1) / counts.sum((-2, -1))
    return right


def _f1_per_class(counts: ConfusionCounts) -> ConfusionCounts:
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    named = counts.sum(-2) + counts.sum(-1)
    f1: ConfusionCounts = 2 * right / np.maximum(named, 1)  # 0 where a resample lacks the class
    return f1


def _f1(counts: ConfusionCounts) -> ConfusionCounts:
    second: ConfusionCounts = _f1_per_class(counts)[..., 1]
    return second


def _macro_f1(counts: ConfusionCounts) -> ConfusionCounts:
    mean: ConfusionCounts = _f1_per_class(counts).mean(-1)
    return mean


CLASSIFICATION_SCORES: dict[str, Callable[[ConfusionCounts], ConfusionCounts]] = {
    "accuracy": _accuracy,
    "macro_f1": _macro_f1,
    "f1": _f1,
}
ClassIndices = NDArray[np.int64]
COUNTS_AT_ONCE = 1 << 20  # held at once: eight megabytes


def f1_difference(
    labels: ClassIndices, ones: ClassIndices, others: ClassIndices, seed: int
) -> Interval:
    """Mean F1 of `ones` minus that of `others`, with its 95 % interval over documents.

    Labels (N,), decisions (S, N): S models of either kind. F1 is of class 1 where there is no
    third class, and otherwise the mean over the classes that somebody named.
    """
    answers = np.vstack([labels[None], ones, others])
    kinds, often = np.unique(answers, axis=1, return_counts=True)  # documents that are alike
    split = 1 + len(ones)

    def gap(counts: NDArray[np.int64]) -> Floats:
        first = _mean_f1(counts, kinds[0], kinds[1:split])
        return first - _mean_f1(counts, kinds[0], kinds[split:])

    low, high = np.quantile(np.concatenate([gap(part) for part in _draws(often, seed)]), TAILS)
    return Interval(float(gap(often[None])[0]), float(low), float(high), len(labels))


def _draws(often: NDArray[np.int64], seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each kind is drawn, some draws at a time."""
    rng = np.random.default_rng(seed)
    rows = max(1, COUNTS_AT_ONCE // len(often))
    for start in range(0, DRAWS, rows):
        yield rng.multinomial(often.sum(), often / often.sum(), size=min(rows, DRAWS - start))


def _mean_f1(counts: NDArray[np.int64], labels: ClassIndices, decisions: ClassIndices) -> Floats:
    """(D,): per draw the mean over models; `counts` (D, K) of the kinds of documents."""
    named = np.unique([labels, *decisions])
    counted = np.array([1]) if named.max() < 2 else named
    scores = [
        _class_f1(counts, labels == one, decided == one) for one in counted for decided in decisions
    ]
    mean: Floats = np.mean(scores, axis=0)
    return mean


def _class_f1(
    counts: NDArray[np.int64], labelled: NDArray[np.bool_], decided: NDArray[np.bool_]
) -> Floats:
    """Of one class; 0 where a draw holds neither such a label nor such a decision."""
    right = counts @ (labelled & decided)
    score: Floats = 2 * right / np.maximum(counts @ labelled + counts @ decided, 1)
    return score
