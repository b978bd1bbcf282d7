"""Small documents with random attention and logits; rounded ones have many ties."""

import itertools
import math

import numpy as np
from scipy.special import expit, logit


def random_case(rng, documents, items, classes=1, ties=False, peak=1.5, scale=2.0):
    """weights (B, T), items (B, T, C), bias (C,), mask (B, T); lengths from 1 to T."""
    lengths = rng.integers(1, items + 1, documents)
    lengths[0] = items
    mask = np.arange(items) < lengths[:, None]
    scores = rng.normal(size=mask.shape) * peak
    terms = rng.normal(size=(*mask.shape, classes)) * scale
    bias = rng.normal(size=classes)
    if ties:
        scores, terms, bias = np.round(scores), np.round(terms), np.round(bias)
    weights = np.exp(scores) * mask
    return weights / weights.sum(1, keepdims=True), terms, bias, mask


def plain_jsd(p, q):
    """The textbook definition, one outcome at a time."""
    total = 0.0
    for x, y in zip(p, q, strict=True):
        mean = (x + y) / 2
        total += (x * math.log(x / mean) if x else 0) / 2
        total += (y * math.log(y / mean) if y else 0) / 2
    return total


def vertices(values, low, high):
    """All vertices of the simplex cut by low <= sum weight * value <= high."""
    size = len(values)
    for t in range(size):
        if low - 1e-12 <= values[t] <= high + 1e-12:
            yield np.eye(size)[t]
    for i, j in itertools.combinations(range(size), 2):
        for bound in (low, high):
            if math.isinf(bound) or values[i] == values[j]:
                continue
            shares = np.linalg.solve([[1, 1], [values[i], values[j]]], [1, bound])
            if (shares >= 0).all():
                point = np.zeros(size)
                point[[i, j]] = shares
                yield point


def plain_optimum(weights, values, prediction, eps):
    """The largest JSD over all vertices."""
    low = logit(prediction - eps) if prediction - eps > 0 else -math.inf
    high = logit(prediction + eps) if prediction + eps < 1 else math.inf
    return max((plain_jsd(v, weights) for v in vertices(values, low, high)), default=0.0)


def prediction(weights, terms, bias):
    """The probability of the second class."""
    return expit(bias[0] + (weights[..., None] * terms).sum(-2)[..., 0])


def simplex_grid(items, steps):
    """All weights over `items` that are multiples of 1 / steps."""
    counts = [c for c in itertools.product(range(steps + 1), repeat=items - 1) if sum(c) <= steps]
    grid = np.array([(*c, steps - sum(c)) for c in counts])
    return grid / steps
