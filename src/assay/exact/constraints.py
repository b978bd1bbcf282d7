"""Documents with bounds on a prediction over several classes, and the geometry of the bounds.

The predictions with TVD <= eps from the original form the *ball*. It is convex in the
probabilities but not in the logits. It is therefore described from outside, by bounds on the
difference of each two logits that the ball touches, and from inside, by points of its surface.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.exact.numerics import Flags, Floats, Indices, ordered_sum
from assay.exact.slab import log_odds

AnyArray = NDArray[Any]


@dataclass(frozen=True)
class ConstrainedDocuments:
    """A chunk of documents: weights, logits of the items, and bounds on the prediction."""

    weights: Floats  # (B, T)
    values: Floats  # (B, T, C): the logits of each item, including the bias
    mask: Flags  # (B, T)
    original: Floats  # (B, C): the original probabilities
    eps: Floats  # (B, E): bounds on the TVD

    def rows(self, rows: slice | Indices) -> "ConstrainedDocuments":
        """Only these documents."""
        return self._map(lambda part: part[rows])

    def under_each_bound(self) -> "ConstrainedDocuments":
        """B · E documents with one bound each."""
        repeated = self._map(lambda part: np.repeat(part, self.eps.shape[1], axis=0))
        return ConstrainedDocuments(
            repeated.weights,
            repeated.values,
            repeated.mask,
            repeated.original,
            self.eps.reshape(-1, 1),
        )

    def items(self, chosen: Indices) -> "ConstrainedDocuments":
        """Only the chosen items (B, P), in that order."""
        return ConstrainedDocuments(
            np.take_along_axis(self.weights, chosen, axis=1),
            np.take_along_axis(self.values, chosen[..., None], axis=1),
            np.take_along_axis(self.mask, chosen, axis=1),
            self.original,
            self.eps,
        )

    def _map(self, change: Callable[[AnyArray], AnyArray]) -> "ConstrainedDocuments":
        parts = (self.weights, self.values, self.mask, self.original, self.eps)
        return ConstrainedDocuments(*(change(part) for part in parts))


SURFACE_STEPS = 4  # points on each side of the ball of three classes, which is a hexagon


def probabilities(logits: Floats) -> Floats:
    """The softmax over the last axis."""
    odds: Floats = np.exp(logits - logits.max(axis=-1, keepdims=True))
    odds /= odds.sum(axis=-1, keepdims=True)
    return odds


def prediction_shift(logits: Floats, original: Floats) -> Floats:
    """The TVD between the prediction of these logits and the original probabilities."""
    shift: Floats = np.abs(probabilities(logits) - original).sum(axis=-1) / 2
    return shift


def weighted_logits(proposals: Floats, values: Floats) -> Floats:
    """The logits under weights (B, ..., T) of items (B, T, C), added in the order of the items."""
    spread = values.transpose(0, 2, 1)
    for _ in range(proposals.ndim - 2):
        spread = spread[:, None]
    return ordered_sum(proposals[..., None, :] * spread)


def class_pairs(classes: int) -> tuple[Indices, Indices]:
    """All pairs k < j of classes, as two index vectors."""
    lower, upper = np.triu_indices(classes, 1)
    return lower.astype(np.int64), upper.astype(np.int64)


def difference_bounds(original: Floats, eps: Floats) -> tuple[Floats, Floats]:
    """Bounds (B, E, pairs) on logit k minus logit j for each pair of classes, for eps (B, E).

    Infinite where there is none.
    """
    k, j = class_pairs(original.shape[-1])
    reach = eps[..., None]
    p, q = original[:, None, k], original[:, None, j]
    return -log_odds(q + reach, p - reach, 0.0), log_odds(p + reach, q - reach, 0.0)


def ball_surface(original: Floats, eps: Floats) -> Floats:
    """Logits (B, E, points, 3) on the surface of the ball of three classes; NaN for missing points.

    On a side of the hexagon one class takes all of eps from the two others, or gives it to them.
    """
    part = np.arange(SURFACE_STEPS) / SURFACE_STEPS
    shifts = []
    for one in range(3):
        for turn in (1, 2):
            # The two turns walk each side from both ends, so both ends are included.
            side = np.zeros((2, SURFACE_STEPS, 3))
            side[:, :, one] = 1
            side[:, :, (one + turn) % 3] = -part
            side[:, :, (one - turn) % 3] = part - 1
            side[1] *= -1
            shifts.append(side.reshape(-1, 3))
    around = np.unique(np.concatenate(shifts), axis=0)
    points = original[:, None, None] + eps[..., None, None] * around
    possible = (points > 0).all(axis=-1, keepdims=True)
    return np.where(possible, np.log(np.where(possible, points, 1.0)), np.nan)
