"""How many items must go, in a given order, until the decision changes?

Nothing here asks how the logits came about: closed form and decoding again give the same shapes.
Removing all items counts as a step. What is reported of a document with fewer than two items is
NaN: there is no order in it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from assay.exact.frontier import Flags, Floats, Indices

FEWEST = 2


class Erasure(Protocol):
    """Logits (..., C >= 2) of documents (B, T) with some of their weights erased."""

    @property
    def method(self) -> str: ...
    @property
    def weights(self) -> Floats: ...
    @property
    def present(self) -> Flags: ...
    @property
    def intact(self) -> Floats: ...
    @property
    def empty(self) -> Floats: ...
    @property
    def gradient(self) -> Floats | None: ...
    @property
    def without_each(self) -> Floats: ...
    def without_first(self, order: Indices) -> Floats: ...
    def with_first(self, order: Indices) -> Floats: ...


@dataclass(frozen=True)
class Flips:
    """Per document (B,): items erased when the decision changed, NaN where it never did."""

    items: Floats
    mass: Floats  # share of the attention that went with them
    never: Floats  # 1 or 0


def decided(logits: Floats) -> Indices:
    """The lowest index among the largest logits."""
    classes: Indices = logits.argmax(-1)
    return classes


def item_counts(erasure: Erasure) -> Indices:
    """(B,): how many items each document has."""
    counts: Indices = erasure.present.sum(1)
    return counts


def removal_order(importance: Floats, present: Flags) -> Indices:
    """(B, T): most important first, equal ones from left to right, items without weight last."""
    return np.argsort(np.where(present, -importance, np.inf), axis=1, kind="stable")


def first_flip(erasure: Erasure, order: Indices, removed: Floats) -> Flips:
    """The first step at which the logits `removed` (B, T, C) decide otherwise."""
    counts = item_counts(erasure)
    step = np.arange(order.shape[1])
    changed = decided(removed) != decided(erasure.intact)[:, None]
    changed &= step < counts[:, None]
    first = changed.argmax(1)
    ever = changed[np.arange(len(first)), first]
    mass = np.cumsum(np.take_along_axis(erasure.weights, order, axis=1), axis=1)
    share = mass[np.arange(len(first)), first] / np.maximum(mass[:, -1], np.finfo(np.float64).tiny)
    several = counts >= FEWEST
    return Flips(
        np.where(ever & several, first + 1.0, np.nan),
        np.where(ever & several, share, np.nan),
        np.where(several, (~ever).astype(np.float64), np.nan),
    )
