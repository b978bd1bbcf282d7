"""Attention rollout (Abnar & Zuidema 2020) as a heat map, and interventions on it.

The rollout multiplies the attention of all layers, each mixed half and half with the identity for
the residual connection. It summarizes many rows, so it cannot be set to given weights. Instead, an
item whose weight is to change by some factor gets that factor in every row of every layer, and each
row is scaled to its own sum over the items. The model's own weights change nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from assay.models.adapters.interception import AttentionCall
from assay.models.adapters.item_table import Positions
from assay.models.adapters.key_columns import AttentionPart
from assay.models.adapters.site import APART, Site
from assay.models.adapters.site_passes import (
    CHUNK_BYTES,
    Network,
    SiteStates,
    position_bytes,
    shown_row,
)

RESERVED_HEADS = 16  # heads whose weights are counted when the memory of a pass is estimated


@dataclass(frozen=True)
class RolloutPasses:
    """The passes of a network whose heat map is the rollout over the layers of a part."""

    network: Network
    part: AttentionPart
    site: Site
    route: str = "whole"

    @property
    def heads(self) -> slice:
        """The rollout has combined the heads: it is one row."""
        return slice(None)

    def capture(self, positions: Positions, embedded: Tensor | None = None) -> SiteStates:
        """Run the model and multiply the attention of its layers."""
        rolled: list[Tensor] = []

        def multiply(call: AttentionCall) -> None:
            if call.index in self.part.calls:
                mixed = self._mixed(call.weights)
                rolled[:] = [mixed if not rolled else mixed @ rolled[0]]

        self.network.logits(positions, multiply, embedded=embedded)
        row = shown_row(self.site, positions)
        own = self._row(rolled[0], positions, row)[:, None]
        layout = positions.layout
        return SiteStates(
            items=own.new_zeros(len(own), layout.items, 1),
            mask=layout.item_weights(positions.mask[:, None].long())[:, 0] > 0,
            positions=positions,
            own=own,
            row=row,
            columns=self.part.columns,
            embedded=embedded,
        )

    def _mixed(self, weights: Tensor) -> Tensor:
        """The attention (B, S, S) of a layer, with its heads combined and the residual added."""
        chosen = weights[:, self.site.chosen_heads]
        one = chosen.amax(1) if self.site.heads == "max" else chosen.mean(1)
        one = one / one.sum(-1, keepdim=True).clamp(min=torch.finfo(one.dtype).tiny)
        one = self.part.columns.square(one)
        return 0.5 * one + 0.5 * torch.eye(one.shape[-1], dtype=one.dtype, device=one.device)

    def _row(self, rolled: Tensor, positions: Positions, row: Tensor) -> Tensor:
        rolled = rolled[:, rolled.shape[1] - positions.ids.shape[1] :]
        if self.site.query == "mean":
            real = positions.mask[..., None].to(rolled.dtype)
            return (rolled * real).sum(1) / real.sum(1)
        return rolled[torch.arange(len(row), device=row.device), row]

    def logits(self, states: SiteStates, weights: Tensor) -> Tensor:
        """Logits (B, P, C) with every item's columns scaled as in weights (B, P, 1, S)."""
        documents, proposals = weights.shape[:2]
        own = states.own[:, None]
        some = own > 0
        factors = torch.where(some, weights / torch.where(some, own, 1), 1).flatten(0, 2)
        owner = torch.arange(documents, device=weights.device).repeat_interleave(proposals)
        found = [self._run(states, owner[cut], factors[cut]) for cut in self._cuts(states, owner)]
        return torch.cat(found).view(documents, proposals, -1)

    def _run(self, states: SiteStates, owner: Tensor, factors: Tensor) -> Tensor:
        positions = states.positions.take(owner)
        layout = self.part.columns.layout(positions)
        items = (layout.owner != APART)[:, None, None]

        def scale(call: AttentionCall) -> Tensor | None:
            if call.index not in self.part.calls:
                return None
            own = call.weights * items
            scaled = own * factors[:, None, None]
            sums = scaled.sum(-1, keepdim=True)
            some = sums > 0
            rate = torch.where(some, own.sum(-1, keepdim=True) / torch.where(some, sums, 1), 0)
            return scaled * rate + call.weights * ~items

        embedded = None if states.embedded is None else states.embedded[owner]
        return self.network.logits(positions, scale, embedded=embedded)

    def _cuts(self, states: SiteStates, owner: Tensor) -> Iterator[slice]:
        size = max(1, CHUNK_BYTES // self.sequence_bytes(states))
        return (slice(start, start + size) for start in range(0, len(owner), size))

    def sequence_bytes(self, states: SiteStates) -> int:
        """About how many bytes of states the model computes for one document, at a time."""
        width = states.own.shape[-1]
        number = self.network.number_bytes
        return position_bytes(self.network.units, RESERVED_HEADS, width, number) * width
