"""What is asked about a chunk of documents with several classes?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.exact.frontier import Flags, Floats, Indices

AnyArray = NDArray[Any]


@dataclass(frozen=True)
class Documents:
    """Weights, what each item says, and the bounds on the prediction."""

    weights: Floats  # (B, T)
    values: Floats  # (B, T, C): each item's logits with the bias in them
    mask: Flags  # (B, T)
    original: Floats  # (B, C) probabilities
    eps: Floats  # (B, E)

    def rows(self, rows: slice | Indices) -> "Documents":
        return self._map(lambda part: part[rows])

    def under_each_bound(self) -> "Documents":
        """B · E documents with one bound each."""
        repeated = self._map(lambda part: np.repeat(part, self.eps.shape[1], axis=0))
        return Documents(
            repeated.weights,
            repeated.values,
            repeated.mask,
            repeated.original,
            self.eps.reshape(-1, 1),
        )

    def items(self, chosen: Indices) -> "Documents":
        """Only the chosen items (B, P), in that order."""
        return Documents(
            np.take_along_axis(self.weights, chosen, axis=1),
            np.take_along_axis(self.values, chosen[..., None], axis=1),
            np.take_along_axis(self.mask, chosen, axis=1),
            self.original,
            self.eps,
        )

    def classes(self, chosen: Indices) -> "Documents":
        """Only the chosen classes (B, n); their probabilities need not sum to one then."""
        return Documents(
            self.weights,
            np.take_along_axis(self.values, chosen[:, None], axis=2),
            self.mask,
            np.take_along_axis(self.original, chosen, axis=1),
            self.eps,
        )

    def _map(self, change: Callable[[AnyArray], AnyArray]) -> "Documents":
        parts = (self.weights, self.values, self.mask, self.original, self.eps)
        return Documents(*(change(part) for part in parts))
