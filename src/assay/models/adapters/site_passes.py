"""Forward passes of a transformer with other weights in one attention row of one layer.

What a proposal of weights cannot change is computed once. There are three routes to the logits of
many proposals, and the fastest that is exact for a model is found by trying them all:

- `row`: in the last layer, where the head reads only the row that is shown, everything after the
  attention is computed for that row alone: sequences of length one.
- `tail`: the layers below the site return at once, and the site's layer reads the states that were
  computed in the first pass.
- `whole`: the whole model is run for every proposal.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import torch
from torch import Tensor, nn

from assay.errors import UserError
from assay.models.adapters.interception import AttentionCall, Change
from assay.models.adapters.item_table import Positions
from assay.models.adapters.key_columns import AttentionPart, KeyColumns
from assay.models.adapters.layer_stack import LayerStack, output_projection
from assay.models.adapters.site import ItemPositions, Site
from assay.models.protocol import States

Route = Literal["row", "tail", "whole"]
CHUNK_BYTES = 2**24  # of the states that one call of the model computes, about; larger is no faster
NUMBERS_PER_UNIT = 12  # numbers computed per position and unit of a layer's states, about
WEIGHTS_PER_HEAD = 3  # numbers per pair of positions: scores, masked scores, weights
# Routes are compared on proposals that are far larger than weights: the logits are a function of
# any numbers in their place, and the effect must be large beside rounding.
EXAGGERATION = 30.0
# The largest difference between two exact routes, relative to the effect of the proposals.
ROUTE_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-3}
COARSE_ROUTE_TOLERANCE = 5e-2


class Network(Protocol):
    """A model that reads positions, and whose attention can be replaced on the way."""

    module: nn.Module

    @property
    def shows_values(self) -> bool:
        """Whether attention calls come with their values, and whole outputs can be replaced."""
        ...

    @property
    def columns(self) -> KeyColumns:
        """What the columns of attention rows are."""
        ...

    @property
    def sides(self) -> tuple[nn.Module, nn.Module] | None:
        """The encoder and the decoder, of a model that has both."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        ...

    @property
    def ids(self) -> int:
        """The number of ids that have an embedding."""
        ...

    @property
    def units(self) -> int:
        """The size of a position's state."""
        ...

    @property
    def number_bytes(self) -> int:
        """The size of one number of the states."""
        ...

    def logits(
        self,
        positions: Positions,
        change: Change | None = None,
        *,
        outputs: Mapping[int, Tensor] | None = None,
        embedded: Tensor | None = None,
    ) -> Tensor:
        """Logits (B, C); `outputs` replaces whole attention outputs (B, S, H, d) by call."""
        ...

    def untouched_logits(self, positions: Positions) -> Tensor:
        """Logits (B, C) of the model as it was before it was attached."""
        ...

    def embed(self, positions: Positions) -> Tensor:
        """The embeddings (B, S, m) of the positions."""
        ...


@dataclass(frozen=True, kw_only=True)
class SiteStates(States):
    """What proposals of weights need of the first pass."""

    positions: Positions
    own: Tensor  # (B, H, S) the weights of all heads in the shown row
    row: Tensor  # (B,) the position of the row
    columns: KeyColumns  # what the columns of the weights are
    hidden: Tensor | None = None  # input of the site's layer, (B, S, m); (B, 1, m) on the row route
    values: Tensor | None = None  # (B, H, S, d)
    embedded: Tensor | None = None  # (B, S, m) in place of the model's own embeddings

    @property
    def layout(self) -> ItemPositions:
        """Which columns of the weights form which item."""
        return self.columns.layout(self.positions)


class _Reached(Exception):
    """The site's attention was computed: the rest of the pass is not needed."""


@dataclass(frozen=True)
class SitePasses:
    """The passes for one layer of a network."""

    network: Network
    stack: LayerStack | None
    layer: int
    site: Site
    part: AttentionPart
    route: Route = "whole"

    @property
    def call(self) -> int:
        """The attention computation of the layer, in the order of a whole forward pass."""
        return self.part.calls[self.layer]

    def fastest(self, positions: Positions) -> "SitePasses":
        """These passes by the fastest route that is exact on a few documents."""
        plain = self.capture(positions)
        generator = torch.Generator().manual_seed(0)
        shape = (len(plain.own), 3, *plain.own.shape[1:])
        proposals = torch.rand(shape, generator=generator).to(plain.own) * plain.own[:, None].gt(0)
        proposals[:, 0] *= EXAGGERATION
        proposals[:, 2] = plain.own
        wanted = self.logits(plain, proposals)
        effect = float((wanted - wanted[:, 2:]).abs().max())
        tolerance = ROUTE_TOLERANCE.get(wanted.dtype, COARSE_ROUTE_TOLERANCE)
        routes: tuple[Route, ...] = ("row", "tail")
        for route in routes:
            if not self._possible(route, positions):
                continue
            other = replace(self, route=route)
            found = other.logits(other.capture(positions), proposals)
            if float((found - wanted).abs().max()) <= tolerance * effect:
                return other
        return self

    def output_matrix(self, positions: Positions) -> Tensor | None:
        """The output projection (H * d, m) of the site's layer; None if it was not found."""
        if self.stack is None:
            return None

        def run(met: Callable[[Tensor], None]) -> None:
            def look(call: AttentionCall) -> None:
                if call.index == self.call and call.values is not None:
                    met((call.weights @ call.values).transpose(1, 2))

            self.network.logits(positions, look)

        return output_projection(self.stack.layers[self.layer], run)

    def _possible(self, route: Route, positions: Positions) -> bool:
        if self.stack is None or not self.stack.skippable:
            return False
        if route == "row":
            last = self.layer == len(self.stack.layers) - 1
            if not (last and self.network.shows_values and self.site.query != "mean"):
                return False
        shapes: list[torch.Size] = []
        calls: list[int] = []

        def look(hidden: Tensor) -> Tensor:
            shapes.append(hidden.shape)
            return hidden

        with self.stack.change_input(self.layer, look, skip=False):
            self.network.logits(positions, lambda call: calls.append(call.index))
        if route == "row" and len(calls) > self.call + 1:
            return False  # a decoder reads the other rows
        return shapes[0][:-1] == positions.ids.shape  # some models put the positions first

    @property
    def heads(self) -> slice:
        """The heads of the states whose weights make up what is shown."""
        return slice(None) if self.site.query == "mean" else self.site.chosen_heads

    def capture(self, positions: Positions, embedded: Tensor | None = None) -> SiteStates:
        """Run the model up to the site's attention."""
        row = shown_row(self.site, positions)
        hidden: list[Tensor] = []
        met: list[tuple[Tensor, Tensor | None]] = []

        def look(states: Tensor) -> Tensor:
            hidden.append(states)
            return states

        def reach(call: AttentionCall) -> None:
            if call.index == self.call:
                met.append((self._own(call.weights, positions, row), call.values))
                raise _Reached

        stack = self.stack
        watch = nullcontext() if stack is None else stack.change_input(self.layer, look, skip=False)
        try:
            with watch:
                self.network.logits(positions, reach, embedded=embedded)
        except _Reached:
            pass
        own, values = met[0]
        return self._states(positions, row, own, values, hidden, embedded)

    def _states(
        self,
        positions: Positions,
        row: Tensor,
        own: Tensor,
        values: Tensor | None,
        hidden: list[Tensor],
        embedded: Tensor | None,
    ) -> SiteStates:
        layout = positions.layout
        if hidden and hidden[0].shape[:-1] == positions.ids.shape:
            shares = layout.shares(positions.mask[:, None].to(own.dtype))
            items = layout.item_weights((hidden[0] * shares[:, 0, :, None]).mT).mT
        else:
            items = own.new_zeros(len(own), layout.items, 1)
        real = layout.item_weights(positions.mask[:, None].long())[:, 0] > 0
        kept = None
        if self.route != "whole":
            at = row[:, None, None].expand(-1, 1, hidden[0].shape[-1])
            kept = hidden[0].gather(1, at) if self.route == "row" else hidden[0]
        return SiteStates(
            items=items,
            mask=real,
            positions=positions,
            own=own,
            row=row,
            columns=self.part.columns,
            hidden=kept,
            values=values,
            # A decoder reads the embeddings again, after the layers that the tail route leaves out.
            embedded=embedded if self.route == "whole" or self.network.sides else None,
        )

    def _own(self, weights: Tensor, positions: Positions, row: Tensor) -> Tensor:
        """The shown row (B, H, S) of weights (B, H, S, S).

        For the mean of all rows, every row of a shown head counts as a head of its own, (B, H * S,
        S), so that an intervention acts on each of them alike. Rows of padding are zero.
        """
        if self.site.query == "mean":
            real = positions.mask[:, None, :, None]
            return (weights[:, self.site.chosen_heads] * real).flatten(1, 2)
        return weights[torch.arange(len(row), device=row.device), :, row]

    def logits(self, states: SiteStates, weights: Tensor) -> Tensor:
        """Logits (B, P, C) with the shown row replaced by weights (B, P, H, S)."""
        weights = weights.to(states.own.dtype)
        documents, proposals = weights.shape[:2]
        if self.route == "row":
            assert states.values is not None
            outputs = weights.transpose(1, 2) @ states.values  # (B, H, P, d)
            flat = outputs.transpose(1, 2).flatten(0, 1)[:, None]  # (B * P, 1, H, d)
        else:
            flat = weights.flatten(0, 1)
        run = self._run_row if self.route == "row" else self._run_tail
        owner = torch.arange(documents, device=weights.device).repeat_interleave(proposals)
        found = [run(states, owner[cut], flat[cut]) for cut in self._cuts(states, len(owner))]
        return torch.cat(found).view(documents, proposals, -1)

    def _run_row(self, states: SiteStates, owner: Tensor, proposed: Tensor) -> Tensor:
        """Logits of sequences that consist of the shown row alone."""
        assert self.stack is not None
        assert states.hidden is not None
        hidden = states.hidden[owner]
        ids = states.positions.ids.gather(1, states.row[:, None])[owner]
        alone = Positions(
            ids,
            torch.ones_like(ids, dtype=torch.bool),
            states.positions.layout,
            torch.zeros_like(ids),
        )
        with self.stack.change_input(self.layer, lambda _: hidden, skip=True):
            # Attention computations below the site do not happen, so this is the first one.
            return self.network.logits(alone, outputs={0: proposed})

    def _run_tail(self, states: SiteStates, owner: Tensor, proposed: Tensor) -> Tensor:
        """Logits of whole sequences, without the layers below the site on the tail route."""
        positions, row = states.positions.take(owner), states.row[owner]
        skip = self.route == "tail"
        index = 0 if skip else self.call

        def impose(call: AttentionCall) -> Tensor | None:
            return (
                self._imposed(call.weights, proposed, positions, row)
                if call.index == index
                else None
            )

        embedded = None if states.embedded is None else states.embedded[owner]
        if not skip or self.stack is None or states.hidden is None:
            return self.network.logits(positions, impose, embedded=embedded)
        hidden = states.hidden[owner]
        with self.stack.change_input(self.layer, lambda _: hidden, skip=True):
            return self.network.logits(positions, impose, embedded=embedded)

    def _imposed(
        self, weights: Tensor, proposed: Tensor, positions: Positions, row: Tensor
    ) -> Tensor:
        """The weights (N, H, S, S) of a pass with the shown rows, as `_own` has them, replaced."""
        if self.site.query == "mean":
            chosen = weights[:, self.site.chosen_heads]
            rows = proposed.view_as(chosen)
            changed = weights.clone()
            real = positions.mask[:, None, :, None]
            changed[:, self.site.chosen_heads] = torch.where(real, rows, chosen)
            return changed
        at = torch.zeros_like(positions.mask).scatter(1, row[:, None], True)
        return torch.where(at[:, None, :, None], proposed[:, :, None], weights)

    def _cuts(self, states: SiteStates, number: int) -> Iterator[slice]:
        size = max(1, CHUNK_BYTES // self.sequence_bytes(states))
        return (slice(start, start + size) for start in range(0, number, size))

    def sequence_bytes(self, states: SiteStates) -> int:
        """About how many bytes of states the model computes for one document, at a time."""
        length = states.positions.ids.shape[1]
        heads = states.own.shape[1] // (length if self.site.query == "mean" else 1)
        width = 1 if self.route == "row" else length
        number = self.network.number_bytes
        return position_bytes(self.network.units, heads, width, number) * width


def position_bytes(units: int, heads: int, width: int, number: int) -> int:
    """About how many bytes a layer computes per position of a sequence of this width."""
    return number * (NUMBERS_PER_UNIT * units + WEIGHTS_PER_HEAD * heads * width)


def shown_row(site: Site, positions: Positions) -> Tensor:
    """The position (B,) of the row that is shown; for the mean over rows it is not read."""
    if site.query == "last":
        return positions.last
    if isinstance(site.query, int):
        length = positions.mask.sum(1)
        row = site.query + (length if site.query < 0 else 0)
        if bool(((row >= length) | (row < 0)).any()):
            raise UserError(
                f"query={site.query} is not possible: a document has {int(length.min())} "
                "positions. Show a row that every document has."
            )
        return positions.first + row
    return positions.first


def find_stack(network: Network, positions: Positions) -> LayerStack | None:
    """The layers of a network, found in one forward pass."""

    def run(met: Callable[[object], None]) -> None:
        network.logits(positions, lambda call: met(call))

    found: LayerStack | None = LayerStack.find(network.module, run)
    return found
