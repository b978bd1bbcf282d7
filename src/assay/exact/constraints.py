"""What is asked about a chunk of documents with several classes?

Which logits keep a prediction over several classes within eps?

TVD <= eps is a ball in the probabilities. It is no convex set in the logits, so it is known here
from outside (each difference of two logits lies between two bounds, which the ball touches) and
from within (points of its surface).
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
    """Weights, what each item says, and the bounds on the prediction."""

    weights: Floats  # (B, T)
    values: Floats  # (B, T, C): each item's logits with the bias in them
    mask: Flags  # (B, T)
    original: Floats  # (B, C) probabilities
    eps: Floats  # (B, E)

    def rows(self, rows: slice | Indices) -> "ConstrainedDocuments":
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

    def classes(self, chosen: Indices) -> "ConstrainedDocuments":
        """Only the chosen classes (B, n); their probabilities need not sum to one then."""
        return ConstrainedDocuments(
            self.weights,
            np.take_along_axis(self.values, chosen[:, None], axis=2),
            self.mask,
            np.take_along_axis(self.original, chosen, axis=1),
            self.eps,
        )

    def _map(self, change: Callable[[AnyArray], AnyArray]) -> "ConstrainedDocuments":
        parts = (self.weights, self.values, self.mask, self.original, self.eps)
        return ConstrainedDocuments(*(change(part) for part in parts))


SURFACE_STEPS = 4  # points on each side of the three-class ball, which is a hexagon


def probabilities(logits: Floats) -> Floats:
    odds: Floats = np.exp(logits - logits.max(axis=-1, keepdims=True))
    odds /= odds.sum(axis=-1, keepdims=True)
    return odds


def moved(logits: Floats, original: Floats) -> Floats:
    """TVD of the prediction these logits make from the original probabilities."""
    shift: Floats = np.abs(probabilities(logits) - original).sum(axis=-1) / 2
    return shift


def weighted_logits(proposals: Floats, values: Floats) -> Floats:
    """(B, ..., T) weights times (B, T, C), added in the items' order."""
    spread = values.transpose(0, 2, 1)
    for _ in range(proposals.ndim - 2):
        spread = spread[:, None]
    return ordered_sum(proposals[..., None, :] * spread)


def class_pairs(classes: int) -> tuple[Indices, Indices]:
    lower, upper = np.triu_indices(classes, 1)
    return lower.astype(np.int64), upper.astype(np.int64)


def difference_bounds(original: Floats, eps: Floats) -> tuple[Floats, Floats]:
    """Bounds (B, E, pairs) on logit k less logit j for each class pair, eps (B, E).

    Infinite where there is none.
    """
    k, j = class_pairs(original.shape[-1])
    reach = eps[..., None]
    p, q = original[:, None, k], original[:, None, j]
    return -log_odds(q + reach, p - reach, 0.0), log_odds(p + reach, q - reach, 0.0)


def surface(original: Floats, eps: Floats) -> Floats:
    """Logit vectors (B, E, points, 3) on the ball of three classes; NaN where it has no such point.

    On a side of the hexagon one class takes all of eps from the two others, or gives it to them.
    """
    part = np.arange(SURFACE_STEPS) / SURFACE_STEPS
    shifts = []
    for one in range(3):
        for turn in (1, 2):
            # Both turns together walk each side from both ends, so no end is left out.
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
