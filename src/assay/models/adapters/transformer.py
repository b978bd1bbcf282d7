"""A transformer classifier as an audited model: one attention row of one layer, or the rollout.

Items are words; the model's positions are sub-words and special tokens
(`assay.models.adapters.site`). Proposals of weights take the fastest exact route to the logits
(`assay.models.adapters.site_passes`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from assay.data.batches import Batch, EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus, Document
from assay.data.vocabulary import Vocabulary, length_cuts
from assay.errors import UserError
from assay.models.adapters.attached_corpus import Texts, corpus_of_texts
from assay.models.adapters.attention_parts import attention_parts, choose_part
from assay.models.adapters.item_table import Positions, placed, with_each_replaced, without_each
from assay.models.adapters.rollout import RolloutPasses
from assay.models.adapters.site import Site, given_to_heads
from assay.models.adapters.site_passes import (
    CHUNK_BYTES,
    Network,
    SitePasses,
    SiteStates,
    find_stack,
    position_bytes,
)
from assay.models.adapters.text_items import TextItems
from assay.models.adapters.transformer_proof import TransformerProof
from assay.models.adapters.trial import pads_left, trial_positions, trial_table
from assay.models.protocol import States
from assay.statistics.divergence import decisions

PREDICTION_CELLS = 2**14


class AttachedTransformer(TransformerProof):
    """A transformer with several heads, attached at the row that its heat map shows."""

    def __init__(
        self, network: Network, texts: TextItems, *, classes: Sequence[str], site: Site
    ) -> None:
        self.network = network
        self.module = network.module
        self.texts = texts
        self.classes = tuple(classes)
        self.site = site
        self._table = trial_table(texts, network.ids)
        with torch.no_grad():
            either = trial_positions(self._table, network.device, left=False)
            parts = attention_parts(network, either)
            self.part = choose_part(parts, site, type(self.module).__name__)
            self.heads, self.layers = self.part.heads, len(self.part.calls)
            self.pads_left = pads_left(network, self._table, network.device)
            stack = find_stack(network, self._tried)
            fits = stack is not None and list(self.part.calls) == [*range(len(stack.layers))]
            self.stack = stack if fits else None
            self._passes: dict[Site, SitePasses] = {}
            self.passes = self._choose_passes()
            self._check_row()

    @property
    def _tried(self) -> Positions:
        """Two short documents on which routes are compared."""
        return trial_positions(self._table, self.network.device, left=self.pads_left)

    def to(self, device: torch.device | str) -> "AttachedTransformer":
        """Move the model to a device, in place."""
        self.module.to(device)
        return self

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of all corpora that were read so far."""
        return self.texts.vocabulary

    def _choose_passes(self) -> SitePasses | RolloutPasses:
        self.site.check_heads(self.heads)
        if self.site.layer == "rollout":
            return RolloutPasses(self.network, self.part, self.site)
        return self._passes_at(self.site)

    def _check_row(self) -> None:
        """A decoder's first position sees only itself: there is nothing to show."""
        seen = self.head_weights(self.passes.capture(self._tried)) > 0
        if int(seen.any(1).sum(1).max()) < 2:
            raise UserError(
                f"in {type(self.module).__name__}, {self.site}, there is no weight on more than "
                'one item: show another row or layer. Decoders read the last row (query="last"); a '
                "layer with a sliding window sees only the positions right before it."
            )

    @property
    def route(self) -> str:
        """How proposals are computed: "row", "tail" or "whole" (`site_passes`)."""
        return self.passes.route

    @property
    def unknown(self) -> str:
        """The token that stands for a masked item, such as "[MASK]"."""
        return str(self.texts.tokenizer.convert_ids_to_tokens(self.texts.unknown))

    @property
    def described(self) -> dict[str, Any]:
        """What the manifest says of the model beside its site, such as its prompt."""
        return self.texts.described(self.classes)

    def __repr__(self) -> str:
        return f"<{type(self.module).__name__}: {self.site}>"

    # The three verbs.

    def encode(self, batch: Batch) -> SiteStates:
        """Run the model up to the attention that is shown."""
        return self.passes.capture(self.positions(batch))

    def attend(self, states: States) -> Tensor:
        """The shown weights (B, T)."""
        return self.shown_weights(self.head_weights(states))

    def decode(self, states: States, weights: Tensor) -> Tensor:
        """Logits with the shown weights given to every head, at the head's own sum over items."""
        several = weights if weights.dim() == 3 else weights[:, None]
        logits = self.decode_heads(states, given_to_heads(several, self.head_weights(states)))
        return logits if weights.dim() == 3 else logits[:, 0]

    # Heads, and what stands apart.

    def head_weights(self, states: States) -> Tensor:
        """(B, H, T): the weight of each shown head on each item."""
        own = site_states(states)
        return own.layout.item_weights(own.own[:, self.passes.heads])

    def shown_weights(self, heads: Tensor) -> Tensor:
        """(..., H, T) -> (..., T): what the heat map shows."""
        return self.site.shown_weights(self._by_head(heads))

    def _by_head(self, rows: Tensor) -> Tensor:
        """Where every row of a head is shown, (..., H * S, T), their mean: (..., H, T)."""
        if self.site.query != "mean" or self.site.layer == "rollout":
            return rows
        heads = 1 if isinstance(self.site.heads, int) else self.heads
        return rows.reshape(*rows.shape[:-2], heads, -1, rows.shape[-1]).mean(-2)

    def decode_heads(self, states: States, heads: Tensor) -> Tensor:
        """(B, P, H, T) -> logits (B, P, C)."""
        own = site_states(states)
        chosen = own.own[:, self.passes.heads]
        if not heads.requires_grad:
            # Weights that are fixed fix what stands apart and the shares within items, too.
            chosen = chosen.detach()
        proposed = own.layout.position_weights(chosen, heads.to(chosen.dtype))
        return self._decode_positions(own, proposed)

    def weights_apart(self, states: States) -> dict[str, Tensor]:
        """The weight (B, H) of every special token, and of the sink if there is one."""
        own = site_states(states)
        return own.layout.weights_apart(own.own[:, self.passes.heads])

    def decode_without_apart(self, states: States) -> Tensor:
        """Logits (B, C) with the weights of special tokens and sinks given to the items."""
        own = site_states(states)
        proposed = own.layout.without_apart(own.own[:, self.passes.heads])
        return self._decode_positions(own, proposed[:, None])[:, 0]

    def proposal_bytes(self, states: States) -> int:
        """The bytes kept for a gradient per document and proposal."""
        own = site_states(states)
        layers = self.layers
        if self.route == "row":
            layers = 1
        elif isinstance(self.passes, SitePasses) and self.route == "tail":
            layers -= self.passes.layer
        return self.passes.sequence_bytes(own) * layers

    def document_bytes(self, length: int, *, gradient: bool) -> int:
        """The memory that a pass over a document of so many items takes, about."""
        width = self.texts.positions_for(length)
        size = position_bytes(self.network.units, self.heads, width, self.network.number_bytes)
        return size * width * (self.layers if gradient else 1)

    def _decode_positions(self, states: SiteStates, proposed: Tensor) -> Tensor:
        """Logits (B, P, C) under weights (B, P, H, S) of the shown heads; others keep theirs."""
        if proposed.shape[2] != states.own.shape[1]:
            every = states.own[:, None].expand(-1, proposed.shape[1], -1, -1).clone()
            every[:, :, self.passes.heads] = proposed
            proposed = every
        return self.passes.logits(states, proposed)

    # Embeddings.

    def embed(self, batch: Batch) -> Tensor:
        """(B, T, K * m): the embeddings of an item's positions, one after another."""
        positions = self.positions(batch)
        return positions.to_items(self.network.embed(positions))

    def contextualise(self, embedded: Tensor, batch: Batch) -> SiteStates:
        """The states for these embeddings of the items; special tokens keep their own."""
        positions = self.positions(batch)
        every = positions.to_positions(embedded, self.network.embed(positions).detach())
        return self.passes.capture(positions, every)

    # Changes of single items.

    @torch.no_grad()
    def logits_without_each(self, batch: Batch) -> Tensor:
        """Logits (B, T, C) of each document without its t-th item; zero on padding."""
        self._check(batch)
        logits = self._logits_of(*without_each(batch.items, batch.mask))
        return placed(logits, batch.mask)

    @torch.no_grad()
    def logits_with_each_replaced(
        self, batch: Batch, replacement: Tensor, *, exact: bool = True
    ) -> Tensor:
        """Logits (B, T, C) with another item in place of each; (B, R, T) gives (B, R, T, C)."""
        self._check(batch)
        several = replacement if replacement.dim() == 3 else replacement[:, None]
        logits = self._logits_of(*with_each_replaced(batch.items, batch.mask, several))
        found = placed(logits, batch.mask[:, None].expand_as(several))
        return found if replacement.dim() == 3 else found[:, 0]

    def _logits_of(self, items: Tensor, mask: Tensor) -> Tensor:
        """Logits (N, C) of many documents, those of similar length together."""
        lengths = self.texts.table.lengths(items, mask)
        order = torch.argsort(lengths, stable=True)
        ascending = lengths[order].tolist()
        result: Tensor | None = None
        for cut in length_cuts(ascending, self._cells(ascending[-1])):
            rows = order[cut]
            width = max(int(mask[rows].sum(1).max()), 1)
            part = self._predict(self._positions(items[rows, :width], mask[rows, :width]))
            if result is None:
                result = part.new_zeros(len(items), part.shape[-1])
            result[rows] = part
        assert result is not None
        return result

    def _cells(self, width: int) -> int:
        """How many positions one call of the model may read."""
        size = position_bytes(self.network.units, self.heads, width, self.network.number_bytes)
        return max(1, CHUNK_BYTES // size)

    def _predict(self, positions: Positions) -> Tensor:
        """Logits (N, C); on the row route the last layer is finished for the shown row alone."""
        if self.route != "row":
            return self.network.logits(positions)
        states = self.passes.capture(positions)
        return self.passes.logits(states, states.own[:, None])[:, 0]

    # Other layers.

    @torch.no_grad()
    def rollout(self, batch: Batch) -> Tensor:
        """(B, T): attention rollout from the shown row to the items, summing to one."""
        site = replace(self.site, layer="rollout")
        states = RolloutPasses(self.network, self.part, site).capture(self.positions(batch))
        return site.shown_weights(states.layout.item_weights(states.own))

    @torch.no_grad()
    def uniform_by_head(self, batch: Batch) -> tuple[Tensor, tuple[tuple[str, ...], ...]]:
        """Logits (B, L, H, C) with uniform weights in one head of one layer, and their names."""
        positions = self.positions(batch)
        found, names = [], []
        for layer in range(self.layers):
            passes = self._passes_at(replace(self.site, layer=layer, heads="mean"))
            states = passes.capture(positions)
            items = states.layout.item_weights(states.own)
            mass = items.sum(-1, keepdim=True) / states.mask.sum(1).clamp(min=1)[:, None, None]
            uniform = (states.mask[:, None] * mass)[:, None]
            own = items[:, None].expand(-1, self.heads, -1, -1)
            alone = torch.eye(self.heads, dtype=torch.bool, device=items.device)
            alone = alone.repeat_interleave(items.shape[1] // self.heads, 1)
            proposed = torch.where(alone[None, :, :, None], uniform, own)
            found.append(
                passes.logits(states, states.layout.position_weights(states.own, proposed))
            )
            names.append(tuple(f"layer {layer}, head {head}" for head in range(self.heads)))
        return torch.stack(found, 1), tuple(names)

    def _passes_at(self, site: Site) -> SitePasses:
        """The passes for a row of another layer or other heads, by their fastest exact route."""
        layer = site.layer_index(self.layers)
        site = replace(site, layer=layer)
        if site not in self._passes:
            passes = SitePasses(self.network, self.stack, layer, site, self.part)
            self._passes[site] = passes.fastest(self._tried)
        return self._passes[site]

    # Documents.

    def corpus(
        self,
        texts: Texts,
        labels: Sequence[str] | None = None,
        *,
        rationales: Sequence[Sequence[bool]] | None = None,
    ) -> Corpus:
        """Texts, or lists of tokens, as documents to be audited (see `corpus_of_texts`)."""
        return corpus_of_texts(
            self.texts,
            texts,
            labels,
            classes=self.classes,
            predict=self._predicted,
            rationales=rationales,
        )

    @torch.no_grad()
    def _predicted(self, documents: Sequence[tuple[str, ...]]) -> list[str]:
        """The predicted class of each document."""
        plain = [Document(str(row), words, 0) for row, words in enumerate(documents)]
        split = EncodedSplit.encode(plain, self.texts.vocabulary, len(self.classes))
        found = [""] * len(plain)
        for cut in evaluation_batches(split.lengths, PREDICTION_CELLS):
            batch = split.batch(cut.tolist()).to(self.network.device)
            chosen = decisions(self._predict(self.positions(batch)))
            for row, index in zip(cut.tolist(), chosen.tolist(), strict=True):
                found[row] = self.classes[index]
        return found

    def positions(self, batch: Batch, *, other_side: bool = False) -> Positions:
        """The documents of a batch as the model reads them, or padded on the other side."""
        self._check(batch)
        left = self.pads_left != other_side
        return self.texts.table.positions(batch.items, batch.mask, left=left)

    def _positions(self, items: Tensor, mask: Tensor) -> Positions:
        return self.texts.table.positions(items, mask, left=self.pads_left)

    def _check(self, batch: Batch) -> None:
        name, device = type(self.module).__name__, self.network.device
        if self.module.training:
            raise UserError(
                f"{name} is in training mode, so dropout is on: call `model.eval()` first."
            )
        if batch.items.device != device:
            raise UserError(
                f"{name} is on the device {device} and the documents are on {batch.items.device}: "
                "move the model to the device of the documents with `model.to(...)`."
            )
        if batch.items.numel() and int(batch.items.max()) >= len(self.texts.table.ids):
            raise UserError(
                f"the documents were not read by the tokenizer of {name}: make the corpus with "
                "`model.corpus(texts, labels)`."
            )


def site_states(states: States) -> SiteStates:
    """The states, which must be those of an attached transformer."""
    if not isinstance(states, SiteStates):
        raise TypeError(f"states of an attached transformer are SiteStates, not {type(states)}")
    return states
