"""A hand-made model with several attention heads, special tokens apart, and a nonlinear tail.

Small enough to check by hand, and it offers every optional method of a model with heads. One query
attends to [CLS], the items and [SEP]. A head's output is the weighted sum of its values; the heads
are projected and summed, and the tail bends the sum before it decides.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from assay.data.batches import Batch, EncodedSplit
from assay.models.protocol import States
from assay.models.view import AuditView
from tests.builders.hand_made_models import VOCABULARY, documents

SIZE, HEADS, HEAD_SIZE = 6, 3, 2
APART = ("[CLS]", "[SEP]")


class ThreeHeads:
    """Three heads over items and two special tokens; in float64, so that equalities hold."""

    def __init__(
        self, classes: int = 2, seed: int = 1, *, shown: str = "mean", peak: float = 1.0
    ) -> None:
        """`shown` is "mean", "max" or the number of a head; `peak` 0 gives uniform attention."""
        rng = torch.Generator().manual_seed(seed)

        def drawn(*shape: int) -> Tensor:
            return torch.randn(shape, generator=rng, dtype=torch.float64)

        self.classes = tuple(f"class {i}" for i in range(classes))
        self.shown = shown
        self.table = drawn(len(VOCABULARY), SIZE)
        self.special = drawn(len(APART), SIZE)
        self.queries = drawn(HEADS, SIZE) * peak
        self.values = drawn(HEADS, SIZE, HEAD_SIZE)
        self.output = drawn(HEADS, HEAD_SIZE, SIZE)
        self.tail = drawn(SIZE, classes) * 2

    def embed(self, batch: Batch) -> Tensor:
        return self.table[batch.items]

    def contextualise(self, embedded: Tensor, batch: Batch) -> States:
        return States(embedded, batch.mask)

    def encode(self, batch: Batch) -> States:
        return self.contextualise(self.embed(batch), batch)

    def attend(self, states: States) -> Tensor:
        return self.shown_weights(self.head_weights(states))

    def decode(self, states: States, weights: Tensor) -> Tensor:
        proposals = weights if weights.dim() == 3 else weights[:, None]
        mass = self.head_weights(states).sum(-1)[:, None, :, None]
        logits = self.decode_heads(states, proposals[:, :, None] * mass)
        return logits if weights.dim() == 3 else logits[:, 0]

    def _rows(self, states: States) -> Tensor:
        """(B, H, 2 + T): the softmax over the special tokens and the items."""
        special = self.special.expand(len(states.items), -1, -1)
        scores = torch.cat([special, states.items], 1) @ self.queries.T
        real = torch.cat([states.mask.new_ones(len(special), len(APART)), states.mask], 1)
        return torch.softmax(scores.masked_fill(~real[..., None], -torch.inf), 1).transpose(1, 2)

    def head_weights(self, states: States) -> Tensor:
        return self._rows(states)[..., len(APART) :]

    def shown_weights(self, heads: Tensor) -> Tensor:
        if self.shown == "max":
            row = heads.amax(-2)
        else:
            row = heads.mean(-2) if self.shown == "mean" else heads[..., int(self.shown), :]
        total = row.sum(-1, keepdim=True)
        return row / total.where(total > 0, 1)

    def decode_heads(self, states: States, heads: Tensor) -> Tensor:
        own = self._rows(states)[..., : len(APART)]
        fixed = torch.einsum("bhs,sm,hmd->bhd", own, self.special, self.values)
        mixed = torch.einsum("bpht,bhtd->bphd", heads, self.item_values(states)) + fixed[:, None]
        return torch.tanh(torch.einsum("bphd,hdm->bpm", mixed, self.output)) @ self.tail

    def weights_apart(self, states: States) -> dict[str, Tensor]:
        rows = self._rows(states)
        return {name: rows[..., place] for place, name in enumerate(APART)}

    def decode_without_apart(self, states: States) -> Tensor:
        heads = self.head_weights(states)
        whole = heads / heads.sum(-1, keepdim=True).clamp(min=1e-300)
        mixed = torch.einsum("bht,bhtd->bhd", whole, self.item_values(states))
        return torch.tanh(torch.einsum("bhd,hdm->bm", mixed, self.output)) @ self.tail

    def item_values(self, states: States) -> Tensor:
        return torch.einsum("btm,hmd->bhtd", states.items, self.values)

    def output_matrix(self, states: States) -> Tensor:
        return self.output

    def check_block(self, *, feed_forward: bool) -> None:
        """Both forms are known."""

    def block_parts(self, states: States, *, feed_forward: bool) -> Tensor:
        """The query has no state of its own, so no residual; the tanh is divided from zero."""
        parts = torch.einsum(
            "bht,bhtd,hdm->btm", self.head_weights(states), self.item_values(states), self.output
        )
        if not feed_forward:
            return parts
        apart = self._rows(states)[..., : len(APART)]
        special = torch.einsum("bhs,sm,hmd,hdn->bn", apart, self.special, self.values, self.output)
        whole = (parts.sum(1) + special)[:, None]
        return parts * torch.tanh(whole) / whole

    def rollout(self, batch: Batch) -> Tensor:
        return self.attend(self.encode(batch))  # one layer

    def uniform_by_head(self, batch: Batch) -> tuple[Tensor, tuple[tuple[str, ...], ...]]:
        states = self.encode(batch)
        heads = self.head_weights(states)
        flat = batch.mask.double() / batch.lengths[:, None].clamp(min=1)
        proposals = heads[:, None].repeat(1, HEADS, 1, 1)
        for head in range(HEADS):
            proposals[:, head, head] = heads[:, head].sum(-1, keepdim=True) * flat
        names = tuple(f"layer 0, head {head}" for head in range(HEADS))
        return self.decode_heads(states, proposals)[:, None], (names,)


def batch_of(*lengths: int, classes: int = 2, seed: int = 0) -> Batch:
    """Documents of these lengths, without equal words in one document."""
    split = EncodedSplit.encode(documents(lengths, classes, seed), VOCABULARY, classes)
    return split.batch(range(len(lengths)))


def view_of(model: ThreeHeads, lengths: Sequence[int], seed: int = 0) -> AuditView:
    """The audit's view of documents of these lengths."""
    batch = batch_of(*lengths, classes=len(model.classes))
    return AuditView(model, batch, seed, torch.arange(4, 30))
