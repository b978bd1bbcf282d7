"""A transformer whose values are seen: what single items add to the attention and to the block."""

from functools import cached_property

import torch
from torch import Tensor

from assay.models.adapters.block_parts import Block
from assay.models.adapters.site_passes import SitePasses
from assay.models.adapters.transformer import AttachedTransformer, site_states
from assay.models.protocol import States


class TransformerWithValues(AttachedTransformer):
    """A transformer whose values at the site are known, and the site is a single row."""

    def item_values(self, states: States) -> Tensor:
        """(B, H, T, d): an item's value is that of its positions, by the head's own shares."""
        own = site_states(states)
        assert own.values is not None
        chosen = own.own[:, self.passes.heads]
        shared = own.values[:, self.passes.heads] * own.layout.shares(chosen)[..., None]
        documents, heads, width, size = shared.shape
        flat = shared.transpose(2, 3).reshape(documents, heads * size, width)
        return own.layout.item_weights(flat).view(documents, heads, size, -1).transpose(2, 3)

    def output_matrix(self, states: States) -> Tensor | None:
        """The output projection (H, d, m) of the shown heads; None if it was not found."""
        own = site_states(states)
        assert isinstance(self.passes, SitePasses)
        assert own.values is not None
        matrix = self.passes.output_matrix(self._tried)
        if matrix is None:
            return None
        size = own.values.shape[-1]
        return matrix.view(-1, size, matrix.shape[-1])[self.passes.heads]

    def check_block(self, *, feed_forward: bool) -> None:
        """Find the block of the shown layer and prove it; NotApplicable if that fails."""
        self._block(feed_forward)

    def block_parts(self, states: States, *, feed_forward: bool) -> Tensor:
        """(B, T, m): what each item adds to the block, without or with its feed-forward network."""
        return self._block(feed_forward).parts(site_states(states), feed_forward)

    def _block(self, feed_forward: bool) -> Block:
        assert isinstance(self.passes, SitePasses)
        key = (self.network.device, feed_forward)
        if key not in self._blocks:
            with torch.no_grad():
                states = self.passes.capture(self._tried)
                self._blocks[key] = Block.find(self.passes, states, feed_forward)
        return self._blocks[key]

    @cached_property
    def _blocks(self) -> dict[tuple[torch.device, bool], Block]:
        return {}
