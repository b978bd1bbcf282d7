"""Encoders that turn embedded items into states, and how one changed item changes the states.

An encoder turns embedded items (B, T, E) into states (B, T, m). It adds the start and end markers
itself and removes their states again, so every state outside an encoder belongs to an item.
Encoders of pair tasks also have `last`, a summary of a whole text; of the query only that is used.

The recurrent encoders are in `recurrent`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Frame:
    """Embedded items between a start and an end marker, readable in both directions."""

    items: Tensor  # (B, T, E), zero on padding, as padding is embedded
    mask: Tensor  # (B, T)
    start: Tensor  # (E,)
    end: Tensor  # (E,)
    names: Tensor | None = None  # (B, T) equal numbers are equal items; None: not known

    @cached_property
    def lengths(self) -> Tensor:
        """The number of items per document, (B,)."""
        return self.mask.sum(1)

    @cached_property
    def framed(self) -> Tensor:
        """Start marker, items, end marker directly after the last item, zeros: (B, T + 2, E)."""
        batch, _, size = self.items.shape
        start = self.start.expand(batch, 1, size)
        framed = torch.cat([start, self.items, self.items.new_zeros(batch, 1, size)], 1)
        framed[torch.arange(batch, device=self.mask.device), self.lengths + 1] = self.end
        return framed

    @cached_property
    def mirror(self) -> Tensor:
        """The position (B, T) of item t if the items are read backwards; an involution."""
        positions = torch.arange(self.mask.shape[1], device=self.mask.device)
        return torch.where(self.mask, self.lengths[:, None] - 1 - positions, positions)

    @cached_property
    def reversed(self) -> "Frame":
        """The document read from its end; the markers change places."""
        items = take(self.items, self.mirror)
        names = None if self.names is None else self.names.gather(1, self.mirror)
        return Frame(items, self.mask, self.end, self.start, names)

    def map_start_and_items(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function of single items to the start marker and all items, step by step.

        The result is (T + 1, B, k). Equal items are mapped once.
        """
        steps = self.items.transpose(0, 1)
        start = function(self.start)
        mapped = start.new_empty(len(steps) + 1, steps.shape[1], len(start))
        mapped[0] = start
        if self.names is None:
            mapped[1:] = function(steps)
            return mapped
        _, places = torch.unique(self.names.T, return_inverse=True)
        rows = places.flatten()
        distinct = self.items.new_empty(int(places.max()) + 1, steps.shape[-1])
        distinct[rows] = steps.flatten(0, 1)
        torch.index_select(function(distinct), 0, rows, out=mapped[1:].flatten(0, 1))
        return mapped


def take(values: Tensor, positions: Tensor) -> Tensor:
    """Select values (B, T, k) at positions (B, S): (B, S, k)."""
    batch, length, size = values.shape
    first = length * torch.arange(batch, device=values.device)[:, None]
    rows = (positions + first).flatten()
    return values.flatten(0, 1).index_select(0, rows).view(batch, -1, size)


def take_steps(values: Tensor, positions: Tensor) -> Tensor:
    """Select values (T, B, k), whose first axis is the step, at positions (B, S): (S, B, k)."""
    _, batch, size = values.shape
    rows = positions.T * batch + torch.arange(batch, device=values.device)
    return values.flatten(0, 1).index_select(0, rows.flatten()).view(-1, batch, size)


@dataclass(frozen=True)
class Projection:
    """What attention and head read of a state: an affine map, whose offset may depend on the query.

    The maps of the two halves of a state add up to that of the state if one has the offset.
    """

    weight: Tensor  # (k, m)
    offset: Tensor  # (k,) or (B, k)

    def of(self, states: Tensor) -> Tensor:
        """Projections (T, B, k) of states (T, B, m)."""
        return F.linear(states, self.weight) + self.offset

    def halves(self) -> tuple[Tensor, Tensor]:
        """The linear maps of the first and of the second half of a state."""
        first, second = self.weight.chunk(2, 1)
        return first, second


Where = tuple[slice, slice] | tuple[Tensor, Tensor]
EVERY = slice(None)


@dataclass(frozen=True)
class ChangedStates:
    """Projected states of one item, each after the change of one item of its document.

    `where` says which slots and documents the values belong to: slices of both, with values
    (S, B, k), or a pair of index vectors, with values (N, k). The values are used before the next
    step, which may use their memory again.
    """

    where: Where
    values: Tensor
    real: Tensor | None = None  # False where there is no such item; None: all are real


@dataclass(frozen=True)
class ChangePass:
    """Parallel changes: slot s of document b deletes or replaces item `changed[s, b]`."""

    changed: Tensor  # (T, B)
    steps: Iterator[ChangedStates]
    # (T, B), complete when the steps are exhausted: the last item, in reading order, whose state
    # was computed anew. None: all of them.
    until: Tensor | None = None


class Encoder(Protocol):
    """What every encoder offers."""

    size: int
    reach: (
        int | None
    )  # states further than this from a changed item stay the same; None: all may change

    def __call__(self, frame: Frame) -> Tensor:
        """States of the items, (B, T, m); finite but meaningless on padding."""
        ...

    def encode_changes(
        self, frame: Frame, projection: Projection, substitutes: Tensor | None, *, exact: bool
    ) -> Iterator[ChangePass]:
        """Projections of every state that changes when one item changes.

        Item t is replaced by the embedded item `substitutes[:, t]` (B, T, E); with None it is
        deleted. The states of all changes would need T^2 vectors, so only their projections are
        computed, step by step. With `exact=False` an encoder may stop where the effect of a change
        has faded; it reports where in `until`.
        """
        ...


def slots(mask: Tensor) -> Tensor:
    """Slot t of every document changes item t: (T, B)."""
    return torch.arange(mask.shape[1], device=mask.device)[:, None].expand(-1, len(mask))


def changes_of_independent_items(
    encoder: Encoder, frame: Frame, projection: Projection, substitutes: Tensor | None
) -> Iterator[ChangePass]:
    """The changes of an encoder whose states depend on their own items only."""
    if substitutes is None:
        return  # no state depends on a deleted item
    states = encoder(Frame(substitutes, frame.mask, frame.start, frame.end))
    yield single_pass(states, projection, frame.mask)


def single_pass(states: Tensor, projection: Projection, real: Tensor) -> ChangePass:
    """A pass with one changed state per slot; states (B, T, m) and real (B, T) by slot."""
    values = projection.of(states.transpose(0, 1))
    return ChangePass(slots(real), iter([ChangedStates((EVERY, EVERY), values, real.T)]))


class Average(nn.Module):
    """Each item by itself: linear, then tanh; `last` is the mean over real items.

    The paper's text says ReLU. Its program used tanh, which produced the published numbers.
    """

    reach: int | None = 0

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.map = nn.Linear(inputs, size)

    def forward(self, frame: Frame) -> Tensor:
        return torch.tanh(self.map(frame.items))

    def last(self, frame: Frame) -> Tensor:
        states: Tensor = self(frame) * frame.mask[..., None]
        return states.sum(1) / frame.lengths.clamp(min=1)[:, None]

    def encode_changes(
        self, frame: Frame, projection: Projection, substitutes: Tensor | None, *, exact: bool
    ) -> Iterator[ChangePass]:
        return changes_of_independent_items(self, frame, projection, substitutes)


class Identity(nn.Module):
    """No encoder: the state of an item is its embedding."""

    reach: int | None = 0

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.size = inputs

    def forward(self, frame: Frame) -> Tensor:
        return frame.items

    def encode_changes(
        self, frame: Frame, projection: Projection, substitutes: Tensor | None, *, exact: bool
    ) -> Iterator[ChangePass]:
        return changes_of_independent_items(self, frame, projection, substitutes)


class Convolution(nn.Module):
    """Parallel convolutions of several widths over the framed text, ReLU; `last` is the maximum."""

    def __init__(self, inputs: int, size: int, widths: tuple[int, ...] = (1, 3, 5, 7)) -> None:
        super().__init__()
        self.size = size
        self.reach: int | None = max(widths) // 2
        filters = size // len(widths)
        maps = [nn.Conv1d(inputs, filters, width, padding=width // 2) for width in widths]
        self.maps: Iterable[Any] = nn.ModuleList(maps)  # torch's own type hides what it holds

    def forward(self, frame: Frame) -> Tensor:
        framed = frame.framed.transpose(1, 2)
        states = torch.cat([F.relu(convolve(framed)) for convolve in self.maps], 1)
        return states.transpose(1, 2)[:, 1:-1]

    def last(self, frame: Frame) -> Tensor:
        # States are not negative, so zeros on padding do not change the maximum.
        states: Tensor = self(frame) * frame.mask[..., None]
        return states.amax(1)

    def encode_changes(
        self, frame: Frame, projection: Projection, substitutes: Tensor | None, *, exact: bool
    ) -> Iterator[ChangePass]:
        taps, bias = self.taps(frame.framed)  # (L, B, taps, m)
        if substitutes is None:
            totals = self._without(taps, bias)
        else:
            totals = self._replaced(taps, self.taps(substitutes)[0], bias)
        yield ChangePass(slots(frame.mask), self._changed(frame, projection, totals))

    def _changed(
        self, frame: Frame, projection: Projection, totals: Iterator[tuple[int, Tensor]]
    ) -> Iterator[ChangedStates]:
        """The states near each changed item, one distance from it at a time."""
        length = frame.mask.shape[1]
        for distance, total in totals:
            item = torch.arange(length, device=frame.mask.device) + distance
            exists = (item >= 0) & (item < length)
            real = frame.mask.T[item.clamp(0, length - 1)] & frame.mask.T & exists[:, None]
            yield ChangedStates((EVERY, EVERY), projection.of(F.relu(total)), real)

    def _without(self, taps: Tensor, bias: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Distances from each deleted item, and the sums (T, B, m) that the ReLU gets there.

        A convolution is a sum of one linear map per tap. Each position is mapped once per tap, and
        a changed state is a sum of gathered rows.
        """
        reach = self.reach or 0
        slot = torch.arange(len(taps) - 2, device=taps.device)
        for distance in [d for d in range(-reach, reach + 1) if d]:
            total = bias
            for tap in range(-reach, reach + 1):
                position = slot + distance + tap
                # The gap closes: items beyond the deleted one move one step nearer.
                if distance < 0:
                    position = position + (position >= slot).long()
                else:
                    position = position - (position <= slot).long()
                total = total + _rows_inside(taps[:, :, tap + reach], position)
            yield distance, total

    def _replaced(
        self, taps: Tensor, substitutes: Tensor, bias: Tensor
    ) -> Iterator[tuple[int, Tensor]]:
        """Distances from each replaced item, the item included, and the sums that the ReLU gets."""
        reach = self.reach or 0
        slot = torch.arange(len(taps) - 2, device=taps.device)
        for distance in range(-reach, reach + 1):
            total = bias + substitutes[:, :, reach - distance]
            for tap in range(-reach, reach + 1):
                if distance + tap:
                    total = total + _rows_inside(taps[:, :, tap + reach], slot + distance + tap)
            yield distance, total

    def taps(self, framed: Tensor) -> tuple[Tensor, Tensor]:
        """Each position mapped by each tap of the widest kernel, and the bias."""
        reach = self.reach or 0
        weights: list[Tensor] = []
        for convolve in self.maps:
            margin = reach - convolve.weight.shape[-1] // 2
            weights.append(F.pad(convolve.weight, (margin, margin)))
        kernel = torch.cat(weights)  # (m, E, taps)
        taps = torch.einsum("ble,met->lbtm", framed, kernel)
        return taps, torch.cat([convolve.bias for convolve in self.maps])


class Pooled(nn.Module):
    """One state for all items: the mean of the embeddings, linear, then tanh.

    Whatever the weights are, the context and thus the prediction is the same, so attention cannot
    matter. Only control models, whose correct verdict is known, use it (`assay controls`).
    """

    reach: int | None = None

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.map = nn.Linear(inputs, size)

    def forward(self, frame: Frame) -> Tensor:
        return self.last(frame)[:, None].expand(-1, frame.mask.shape[1], -1)

    def last(self, frame: Frame) -> Tensor:
        total = (frame.items * frame.mask[..., None]).sum(1)
        return torch.tanh(self.map(total / frame.lengths.clamp(min=1)[:, None]))

    def encode_changes(
        self, frame: Frame, projection: Projection, substitutes: Tensor | None, *, exact: bool
    ) -> Iterator[ChangePass]:
        """All states are equal, so one of them stands for the rest of the document."""
        real = frame.items * frame.mask[..., None]
        total, left = real.sum(1, keepdim=True) - real, frame.lengths[:, None]
        if substitutes is None:
            left = left - 1
        else:
            total = total + substitutes
        states = torch.tanh(self.map(total / left.clamp(min=1)[..., None]))
        yield single_pass(states, projection, frame.mask & (left > 0))


def _rows_inside(taps: Tensor, position: Tensor) -> Tensor:
    """Mapped positions (S, B, m) of framed texts (L, B, m), zero outside; -1 is the start."""
    inside = (position >= -1) & (position < len(taps) - 1)
    return taps[(position + 1).clamp(0, len(taps) - 1)] * inside[:, None, None]
