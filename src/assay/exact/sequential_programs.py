"""Feasible weights by sequential linear programs: a better lower end of the bracket.

The divergence is convex, so it is nowhere below its tangent. Weights that maximize the tangent at
the current weights are therefore at least as far from the original, and they solve a linear program
over the convex hull of the ball (see `linear_programs`). The hull contains weights that change the
prediction a little too much. The next program uses a bound that is smaller by that factor, and each
solution is moved toward the original weights until it is feasible.
"""

from dataclasses import replace

import numpy as np

from assay.exact.constraints import ConstrainedDocuments, prediction_shift, weighted_logits
from assay.exact.linear_programs import maximize, programs
from assay.exact.numerics import SMALLEST, Floats, dense_jsd

STEPS = 4
FLOOR = 0.01  # a smaller weight has the tangent of this one; that at zero is vertical
HALVINGS = 20  # of the way to the original weights
SMALLEST_FACTOR, LARGEST_FACTOR = 0.3, 1.5  # of the bound, from one program to the next


def sequential_best(
    documents: ConstrainedDocuments, start: Floats, low: Floats, high: Floats
) -> Floats:
    """The best feasible weights (N, T) met on the way from a start that need not be feasible.

    The documents have one bound each; all feasible weights are between `low` and `high` (N, T).
    """
    original, eps = documents.weights, documents.eps
    best = toward_original(documents, start)
    distance = dense_jsd(best, original)
    current, bound = start, eps
    for _ in range(STEPS):
        tangent = np.log1p(original / np.maximum(current, FLOOR)) / 2
        program = programs(replace(documents, eps=bound), low, high)
        current = maximize(program, -tangent, original).weights
        feasible = toward_original(documents, current)
        found = dense_jsd(feasible, original)
        best = np.where((found > distance)[:, None], feasible, best)
        distance = np.maximum(found, distance)
        factor = eps / np.maximum(_shift(documents, current)[:, None], SMALLEST)
        bound = np.minimum(bound * np.clip(factor, SMALLEST_FACTOR, LARGEST_FACTOR), eps)
    return best


def toward_original(documents: ConstrainedDocuments, weights: Floats) -> Floats:
    """The furthest feasible weights (N, T) found by bisection between these and the original."""
    way = weights - documents.weights
    outside = np.ones((len(weights), 1))
    inside = np.zeros_like(outside)
    for halving in range(HALVINGS):
        # The first trial is the whole way.
        middle = (inside + outside) / 2 if halving else outside
        feasible = _shift(documents, documents.weights + middle * way)[:, None] <= documents.eps
        inside = np.where(feasible, middle, inside)
        outside = np.where(feasible, outside, middle)
    return documents.weights + inside * way


def _shift(documents: ConstrainedDocuments, weights: Floats) -> Floats:
    return prediction_shift(weighted_logits(weights, documents.values), documents.original)
