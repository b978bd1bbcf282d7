"""What does an affine head say when some of the weights are erased? In closed form.

Serrano & Smith 2019: the states stay, the weights of some items are put to zero, the rest is
divided by what is left of the mass, and the head decides again. With v_i = a_i (s_i + b) the
logits of any rest are the sum of its v over the sum of its a, so that every single removal and
every prefix of a removal order come from cumulative sums. Sums run from both ends towards the gap;
nothing is ever subtracted, for 1 - a_i cancels where attention is peaked. With nothing left the
head sees a zero context, which is the bias alone.

How many items must go, in a given order, until the decision changes?

Nothing here asks how the logits came about: closed form and decoding again give the same shapes.
Removing all items counts as a step. What is reported of a document with fewer than two items is
NaN: there is no order in it.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from assay.exact.numerics import Flags, Floats, Indices

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def two_or_more(logits: Floats) -> Floats:
    """One logit z stands for two classes with the logits (0, z)."""
    if logits.shape[-1] > 1:
        return logits
    return np.concatenate([np.zeros_like(logits), logits], axis=-1)


@dataclass(frozen=True)
class AffineErasure:
    """Documents whose logits are bias (C,) + sum of weights (B, T) times items (B, T, C)."""

    weights: Floats  # need not sum to one: only their ratios matter
    items: Floats
    bias: Floats
    method = "exact"

    @classmethod
    def of(
        cls, weights: ArrayLike, items: ArrayLike, bias: ArrayLike, mask: ArrayLike
    ) -> "AffineErasure":
        real = np.asarray(mask, dtype=np.bool_)
        return cls(
            np.where(real, np.asarray(weights, dtype=np.float64), 0.0),
            two_or_more(np.where(real[..., None], np.asarray(items, dtype=np.float64), 0.0)),
            two_or_more(np.asarray(bias, dtype=np.float64)),
        )

    @cached_property
    def present(self) -> Flags:
        """Items that can be erased: without weight there is nothing to take away."""
        there: Flags = self.weights > 0
        return there

    @cached_property
    def votes(self) -> Floats:
        """v (B, T, C): what each item adds to the logits before they are divided by the mass."""
        added: Floats = self.weights[..., None] * (self.items + self.bias)
        return added

    @cached_property
    def intact(self) -> Floats:
        """Logits (B, C) with nothing erased."""
        return self._logits(total(self.votes), total(self.weights))

    @cached_property
    def empty(self) -> Floats:
        """Logits (B, C) with everything erased."""
        return np.broadcast_to(self.bias, self.intact.shape)

    @cached_property
    def gradient(self) -> Floats:
        """d p_c / d a_i (B, T) of the decided class c, each weight free to move by itself."""
        shifted = np.exp(self.intact - self.intact.max(-1, keepdims=True))
        p = shifted / shifted.sum(-1, keepdims=True)
        c = self.intact.argmax(-1)[:, None]
        own = np.take_along_axis(self.items, c[:, None], axis=-1)
        # Not s_c - sum p_k s_k: that cancels where p_c is almost one.
        against: Floats = ((own - self.items) * p[:, None]).sum(-1)
        return np.take_along_axis(p, c, axis=-1) * against

    @cached_property
    def without_each(self) -> Floats:
        """Logits (B, T, C) with item t alone erased; as if intact where t has no weight."""
        left = before(self.votes) + after(self.votes)
        return self._logits(left, before(self.weights) + after(self.weights))

    def without_first(self, order: Indices) -> Floats:
        """Logits (O * B, T, C): at j those with the first j + 1 items of an order erased.

        `order` (O * B, T) holds one or more orders of the same documents, one below the other.
        """
        return self._logits(after(_taken(self.votes, order)), after(_taken(self.weights, order)))

    def with_first(self, order: Indices) -> Floats:
        """Logits (O * B, T, C): at j those with only the first j + 1 items of an order left."""
        kept = running(_taken(self.votes, order))
        return self._logits(kept, running(_taken(self.weights, order)))

    def _logits(self, votes: Floats, mass: Floats) -> Floats:
        """Votes over mass, in place; the bias where no mass is left."""
        nothing = mass <= 0
        mass[nothing] = 1.0
        # A positive divisor cannot change which class is ahead, nor part those that are equal.
        votes /= mass[..., None]
        if nothing.any():
            votes[nothing] = self.bias
        return votes


def running(values: Floats) -> Floats:
    """Axis 1 summed up from left to right; by torch, which is several times quicker at it."""
    sums: Floats = torch.from_numpy(values).cumsum(1).numpy()
    return sums


def total(values: Floats) -> Floats:
    """The whole of axis 1, in that order: zeros from padding cannot change its last bit."""
    return running(values)[:, -1]


def before(values: Floats) -> Floats:
    """Along axis 1 the sum of all that stands before each place, from the left."""
    sums = np.zeros_like(values)
    sums[:, 1:] = running(values[:, :-1])
    return sums


def after(values: Floats) -> Floats:
    """Along axis 1 the sum of all that stands after each place, from the right."""
    return before(np.ascontiguousarray(values[:, ::-1]))[:, ::-1]


def _taken(table: Floats, order: Indices) -> Floats:
    """The items of (B, T, ...) in each document's order: one flat gather."""
    documents, places = table.shape[:2]
    flat = order + (np.arange(len(order)) % documents * places)[:, None]
    rows = table.reshape(documents * places, *table.shape[2:])
    taken: Floats = np.take(rows, flat, axis=0)
    return taken


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
