"""The variance of a mean over documents and models, and half-widths of its interval.

A claim about several models has two sampling units: other documents and other trainings could have
been drawn. `table[i, s]` is the value of document i under model s. Its mean squares over documents,
models and the residual give the variance of the grand mean.

With three models, the model part of the variance has two degrees of freedom, and two classical
intervals fail in opposite cases. Satterthwaite's degrees of freedom are too optimistic where the
models differ clearly; the sum of separate Student intervals (Banerjee 1960), where documents hardly
differ. The wider of the two covers in both cases: tests/statistics/test_coverage.py simulates it.
All functions work on the last two axes, so that thousands of tables can be treated at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]


class MeanSquares(NamedTuple):
    """Mean squares of tables of documents by models; only `documents` for a single model."""

    documents: Floats
    models: Floats
    residual: Floats


class Variance(NamedTuple):
    """The variance of a grand mean: its two parts, its sum and Satterthwaite's df."""

    documents: Floats
    models: Floats
    total: Floats
    df: Floats


def mean_squares(table: Floats) -> MeanSquares:
    """The mean squares of tables (..., N, S) with at least two documents."""
    n, models = table.shape[-2:]
    grand = table.mean((-2, -1))
    by_document = table.mean(-1) - grand[..., None]
    by_model = table.mean(-2) - grand[..., None]
    documents = models * (by_document**2).sum(-1)
    if models == 1:
        zero = np.zeros_like(grand)
        return MeanSquares(documents / (n - 1), zero, zero)
    between = n * (by_model**2).sum(-1)
    whole = ((table - grand[..., None, None]) ** 2).sum((-2, -1))
    residual = np.maximum(whole - documents - between, 0)  # rounding may make it negative
    return MeanSquares(
        documents / (n - 1), between / (models - 1), residual / ((n - 1) * (models - 1))
    )


def variance(squares: MeanSquares, n: int, models: int) -> Variance:
    """The variance of the grand mean of n documents and some models, never below the residual."""
    share = 1 / (n * models)
    documents = np.maximum(squares.documents, squares.residual) * share
    between = np.maximum(squares.models - squares.residual, 0) * share
    total = documents + between
    dfs = (n - 1, max(1, models - 1), max(1, (n - 1) * (models - 1)))
    uncertainty = np.zeros_like(total)
    for square, df in zip(squares, dfs, strict=True):
        uncertainty = uncertainty + (share * square) ** 2 / df
    fitted = np.divide(total**2, uncertainty, out=np.full_like(total, n - 1), where=total > 0)
    return Variance(documents, between, total, np.clip(fitted, dfs[1], n * models - 1))


def half_width(parts: Variance, n: int, models: int, level: float) -> Floats:
    """Half of the interval's width: the wider of Satterthwaite's and the separate parts'."""
    tail = (1 - level) / 2
    satterthwaite = -stdtrit(parts.df, tail) * np.sqrt(parts.total)
    separate = stdtrit(n - 1, tail) ** 2 * parts.documents
    if models > 1:
        separate = separate + stdtrit(models - 1, tail) ** 2 * parts.models
    return np.maximum(satterthwaite, np.sqrt(separate))


def rescaled(squares: MeanSquares, n: int, models: int, new_n: int, new_models: int) -> MeanSquares:
    """The mean squares to expect from another number of documents and models."""
    of_documents = np.maximum(squares.documents - squares.residual, 0) / models
    of_models = np.maximum(squares.models - squares.residual, 0) / n
    return MeanSquares(
        new_models * of_documents + squares.residual,
        new_n * of_models + squares.residual,
        squares.residual,
    )
