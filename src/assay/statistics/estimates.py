"""Estimates that can be tested against a threshold: means, ratios of means and F1 differences.

Every estimate is the mean of a table of documents by models (one column for a single model). A
ratio of means enters by its linearization, F1 by the influence of each document, a statistic of
pairs of models by the jackknife's pseudo-values of each model. `two_way` gives the variance.

A small sample may have no variance at all: 30 equal documents do not show that all are equal. An
estimate whose values lie in known bounds therefore allows for documents at the far bound that the
sample missed by chance. If a share 1 - q of all documents lay there, n documents would miss them
with probability q^n; no p-value is smaller and no interval is narrower than this permits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from assay.statistics.two_way import (
    Floats,
    MeanSquares,
    Variance,
    half_width,
    mean_squares,
    rescaled,
    variance,
)

ClassIndices = NDArray[np.int64]
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
LEVEL = 0.95
SMALLEST_P = 1e-100


@dataclass(frozen=True)
class Estimate:
    """A mean over documents and models, with its mean squares and the bounds of its values."""

    value: float
    n: int  # documents
    models: int | None  # None if only one model enters
    squares: MeanSquares
    bounds: Bounds = UNBOUNDED

    @property
    def _columns(self) -> int:
        return self.models or 1

    @property
    def variance(self) -> Variance:
        return variance(self.squares, self.n, self._columns)

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance.total) if self.n > 1 else math.nan

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom."""
        return float(self.variance.df) if self.n > 1 else math.nan

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """The bounds of the interval; NaN for a single document.

        The interval ends at the bounds of the values, except on a side where the estimate itself
        lies beyond them: a ratio may be far below -1 where the mean below it is small.
        """
        if self.n < 2:
            return math.nan, math.nan
        half = float(half_width(self.variance, self.n, self._columns, level))
        low, high = self.value - half, self.value + half
        least, most = self.bounds
        if math.isinf(least) or math.isinf(most):
            return low, high
        missed = ((1 - level) / 2) ** (1 / self.n)  # the share q that n documents may come from
        low = min(low, least + max(self.value - least, 0) * missed)
        high = max(high, most - max(most - self.value, 0) * missed)
        low = low if self.value < least else max(low, least)
        high = high if self.value > most else min(high, most)
        return low, high

    def p_above(self, threshold: float) -> float:
        """The one-sided p-value against "the true value is at most the threshold"."""
        return self._p(self.value - threshold, self.value - self.bounds[0])

    def p_below(self, threshold: float) -> float:
        """The one-sided p-value against "the true value is at least the threshold"."""
        return self._p(threshold - self.value, self.bounds[1] - self.value)

    def _p(self, gap: float, room: float) -> float:
        """Of a distance `gap` beyond the threshold; `room` is the distance to the far bound."""
        if self.n < 2:
            return 1.0
        error = self.error
        if gap <= 0:
            return 0.5 if gap == 0 or error == 0 else float(stdtr(self.df, -gap / error))
        p = max(SMALLEST_P, self._separate_p(gap))
        if error > 0:
            p = max(p, float(stdtr(self.df, -gap / error)))
        if math.isfinite(room):
            p = max(p, max(1 - gap / room, 0) ** self.n)
        return p

    def _separate_p(self, gap: float) -> float:
        """The p-value at which the interval from separate parts just reaches the threshold."""
        parts, models = self.variance, max(1, self._columns - 1)
        if parts.models == 0:
            error = math.sqrt(parts.documents)
            return float(stdtr(self.n - 1, -gap / error)) if error > 0 else SMALLEST_P

        def reach(log_p: float) -> float:
            p = math.exp(log_p)
            documents = stdtrit(self.n - 1, p) ** 2 * parts.documents
            return float(documents + stdtrit(models, p) ** 2 * parts.models) - gap**2

        least = math.log(SMALLEST_P)
        if reach(least) <= 0:
            return SMALLEST_P
        from scipy.optimize import brentq  # imported here: it is slow to load

        return math.exp(brentq(reach, least, math.log(0.5)))

    def with_size(self, n: int, models: int | None) -> "Estimate":
        """The estimate to expect from another number of documents and models."""
        new = rescaled(self.squares, self.n, self._columns, n, models or 1)
        return Estimate(self.value, n, models, new, self.bounds)


def mean_estimate(values: Floats, bounds: Bounds = UNBOUNDED) -> Estimate:
    """The mean of values (N,) over documents, or (N, S) over documents and models."""
    table = values[:, None] if values.ndim == 1 else values
    if np.isnan(table).any():
        raise ValueError("an estimate needs values without NaN: leave such documents out first")
    models = table.shape[1] if values.ndim == 2 else None
    if len(table) < 2:
        value = float(table.mean()) if table.size else math.nan
        return Estimate(value, len(table), models, MeanSquares(*np.zeros((3,))), bounds)
    return Estimate(float(table.mean()), len(table), models, mean_squares(table), bounds)


def ratio_estimate(above: Floats, below: Floats, bounds: Bounds = UNBOUNDED) -> Estimate:
    """The ratio of two means, (N,) or (N, S) each; the mean below must not be zero."""
    bottom = float(below.mean())
    ratio = float(above.mean()) / bottom
    return mean_estimate(ratio + (above - ratio * below) / bottom, bounds)


def f1_influence(labels: ClassIndices, predictions: ClassIndices, classes: Sequence[int]) -> Floats:
    """(N, S): the mean over documents of column s is the F1 of model s; predictions are (S, N).

    F1 is the mean over `classes`; `intervals.scored_classes` chooses them once for all models. The
    F1 of a class is the ratio of twice its hits to its labels plus its predictions.
    """
    table = np.zeros(predictions.shape)
    for one in classes:
        labelled, predicted = labels == one, predictions == one
        twice = 2.0 * (labelled & predicted)
        named = labelled + predicted.astype(np.float64)
        mean = named.mean(1, keepdims=True)
        score = np.divide(twice.mean(1, keepdims=True), mean, where=mean > 0, out=0 * mean)
        apart = np.divide(twice - score * named, mean, where=mean > 0, out=0 * named)
        table += (score + apart) / len(classes)
    return table.T


def pair_values(table: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """(N, S): pseudo-values of S models from values (N, P) of all pairs of them.

    The pseudo-value of a model is S times the mean over all pairs minus S - 1 times the mean over
    the pairs without it. Pairs share models, so they are no independent units; models are.
    """
    names = sorted({model for pair in pairs for model in pair})
    count = len(names)
    if len(pairs) != count * (count - 1) // 2:
        raise ValueError(f"{len(pairs)} pairs of {count} models: each pair is needed once")
    whole = table.mean(1)
    if count < 3:
        return table
    without = [[model not in pair for pair in pairs] for model in names]
    rest = np.stack([table[:, np.array(chosen)].mean(1) for chosen in without], axis=1)
    return np.asarray(count * whole[:, None] - (count - 1) * rest)
