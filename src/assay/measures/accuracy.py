"""How good is a model on test, and how sure is that, had other documents been drawn?

A resample of documents is a draw of their (label, prediction) pairs, so the table of counts
is drawn directly from its multinomial distribution and every score computed from the counts.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.measures.intervals import DRAWS, TAILS, Interval

Counts = NDArray[np.float64]  # (..., C, C): label by prediction


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
    compute = SCORES[score]
    n = len(labels)
    drawn = np.random.default_rng(seed).multinomial(n, counts.ravel() / n, size=DRAWS)
    resampled = drawn.reshape(DRAWS, *counts.shape).astype(np.float64)
    low, high = np.quantile(compute(resampled), TAILS)
    return Interval(float(compute(counts)), float(low), float(high), n)


def _accuracy(counts: Counts) -> Counts:
    right: Counts = np.trace(counts, axis1=-2, axis2=-1) / counts.sum((-2, -1))
    return right


def _f1_per_class(counts: Counts) -> Counts:
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    named = counts.sum(-2) + counts.sum(-1)
    f1: Counts = 2 * right / np.maximum(named, 1)  # 0 where a resample lacks the class
    return f1


def _f1(counts: Counts) -> Counts:
    second: Counts = _f1_per_class(counts)[..., 1]
    return second


def _macro_f1(counts: Counts) -> Counts:
    mean: Counts = _f1_per_class(counts).mean(-1)
    return mean


SCORES: dict[str, Callable[[Counts], Counts]] = {
    "accuracy": _accuracy,
    "macro_f1": _macro_f1,
    "f1": _f1,
}
