"""What the checks of an attached transformer compare: the module as it is, and its padding."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.adapters.interception import AttentionCall
from assay.models.adapters.item_table import Positions
from assay.models.adapters.rollout import RolloutPasses
from assay.models.adapters.site_passes import Network, SitePasses, SiteStates
from assay.models.protocol import States


class TransformerProof(ABC):
    """The part of an attached transformer that `assay.models.adapters.proofs` reads."""

    network: Network
    passes: SitePasses | RolloutPasses
    layers: int

    @abstractmethod
    def positions(self, batch: Batch, *, other_side: bool = False) -> Positions:
        """The documents as the model reads them, or padded on the other side."""

    @torch.no_grad()
    def untouched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) of the module with the attention function of its own family."""
        return self.network.untouched_logits(self.positions(batch))

    @torch.no_grad()
    def watched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) while every attention computation is seen and none is changed."""
        return self.network.logits(self.positions(batch), lambda call: None)

    @torch.no_grad()
    def other_side_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) of the documents padded on the side that is not used."""
        return self.network.logits(self.positions(batch, other_side=True))

    @torch.no_grad()
    def times_met(self, batch: Batch) -> int:
        """How often the layer of the site computes attention; 1 for the rollout if all do."""
        met: list[int] = []

        def count(call: AttentionCall) -> None:
            met.append(call.index)

        self.network.logits(self.positions(batch), count)
        if isinstance(self.passes, SitePasses):
            return met.count(self.passes.call)
        return min(met.count(call) for call in self.passes.part.calls)

    def weight_on_padding(self, states: States) -> Tensor:
        """(B, H): what the heads give to positions that hold nothing."""
        assert isinstance(states, SiteStates)
        padded = ~states.columns.mask(states.positions)[:, None]
        return (states.own[:, self.passes.heads] * padded).sum(-1)
