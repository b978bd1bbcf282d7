"""The attention computations of a module: where they are, and which axis of the weights is which.

The axes are not guessed from their sizes. The module reads the same documents three times: as they
are, with one item less, and with one document more. An axis that grows with the documents' length
is that of the items or of the queries, and one that grows with the number of documents is theirs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.errors import UserError
from assay.models.adapters.interception import AttentionCall, attention_calls
from assay.models.adapters.site import row_rounding

NO_ITEMS = "not over the items: it does not grow with the documents' length"
NO_DOCUMENTS = "one document at a time: no axis counts the documents"
SOMETIMES = "not in every batch"
OTHER_AXES = "axes that are not documents, heads, queries and items"


@dataclass(frozen=True)
class Axes:
    """The axes of attention weights, by number, and their order (documents, heads, queries, items).

    Documents and heads may share an axis, as in (B * H, Tq, Tk).
    """

    documents: int
    heads: tuple[int, ...]
    queries: int | None
    items: int
    heads_in_documents: int = 1  # heads that share the axis of the documents

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every axis in the order of the weights' shape."""
        named = dict.fromkeys(self.heads, "heads") | {self.items: "items"}
        named[self.documents] = "documents" + (" x heads" if self.heads_in_documents > 1 else "")
        if self.queries is not None:
            named[self.queries] = "queries"
        return tuple(named[axis] for axis in sorted(named))

    def head_count(self, shape: Sequence[int]) -> int:
        """The number of heads in weights of this shape."""
        return self.heads_in_documents * math.prod(shape[axis] for axis in self.heads)

    def in_order(self, shape: Sequence[int]) -> bool:
        """Whether weights of this shape are (B, H, Tq, Tk) already."""
        plain = len(shape) == 4 and (self.documents, self.items) == (0, 3)
        return plain and self.head_count(shape) == shape[1]

    def canonical(self, weights: Tensor) -> Tensor:
        """The weights as (B, H, Tq, Tk); one query where there is no axis of queries."""
        moved = weights.permute(self._order)
        queries = 1 if self.queries is None else weights.shape[self.queries]
        documents = weights.shape[self.documents] // self.heads_in_documents
        return moved.reshape(documents, -1, queries, weights.shape[self.items])

    def original(self, canonical: Tensor, shape: Sequence[int]) -> Tensor:
        """Weights (B, H, Tq, Tk) in the module's own order and this shape."""
        order = self._order
        moved = canonical.reshape([shape[axis] for axis in order])
        return moved.permute([order.index(axis) for axis in range(len(order))])

    @property
    def _order(self) -> tuple[int, ...]:
        queries = () if self.queries is None else (self.queries,)
        return (self.documents, *self.heads, *queries, self.items)


@dataclass(frozen=True)
class SeenAttention:
    """One attention computation in the forward pass of a module."""

    index: int  # in the order of the forward pass, from 0
    kind: str
    path: str  # of the module in which it happened
    shape: tuple[int, ...]
    sums_to_one: bool
    axes: Axes | None  # None: no weights over the items of every document in a batch
    problem: str = ""  # why there are no axes
    has_values: bool = False  # whether the values that the weights multiply are known
    feeds: int | None = None  # the softmax that is taken of these weights, if there is one

    @property
    def heads_and_items(self) -> tuple[int, int]:
        """The numbers of heads and positions of an attention over the items."""
        assert self.axes is not None
        return self.axes.head_count(self.shape), self.shape[self.axes.items]

    def __str__(self) -> str:
        place = f"in {self.path}" if self.path else "in the module itself"
        axes = self.problem if self.axes is None else ", ".join(self.axes.names)
        sums = "rows sum to one" if self.sums_to_one else "rows do not sum to one"
        again = "" if self.feeds is None else f"; softmax {self.feeds} is taken of these weights"
        return f"{self.index}: {self.kind} {place}, shape {self.shape} ({axes}), {sums}{again}"


class SeenSites(tuple[SeenAttention, ...]):
    """All attention computations of a forward pass; printed one per line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no attention computation was seen"

    @property
    def possible(self) -> Self:
        """Those whose weights are spread over the items of the documents."""
        return type(self)(one for one in self if one.axes is not None)


def seen_sites(module: nn.Module, run: Callable[[Batch], object], batch: Batch) -> SeenSites:
    """What `run` computes with the module on two documents, with the axes of all weights."""
    two = batch.take(torch.tensor([0, len(batch.ids) - 1]))
    three = batch.take(torch.tensor([0, len(batch.ids) - 1, 0]))
    change = -1 if two.mask.shape[1] > 2 else 1
    other = without_last_column(two) if change < 0 else with_one_item_more(two)
    calls, changed, more = (
        attention_calls(module, lambda read=read: run(read))  # type: ignore[misc]
        for read in (two, other, three)
    )
    return SeenSites(
        _describe(call, calls, _axes(call, _same(call, changed), change, _same(call, more)))
        for call in calls
    )


def without_last_column(batch: Batch) -> Batch:
    """The batch without the last item of its longest documents."""
    return replace(batch, items=batch.items[:, :-1], mask=batch.mask[:, :-1])


def with_one_item_more(batch: Batch) -> Batch:
    """The batch with the first item of every document once more at its end."""
    columns = torch.arange(batch.items.shape[1] + 1, device=batch.items.device)
    end = columns == batch.lengths[:, None]
    items = torch.where(end, batch.items[:, :1], F.pad(batch.items, (0, 1)))
    return replace(batch, items=items, mask=F.pad(batch.mask, (0, 1)) | end)


def _same(call: AttentionCall, others: Sequence[AttentionCall]) -> tuple[int, ...] | None:
    """The shape of the same computation in another pass."""
    found = [other for other in others if other.index == call.index]
    same = [one for one in found if (one.path, one.kind) == (call.path, call.kind)]
    return tuple(same[0].weights.shape) if same else None


def _describe(
    call: AttentionCall, calls: Sequence[AttentionCall], found: Axes | str
) -> SeenAttention:
    axes, problem = (None, found) if isinstance(found, str) else (found, "")
    weights = call.weights.detach()
    sums = weights.double().sum(call.axis)
    fed = [one.index for one in calls if one.scores is not None and _shares(one.scores, weights)]
    return SeenAttention(
        call.index,
        call.kind,
        call.path,
        tuple(weights.shape),
        bool(((sums - 1).abs() <= row_rounding(weights.dtype)).all()),
        axes,
        problem,
        call.values is not None and axes is not None and axes.in_order(weights.shape),
        fed[0] if fed else None,
    )


def _shares(one: Tensor, other: Tensor) -> bool:
    return one.data_ptr() == other.data_ptr() and one.numel() == other.numel()


def _axes(
    call: AttentionCall,
    changed: tuple[int, ...] | None,
    change: int,
    more: tuple[int, ...] | None,
) -> Axes | str:
    """The axes, if one is that of the items and another one that of the two documents, else why.

    `changed` is the shape with so many items more, `more` the shape with three documents.
    """
    shape = tuple(call.weights.shape)
    if changed is None or more is None:
        return SOMETIMES
    if not len(shape) == len(changed) == len(more):
        return OTHER_AXES
    items, places = len(shape) + call.axis, range(len(shape))
    grows = [axis for axis in places if changed[axis] == shape[axis] + change]
    counted = [axis for axis in places if 2 * more[axis] == 3 * shape[axis] > 0]
    moved = {axis for axis in places if not shape[axis] == changed[axis] == more[axis]}
    if items not in grows:
        return NO_ITEMS
    if not counted:
        return NO_DOCUMENTS
    if len(grows) > 2 or len(counted) > 1 or moved != {*grows, *counted} or counted[0] in grows:
        return OTHER_AXES
    (documents,) = counted
    queries = next((axis for axis in grows if axis != items), None)
    heads = [axis for axis in range(len(shape)) if axis not in {*grows, documents}]
    return Axes(documents, tuple(heads), queries, items, shape[documents] // 2)


def choose_site(seen: SeenSites, choice: int | str | None, name: str) -> SeenAttention:
    """The computation with this index or module path; the only one if nothing was chosen."""
    if not seen:
        raise UserError(
            f"no attention was seen in the forward pass of {name}. The tap sees every softmax of "
            "PyTorch, scaled_dot_product_attention and nn.MultiheadAttention, but no softmax that "
            "is written out, as exp(x) / exp(x).sum(), and nothing inside TorchScript: use "
            "torch.softmax there, or attach an object with `encode`, `attend` and `decode`."
        )
    possible, listed = seen.possible, f"\n{seen}"
    if not possible:
        raise UserError(
            f"no attention over the items of the documents was seen in the forward pass of {name}. "
            "The axis over which the weights sum to one must grow by one with every item, and "
            f"`call` must pass all documents of a batch to the module at once.{listed}"
        )
    if choice is None:
        if len(possible) > 1:
            raise UserError(
                f"{name} computes attention over the items {len(possible)} times in a forward "
                f"pass: choose one with `site`, its number or its module.{listed}"
            )
        return possible[0]
    if isinstance(choice, str):
        found = [one for one in possible if one.path == choice]
        if len(found) != 1:
            raise UserError(
                f"site={choice!r} fits {len(found)} attention computations over the items of "
                f"{name}: choose one by its number.{listed}"
            )
        return found[0]
    if choice not in [one.index for one in possible]:
        raise UserError(
            f"site={choice} is no attention over the items of {name}: choose one of "
            f"{', '.join(str(one.index) for one in possible)}.{listed}"
        )
    return next(one for one in possible if one.index == choice)
