"""How far might this number be off, had other instances or other seeds been drawn?

95 % intervals: percentile bootstrap over instances for means and medians, Wilson for shares,
Student's t over seeds. The caller leaves out what has no value (and counts it): a NaN is refused.
"""

from collections.abc import Sequence
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
