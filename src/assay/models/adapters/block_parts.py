"""What each item adds to the output of a transformer's block: attention, residual, feed-forward.

Kobayashi et al. 2021 and 2023. The attention output of a query is a sum with one term per position.
With the residual connection the query's own state is added to the term of its position. Layer
normalization is linear once its statistic is known (`normalization`). The feed-forward network is
not linear: integrated gradients along the straight line from zero to its input divide its output.

How a layer is built is found by watching it on trial documents, and proved there. First, one
normalization reads the sum of the layer's input, the attention output and a constant bias. Second,
the layer ends in one of two ways, where f is the output of one of its submodules:

- normalized before (pre-norm): the layer returns that sum + f.
- normalized after (post-norm): it returns another normalization of (the normalized sum + f).

Third, the parts of f must add up to what f changes between zero and its input. A layer that is
built otherwise is `NotApplicable`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional as F

from assay.models.adapters.layer_run import LayerRun, ModuleCall, Replaced, run_layer
from assay.models.adapters.normalization import Normalization, normalization_of, rounding
from assay.models.adapters.site import APART
from assay.models.adapters.site_passes import SitePasses, SiteStates
from assay.models.view import NotApplicable

# Points of the Gauss-Legendre rule along the line: the fewest that are enough. An activation with a
# kink, such as ReLU, needs more than a smooth one.
POINTS = (32, 128, 512)
# The largest part of the feed-forward's change that the items' parts may miss.
INCOMPLETE = 1e-2
UNKNOWN_LAYER = "the layers of the model, or the output matrix of their attention, were not found"
UNKNOWN_SUM = (
    "no normalization in the layer reads the sum of the layer's input and its attention output"
)
UNKNOWN_END = (
    "the layer does not end in the sum of its residual stream and the output of a feed-forward "
    "network, or in a normalization of this sum"
)
OTHER_POSITIONS = "the feed-forward network reads more than the position of the query"
INCOMPLETE_PARTS = (
    "the parts of the items in the feed-forward network do not add up to its output within "
    f"{INCOMPLETE:.0%}, with {POINTS[-1]} points"
)


@dataclass(frozen=True)
class _Step:
    """A normalization in the layer."""

    module: nn.Module
    form: Normalization


@dataclass(frozen=True)
class Block:
    """The block of a site's layer: where it normalizes, and what the parts of its output are."""

    passes: SitePasses
    matrix: Tensor  # (H * d, m) the output projection of the attention
    norm: _Step  # reads the sum of residual and attention
    last: _Step | None  # post-norm: reads the sum of the normalized sum and the feed-forward output
    points: int = POINTS[0]

    @classmethod
    def find(cls, passes: SitePasses, states: SiteStates, feed_forward: bool) -> "Block":
        """The block, proved on these documents; NotApplicable if the layer is built otherwise."""
        positions = states.positions
        matrix = passes.output_matrix(positions)
        if passes.stack is None or matrix is None or passes.part.columns.late:
            raise NotApplicable(UNKNOWN_LAYER)
        run = run_layer(passes, positions)
        norm = _norm_of_sum(run, matrix.detach(), positions.mask)
        last = _last_norm(run, norm.module, positions.mask)
        block = cls(passes, matrix.detach(), norm, last)
        return block.with_feed_forward(states) if feed_forward else block

    def parts(self, states: SiteStates, feed_forward: bool) -> Tensor:
        """(B, T, m): what each item adds, without or with the feed-forward network."""
        return self.feed_forward_parts(states) if feed_forward else self.attention_parts(states)

    # Attention, residual and normalization.

    @torch.no_grad()
    def attention_parts(self, states: SiteStates) -> Tensor:
        """(B, T, m): what each item adds to the sum of attention and residual.

        Where the layer normalizes this sum in its residual stream, of the normalized sum.
        """
        run = run_layer(self.passes, states.positions, embedded=states.embedded)
        parts = self._sum_parts(run, states)
        return parts if self.last is None else self._normalized(run, states, parts)

    def _sum_parts(self, run: LayerRun, states: SiteStates) -> Tensor:
        """The weighted and projected values of each item; the query's own state with its item."""
        assert run.attention is not None
        assert run.attention.values is not None
        assert run.given is not None
        weights = _at(run.attention.weights.transpose(1, 2), states.row)  # (B, H, K)
        added = weights.double()[..., None] * run.attention.values.double()
        by_column = added.transpose(1, 2).flatten(2) @ self.matrix.double()  # (B, K, m)
        items = states.layout.item_weights(by_column.mT).mT
        layout = states.positions.layout
        owner = layout.owner.gather(1, states.row[:, None])
        column = torch.where(owner == APART, layout.items, owner)
        own = F.one_hot(column[:, 0], layout.items + 1)[:, :-1, None]
        residual: Tensor = own * _at(run.given, states.row).double()[:, None]
        return items + residual

    def _normalized(self, run: LayerRun, states: SiteStates, parts: Tensor) -> Tensor:
        call = run.of(self.norm.module)
        assert call.given is not None
        given, made = _at(call.given, states.row), _at(call.made, states.row)
        return self.norm.form.of_parts(parts, given, made)

    # The feed-forward network.

    @torch.no_grad()
    def feed_forward_parts(self, states: SiteStates) -> Tensor:
        """(B, T, m): what each item adds to the output of the layer."""
        run = run_layer(self.passes, states.positions, embedded=states.embedded)
        parts = self._sum_parts(run, states)
        into = self._normalized(run, states, parts)
        out = self._integrated(run, states, into)
        if self.last is None:
            return parts + out
        call = run.of(self.last.module)
        assert call.given is not None
        given, made = _at(call.given, states.row), _at(call.made, states.row)
        return self.last.form.of_parts(out, given, made)

    @torch.no_grad()
    def with_feed_forward(self, states: SiteStates) -> "Block":
        """The block with as many points as it takes for the parts to add up on these documents."""
        run = run_layer(self.passes, states.positions)
        whole = _at(run.of(self.norm.module).made, states.row)
        same = whole[:, None].expand_as(_given(run.of(self.norm.module)))
        end, zero = (
            _at(self._changed(run, states, rate * same), states.row).double() for rate in (1, 0)
        )
        # With its input at every position, a network that reads one position returns the same.
        own = _at(self._end(run), states.row).double()
        if bool((own - end).abs().max() > rounding(whole.dtype, own)):
            raise NotApplicable(OTHER_POSITIONS)
        for points in POINTS:
            block = replace(self, points=points)
            missing = (block._all_parts(run, states) - (end - zero)).norm(dim=-1)
            if bool((missing <= INCOMPLETE * (end - zero).norm(dim=-1)).all()):
                return block
        raise NotApplicable(INCOMPLETE_PARTS)

    def _all_parts(self, run: LayerRun, states: SiteStates) -> Tensor:
        """(B, m): the sum of the parts of all items and of everything that belongs to none."""
        items = self._normalized(run, states, self._sum_parts(run, states))
        whole = _at(run.of(self.norm.module).made, states.row).double()
        rest = whole[:, None] - items.sum(1, keepdim=True)
        try:
            return self._integrated(run, states, torch.cat([items, rest], 1)).sum(1)
        except (RuntimeError, NotImplementedError) as error:
            reason = str(error).partition("\n")[0]
            raise NotApplicable(
                f"the feed-forward network has no derivative in forward mode: {reason}"
            ) from error

    def _integrated(self, run: LayerRun, states: SiteStates, parts: Tensor) -> Tensor:
        """The derivative in the direction of each part (B, N, m), mean over the line from zero.

        The network reads every position for itself, so a pass follows as many parts of a document
        as it has positions: all positions hold the same point and each its own direction.
        """
        given = run.given
        assert given is not None
        whole = _at(run.of(self.norm.module).made, states.row)[:, None].expand_as(given)
        found = []
        for chunk in torch.split(parts.to(given.dtype), given.shape[1], 1):
            direction = F.pad(chunk, (0, 0, 0, given.shape[1] - chunk.shape[1]))
            total = torch.zeros_like(direction, dtype=torch.float64)
            for place, weight in _line(self.points):
                point = (place * whole).contiguous()
                total += weight * self._slope(run, states, point, direction)
            found.append(total[:, : chunk.shape[1]])
        return torch.cat(found, 1)

    def _slope(self, run: LayerRun, states: SiteStates, point: Tensor, direction: Tensor) -> Tensor:
        """The derivative (B, S, m) of the end of the stream at a point, in a direction."""
        dual: Any = forward_ad  # its functions are not typed
        with dual.dual_level():
            end = self._changed(run, states, dual.make_dual(point, direction))
            slope: Tensor | None = dual.unpack_dual(end).tangent
            return torch.zeros_like(direction) if slope is None else slope.double()

    def _changed(self, run: LayerRun, states: SiteStates, made: Tensor) -> Tensor:
        """The end of the residual stream (B, S, m) with another input of the feed-forward."""
        assert run.given is not None
        replaced = Replaced(self.norm.module, made, run.given)
        positions, embedded = states.positions, states.embedded
        return self._end(run_layer(self.passes, positions, embedded=embedded, replaced=replaced))

    def _end(self, run: LayerRun) -> Tensor:
        """What the layer returns, or what its last normalization reads."""
        if self.last is not None:
            return _given(run.of(self.last.module))
        assert run.made is not None
        return run.made


def _norm_of_sum(run: LayerRun, matrix: Tensor, real: Tensor) -> _Step:
    """The normalization that reads the layer's input plus its attention output."""
    attention = run.attention
    if attention is None or attention.values is None or run.given is None or run.made is None:
        raise NotApplicable(UNKNOWN_LAYER)
    heads = (attention.weights @ attention.values).transpose(1, 2).flatten(2)
    if not heads.shape[:2] == run.given.shape[:2] == real.shape:
        raise NotApplicable(UNKNOWN_LAYER)
    added = (heads @ matrix)[real]
    total = run.given[real] + added
    spread = float((added - added.mean(0)).abs().max())
    for call in run.calls:
        if call.given is None or sum(one.module is call.module for one in run.calls) > 1:
            continue
        bias = call.given[real] - total
        allowed = rounding(total.dtype, total) * 1e-2 + 1e-3 * spread
        if bool((bias - bias.mean(0)).abs().max() <= allowed):
            form = normalization_of(call.module, call.given[real], call.made[real])
            if form is not None:
                return _Step(call.module, form)
    raise NotApplicable(UNKNOWN_SUM)


def _last_norm(run: LayerRun, norm: nn.Module, real: Tensor) -> _Step | None:
    """The normalization that ends a post-norm layer, None for pre-norm; else NotApplicable."""
    first = run.of(norm)
    later = run.calls[run.calls.index(first) + 1 :]
    assert run.made is not None
    if _is_made(run.made - _given(first), later, real):
        return None
    for call in later:
        if call.given is None or not _same(call.made, run.made, real):
            continue
        form = normalization_of(call.module, call.given[real], call.made[real])
        if form is not None and _is_made(call.given - first.made, later, real):
            return _Step(call.module, form)
    raise NotApplicable(UNKNOWN_END)


def _is_made(value: Tensor, calls: list[ModuleCall], real: Tensor) -> bool:
    return any(_same(call.made, value, real) for call in calls)


def _same(one: Tensor, other: Tensor, real: Tensor) -> bool:
    difference = (one - other)[real].abs().max()
    return bool(difference <= rounding(one.dtype, one[real]))


def _given(call: ModuleCall) -> Tensor:
    assert call.given is not None
    return call.given


def _at(values: Tensor, row: Tensor) -> Tensor:
    """The vectors of one position per document: (B, S, ...) -> (B, ...)."""
    return values[torch.arange(len(row), device=row.device), row]


def _line(points: int) -> Iterator[tuple[float, float]]:
    """Places between zero and one and their weights, which sum to one."""
    places, weights = np.polynomial.legendre.leggauss(points)
    return zip(((places + 1) / 2).tolist(), (weights / 2).tolist(), strict=True)
