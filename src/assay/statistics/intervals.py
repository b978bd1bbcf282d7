"""Intervals: how far an estimate might be off, had other documents or other seeds been drawn.

All are 95 % intervals. Means and medians over documents use the percentile bootstrap, shares use
Wilson's interval, and means over seeds use Student's t. Classification scores, and differences of
F1 between models on the same documents, use the bootstrap too: documents with equal labels and
predictions are interchangeable, so their counts are drawn directly from the multinomial
distribution. The caller leaves out (and counts) what has no value: a NaN is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Floats = NDArray[np.float64]
Values = Floats | Sequence[float]
ConfusionCounts = NDArray[np.float64]  # (..., C, C): label by prediction
ClassIndices = NDArray[np.int64]

LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
DRAWS = 2_000
CACHED_DRAWS = 1 << 15  # at once: half a megabyte in two buffers, which stays in a core's cache
COUNTS_AT_ONCE = 1 << 20  # eight megabytes


@dataclass(frozen=True)
class Interval:
    """A value, the bounds of its 95 % interval and the number of instances, seeds or trials."""

    value: float
    low: float
    high: float
    n: int

    def times(self, factor: float) -> "Interval":
        """The same in another unit; the factor is positive."""
        return Interval(self.value * factor, self.low * factor, self.high * factor, self.n)


def mean_interval(values: Values, seed: int) -> Interval:
    """The mean over instances; bounds from the means of resampled instances."""
    given = _checked(values)
    if given.size < 2:
        return _too_few(given)
    draws = resampled_means(given[:, None], seed)[:, 0]
    return _percentile_interval(float(given.mean()), draws, given.size)


def mean_intervals(columns: Sequence[Floats], seed: int) -> list[Interval]:
    """`mean_interval` of each column; columns of equal length share their resamples.

    Drawing costs more than summing, and columns of one length are resampled alike in any case.
    """
    found: dict[int, Interval] = {}
    places: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        places.setdefault(len(_checked(column)), []).append(place)
    for n, alike in places.items():
        if n < 2:
            found |= {place: _too_few(columns[place]) for place in alike}
            continue
        draws = resampled_means(np.stack([columns[place] for place in alike], axis=1), seed)
        for place, own in zip(alike, draws.T, strict=True):
            found[place] = _percentile_interval(float(columns[place].mean()), own, n)
    return [found[place] for place in range(len(columns))]


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
    share, z = hits / n, float(ndtri(TAILS[1]))
    middle = (2 * hits + z**2) / (2 * (n + z**2))
    half = z / (2 * (n + z**2)) * np.sqrt(4 * n * share * (1 - share) + z**2)
    # Rounding must not move the bound at the end of the range.
    low, high = 0.0 if hits == 0 else middle - half, 1.0 if hits == n else middle + half
    return Interval(share, float(low), float(high), n)


def seeds_interval(values: Values) -> Interval:
    """The mean over seeds with Student's t interval; a single seed has no bounds."""
    given = _checked(values)
    value = float(given.mean()) if given.size else np.nan
    if given.size < 2:
        return Interval(value, np.nan, np.nan, given.size)
    half = float(stdtrit(given.size - 1, TAILS[1]) * given.std(ddof=1) / np.sqrt(given.size))
    return Interval(value, value - half, value + half, given.size)


def balanced_accuracy_interval(labels: Sequence[str], predictions: Sequence[str]) -> Interval:
    """The mean over the classes that occur of the share of their documents predicted correctly.

    The variance of a class's share adds two hits and two misses (Agresti and Coull), because a
    class whose few documents are all predicted correctly is not known to be perfect.
    """
    truth, answers = np.asarray(labels), np.asarray(predictions)
    classes = np.unique(truth)
    sizes = np.array([(truth == one).sum() for one in classes])
    hits = np.array([((truth == one) & (answers == one)).sum() for one in classes])
    shares = (hits + 2) / (sizes + 4)
    error = float(np.sqrt((shares * (1 - shares) / sizes).sum())) / len(classes)
    value, half = float((hits / sizes).mean()), float(ndtri(TAILS[1])) * error
    return Interval(value, max(0.0, value - half), min(1.0, value + half), len(truth))


def score_interval(
    labels: Sequence[str], predictions: Sequence[str], classes: Sequence[str], score: str, seed: int
) -> Interval:
    """`accuracy`, `macro_f1` or, for two classes, `f1` of the second, over documents."""
    place = {name: number for number, name in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for label, prediction in zip(labels, predictions, strict=True):
        counts[place[label], place[prediction]] += 1
    used = counts.sum(0) + counts.sum(1) > 0  # as in scikit-learn: an absent class does not count
    counts = counts[np.ix_(used, used)] if score == "macro_f1" else counts
    compute = CLASSIFICATION_SCORES[score]
    draws = [
        compute(part.reshape(-1, *counts.shape).astype(np.float64))
        for part in _resampled_counts(counts.ravel(), seed)
    ]
    value = float(compute(counts.astype(np.float64)))
    return _percentile_interval(value, np.concatenate(draws), len(labels))


def f1_difference(
    labels: ClassIndices, ones: ClassIndices, others: ClassIndices, seed: int
) -> Interval:
    """The mean F1 of models `ones` minus that of `others`, over documents.

    Labels (N,), predictions (S, N) of S models of either kind. All models predict the same
    resample, so what makes a document hard for both drops out of the difference. F1 is the same
    one for both kinds; see `scored_classes`.
    """
    answers = np.vstack([labels[None], ones, others])
    kinds, counts = np.unique(answers, axis=1, return_counts=True)  # documents that are alike
    split = 1 + len(ones)

    classes = scored_classes(answers)

    def gap(drawn: NDArray[np.int64]) -> Floats:
        first = _mean_f1(drawn, kinds[0], kinds[1:split], classes)
        return first - _mean_f1(drawn, kinds[0], kinds[split:], classes)

    draws = np.concatenate([gap(part) for part in _resampled_counts(counts, seed)])
    return _percentile_interval(float(gap(counts[None])[0]), draws, len(labels))


def scored_classes(answers: ClassIndices) -> list[int]:
    """The classes whose F1 counts: class 1 if there is no third class, else all that occur.

    `answers` holds the labels and the predictions of all models that are compared, so that one
    choice serves all of them.
    """
    named = np.unique(answers)
    return [1] if named.max() < 2 else [int(one) for one in named]


def resampled_means(columns: Floats, seed: int) -> Floats:
    """(DRAWS, k): the means of k columns (n, k) over documents that are drawn again and again.

    All columns see the same draws. Some resamples are drawn at a time, in the same two buffers:
    fresh arrays would cost more, in pages the system must hand out, than the draws.
    """
    rng = np.random.default_rng(seed)
    n, k = columns.shape
    rows = max(1, CACHED_DRAWS // n)
    drawn = np.empty((rows, n))
    chosen = np.empty(drawn.shape, dtype=np.intp)
    means = np.empty((DRAWS, k))
    for start in range(0, DRAWS, rows):
        rng.random(out=drawn)
        drawn *= n
        np.copyto(chosen, drawn, casting="unsafe")  # rounds down to a document
        part = means[start : start + rows]
        for column in range(k):
            np.ascontiguousarray(columns[:, column]).take(chosen, out=drawn, mode="clip")
            part[:, column] = drawn.mean(axis=1)[: len(part)]
    return means


def _resampled_medians(ordered: Floats, seed: int) -> Floats:
    """Medians of resamples of sorted values, without resampling.

    A resample is n uniform numbers read as places in the sorted values, so its k-th smallest value
    sits at the place of the k-th smallest of n uniform numbers, which is Beta(k, n + 1 - k); and
    the next smaller one below it is that times the largest of k - 1 uniform numbers. Both middle
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


def _resampled_counts(counts: NDArray[np.int64], seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each kind of document is drawn in a resample, some resamples at a time."""
    rng = np.random.default_rng(seed)
    rows = max(1, COUNTS_AT_ONCE // len(counts))
    n = counts.sum()
    for start in range(0, DRAWS, rows):
        yield rng.multinomial(n, counts / n, size=min(rows, DRAWS - start))


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


def _mean_f1(
    counts: NDArray[np.int64],
    labels: ClassIndices,
    predictions: ClassIndices,
    classes: Sequence[int],
) -> Floats:
    """(D,): the mean F1 over models in each draw of counts (D, K) of the kinds of documents."""
    scores = [
        _class_f1(counts, labels == one, predicted == one)
        for one in classes
        for predicted in predictions
    ]
    mean: Floats = np.mean(scores, axis=0)
    return mean


def _class_f1(
    counts: NDArray[np.int64], labelled: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> Floats:
    """The F1 of one class; 0 where a draw has neither such a label nor such a prediction."""
    right = counts @ (labelled & predicted)
    score: Floats = 2 * right / np.maximum(counts @ labelled + counts @ predicted, 1)
    return score
