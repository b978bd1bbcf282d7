"""Logits after erasing attention weights, and when the decision changes.

Serrano & Smith 2019: the states stay, the weights of some items are set to zero, the rest is
renormalized, and the head decides again. For an affine head there is a closed form. With
v_i = a_i (s_i + b) the logits of any remaining items are the sum of their v over the sum of their
a, so every single erasure and every prefix of a removal order follow from cumulative sums. The
sums run from both ends towards the gap. Nothing is subtracted, because 1 - a_i cancels where
attention is peaked. With no item left the head sees a zero context, so the logits are the bias.

`first_flip` does not depend on how the logits were computed: the closed form and decoding again
give arrays of the same shapes (`Erasure`). Removing all items counts as a
step. The results of a document with fewer than two items are NaN, because it has no order.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from assay.exact.numerics import Flags, Floats, Indices
from assay.statistics.ranking import descending_order

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Number = TypeVar("Number", bound=np.generic)
Record = TypeVar("Record", bound="DataclassInstance")
MIN_ITEMS = 2  # items: a document with fewer has no order


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
        """Documents with zeros on padding and logits for at least two classes."""
        real = np.asarray(mask, dtype=np.bool_)
        return cls(
            np.where(real, np.asarray(weights, dtype=np.float64), 0.0),
            at_least_two_logits(
                np.where(real[..., None], np.asarray(items, dtype=np.float64), 0.0)
            ),
            at_least_two_logits(np.asarray(bias, dtype=np.float64)),
        )

    @cached_property
    def present(self) -> Flags:
        """The items that can be erased: those with weight."""
        positive: Flags = self.weights > 0
        return positive

    @cached_property
    def votes(self) -> Floats:
        """v (B, T, C): what each item adds to the logits before the division by the mass."""
        added: Floats = self.weights[..., None] * (self.items + self.bias)
        return added

    @cached_property
    def intact(self) -> Floats:
        """Logits (B, C) with nothing erased."""
        return self._logits(total_sum(self.votes), total_sum(self.weights))

    @cached_property
    def empty(self) -> Floats:
        """Logits (B, C) with everything erased."""
        return np.broadcast_to(self.bias, self.intact.shape)

    @cached_property
    def gradient(self) -> Floats:
        """d p_c / d a_i (B, T) of the decided class c, with each weight independent."""
        shifted = np.exp(self.intact - self.intact.max(-1, keepdims=True))
        p = shifted / shifted.sum(-1, keepdims=True)
        c = self.intact.argmax(-1)[:, None]
        own = np.take_along_axis(self.items, c[:, None], axis=-1)
        # Not s_c - sum p_k s_k: that cancels where p_c is almost one.
        against: Floats = ((own - self.items) * p[:, None]).sum(-1)
        return np.take_along_axis(p, c, axis=-1) * against

    @cached_property
    def without_each(self) -> Floats:
        """Logits (B, T, C) with only item t erased; the intact ones where t has no weight."""
        left = sum_before(self.votes) + sum_after(self.votes)
        return self._logits(left, sum_before(self.weights) + sum_after(self.weights))

    def without_first(self, order: Indices) -> Floats:
        """Logits (O * B, T, C) at j: with the first j + 1 items of an order erased.

        `order` (O * B, T) holds one or more orders of the same documents, stacked.
        """
        return self._logits(
            sum_after(_take(self.votes, order)), sum_after(_take(self.weights, order))
        )

    def with_first(self, order: Indices) -> Floats:
        """Logits (O * B, T, C) at j: with only the first j + 1 items of an order left."""
        kept = cumulative_sum(_take(self.votes, order))
        return self._logits(kept, cumulative_sum(_take(self.weights, order)))

    def _logits(self, votes: Floats, mass: Floats) -> Floats:
        """Votes divided by mass, in place; the bias where no mass is left."""
        nothing = mass <= 0
        mass[nothing] = 1.0
        # A positive divisor changes neither the order of the classes nor their ties.
        votes /= mass[..., None]
        if nothing.any():
            votes[nothing] = self.bias
        return votes


def at_least_two_logits(logits: Floats) -> Floats:
    """Logits of at least two classes: one logit z stands for the logits (0, z)."""
    if logits.shape[-1] > 1:
        return logits
    return np.concatenate([np.zeros_like(logits), logits], axis=-1)


def decided_classes(logits: Floats) -> Indices:
    """The lowest index among the largest logits."""
    classes: Indices = logits.argmax(-1)
    return classes


def item_counts(erasure: Erasure) -> Indices:
    """The number of items of each document, (B,)."""
    counts: Indices = erasure.present.sum(1)
    return counts


@dataclass(frozen=True)
class Flips:
    """Per document, or per order and document: items erased when the decision changed, or NaN."""

    items: Floats
    mass: Floats  # share of the attention erased with them
    never: Floats  # 1 if the decision never changes, else 0


def removal_order(importance: Floats, present: Flags, lots: Floats) -> Indices:
    """Most important items first, ties by the random numbers `lots`, items without weight last.

    `importance` (O * B, T) may hold several measures of the same documents (B, T).
    """
    return descending_order(importance, present, lots)


def first_flip(erasure: Erasure, order: Indices, removed: Floats) -> Flips:
    """The first step at which the logits `removed` (O * B, T, C) give another decision."""
    counts, c = item_counts(erasure), decided_classes(erasure.intact)
    changed = decided_classes(removed) != repeat_per_order(c, order)[:, None]
    counts = repeat_per_order(counts, order)
    changed &= np.arange(order.shape[1]) < counts[:, None]
    first = changed.argmax(1)
    rows = np.arange(len(first))
    defined, flips = counts >= MIN_ITEMS, changed[rows, first]
    mass = cumulative_sum(
        np.take_along_axis(repeat_per_order(erasure.weights, order), order, axis=1)
    )
    share = mass[rows, first] / np.maximum(mass[:, -1], np.finfo(np.float64).tiny)
    return Flips(
        np.where(flips & defined, first + 1.0, np.nan),
        np.where(flips & defined, share, np.nan),
        np.where(defined, (~flips).astype(np.float64), np.nan),
    )


def repeat_per_order(values: NDArray[Number], like: NDArray[Any]) -> NDArray[Number]:
    """Values per document, (B, ...), repeated for each of the orders in `like`, (O * B, ...)."""
    orders = len(like) // max(1, len(values))
    return values if orders == 1 else np.concatenate([values] * orders)


def split_by_order(found: Record, orders: int) -> list[Record]:
    """A record of arrays (O * B,) as one record of arrays (B,) per order."""
    columns = [np.split(values, orders) for values in vars(found).values()]
    return [
        replace(found, **dict(zip(vars(found), part, strict=True)))
        for part in zip(*columns, strict=True)
    ]


def cumulative_sum(values: Floats) -> Floats:
    """Cumulative sums along axis 1, by torch, which is several times faster than numpy here."""
    sums: Floats = torch.from_numpy(values).cumsum(1).numpy()
    return sums


def total_sum(values: Floats) -> Floats:
    """The sum over axis 1 from first to last; zeros of padding cannot change any bit."""
    return cumulative_sum(values)[:, -1]


def sum_before(values: Floats) -> Floats:
    """The sum of everything before each place along axis 1, from the left."""
    sums = np.zeros_like(values)
    sums[:, 1:] = cumulative_sum(values[:, :-1])
    return sums


def sum_after(values: Floats) -> Floats:
    """The sum of everything after each place along axis 1, from the right."""
    # A copy: numpy calls a reversed axis of length one contiguous, and torch refuses its stride.
    return sum_before(values[:, ::-1].copy())[:, ::-1]


def _take(table: Floats, order: Indices) -> Floats:
    """The items of (B, T, ...) in the order of each document, by one flat gather."""
    documents, places = table.shape[:2]
    flat = order + (np.arange(len(order)) % documents * places)[:, None]
    rows = table.reshape(documents * places, *table.shape[2:])
    taken: Floats = np.take(rows, flat, axis=0)
    return taken
