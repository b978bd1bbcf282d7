"""How many items must go, in a given order, until the decision changes?

Nothing here asks how the logits came about: closed form and decoding again give the same shapes.
Removing all items counts as a step. What is reported of a document with fewer than two items is
NaN: there is no order in it.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.exact.erasure import running
from assay.exact.frontier import Flags, Floats, Indices

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Number = TypeVar("Number", bound=np.generic)
Record = TypeVar("Record", bound="DataclassInstance")
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
    """Per document, or per order and document: items erased when the decision changed, or NaN."""

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
    """Most important first, equal ones from left to right, items without weight last.

    `importance` (O * B, T) may hold several measures of the same documents (B, T).
    """
    rows = np.where(several(present, importance), -importance, np.inf)
    return np.argsort(rows, axis=1, kind="stable")


def several(values: NDArray[Number], like: NDArray[Any]) -> NDArray[Number]:
    """What is known per document, (B, ...), once for each of the orders in `like`, (O * B, ...)."""
    orders = len(like) // max(1, len(values))
    return values if orders == 1 else np.concatenate([values] * orders)


def by_order(found: Record, orders: int) -> list[Record]:
    """A record of arrays (O * B,) as one record of (B,) for each order."""
    columns = [np.split(values, orders) for values in vars(found).values()]
    return [replace(found, **dict(zip(vars(found), part, strict=True)))
            for part in zip(*columns, strict=True)]  # fmt: skip


def first_flip(erasure: Erasure, order: Indices, removed: Floats) -> Flips:
    """The first step at which the logits `removed` (O * B, T, C) decide otherwise."""
    counts, c = item_counts(erasure), decided(erasure.intact)
    changed = decided(removed) != several(c, order)[:, None]
    counts = several(counts, order)
    changed &= np.arange(order.shape[1]) < counts[:, None]
    first = changed.argmax(1)
    rows = np.arange(len(first))
    asked, ever = counts >= FEWEST, changed[rows, first]
    mass = running(np.take_along_axis(several(erasure.weights, order), order, axis=1))
    share = mass[rows, first] / np.maximum(mass[:, -1], np.finfo(np.float64).tiny)
    return Flips(
        np.where(ever & asked, first + 1.0, np.nan),
        np.where(ever & asked, share, np.nan),
        np.where(asked, (~ever).astype(np.float64), np.nan),
    )
