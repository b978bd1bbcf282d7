"""The forward passes of a tapped module: as it is, watched, and with other weights at the site."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.errors import UserError
from assay.models.adapters.interception import AttentionCall, Change, OutputBytes, intercept
from assay.models.adapters.module_inputs import (
    ModuleInputs,
    Surroundings,
    TextEmbedding,
    find_text_embedding,
    logits_of,
)
from assay.models.adapters.site import ItemPositions, QueryRows
from assay.models.adapters.sites import SeenAttention, SeenSites, choose_site, seen_sites
from assay.models.protocol import States

Call = Callable[[nn.Module, Tensor, Tensor], Tensor]
CHUNK_BYTES = 2**28  # of all tensors that the proposals of one forward pass compute


@dataclass(frozen=True, kw_only=True)
class TappedStates(States):
    """What is kept of a forward pass: the weights at the site and how to run it again."""

    batch: Batch
    positions: ItemPositions
    own: Tensor  # (B, H, S) the shown rows of the chosen heads
    values: Tensor | None  # (B, H, S, d)
    embedded: Tensor | None  # (B, T, m) put in place of the embedding's output
    document_bytes: int  # of all tensors that the module computes for one document


class ModulePasses:
    """A module, how it is called, and the attention computation on trial."""

    def __init__(
        self,
        module: nn.Module,
        call: Call,
        inputs: ModuleInputs,
        around: Surroundings,
        choice: int | str | None,
        rows: QueryRows,
    ) -> None:
        self.module = module
        self.call = call
        self.inputs = inputs
        self.around = around
        self.choice = choice
        self.rows = rows
        self.seen_sites = SeenSites()
        self.seen: SeenAttention | None = None
        self.text: TextEmbedding | None = None
        self.heads = 1  # that were chosen; known after the first pass
        self.masks_later: bool | None = None  # whether it masks and normalizes after the softmax
        self.measured = (1, 1)  # items of the longest document so far, and its bytes

    def sites(self, batch: Batch) -> SeenSites:
        """The attention computations of one pass; the call may return anything."""

        def run(read: Batch) -> object:
            return self.call(self.module, *self.inputs.read(read))

        with torch.no_grad():
            return seen_sites(self.module, run, batch)

    def look(self, batch: Batch) -> SeenAttention:
        """The computation on trial, and the embedding of the words: found once, and then kept."""
        if self.seen is None:
            with torch.no_grad():
                self.seen_sites = self.sites(batch)
                name = type(self.module).__name__
                self.seen = choose_site(self.seen_sites, self.choice, name)
                self.text = find_text_embedding(
                    self.module, self.inputs, batch, len(self.around.before), self.logits
                )
        return self.seen

    def alike(self, batch: Batch) -> Iterator["ModulePasses"]:
        """All heads of every computation that has as many heads and positions as the site."""
        own = self.look(batch)
        rows = QueryRows(replace(self.rows.site, heads="mean"))
        for one in self.seen_sites.possible:
            if one.heads_and_items == own.heads_and_items:
                yield ModulePasses(
                    self.module, self.call, self.inputs, self.around, one.index, rows
                )

    def document_bytes(self, length: int) -> int:
        """The bytes of a document's pass, at most, from the longest one that was measured."""
        measured, size = self.measured
        ratio = length / measured
        return int(size * max(ratio, ratio**2)) + 1

    def times_met(self, batch: Batch) -> int:
        """How often the site is met in one forward pass."""
        seen, met = self.look(batch), []
        others = {one.index for one in self.seen_sites} - {
            one.index for one in self.seen_sites.possible
        }
        chosen = {seen.index} if isinstance(self.choice, int) else None

        def count(call: AttentionCall) -> None:
            same = (call.path, call.kind) == (seen.path, seen.kind) and call.index not in others
            if same and (chosen is None or call.index in chosen):
                met.append(call.index)

        self.logits(batch, change=count)
        return len(met)

    def capture(self, batch: Batch, embedded: Tensor | None = None) -> TappedStates:
        """One pass in which the weights at the site are kept; `embedded` (B, T, m) enters it."""
        seen = self.look(batch)
        assert seen.axes is not None
        found: list[AttentionCall] = []

        def keep(call: AttentionCall) -> None:
            same = (call.index, call.path, call.kind) == (seen.index, seen.path, seen.kind)
            if same and call.weights.dim() == len(seen.shape):
                found.append(call)

        with OutputBytes() as output:
            self.logits(batch, embedded, keep)
        if not found:
            raise UserError(
                f"attention computation {seen.index} ({seen.kind}) was not met with "
                f"{len(batch.ids)} documents of up to {batch.mask.shape[1]} items: the module must "
                "compute its attention in the same order for every batch."
            )
        weights = seen.axes.canonical(found[0].weights).to(batch.mask.device)
        real = self.around.real(batch)
        if weights.shape[-1] != real.shape[1]:
            raise UserError(
                f"the site has {weights.shape[-1]} positions where the documents have "
                f"{batch.mask.shape[1]} items and {real.shape[1] - batch.mask.shape[1]} positions "
                "around them are named: name what the module puts around the items with `before` "
                'and `after`, for example before=["[CLS]"].'
            )
        self.heads = len(weights[0, self.rows.site.chosen_heads])
        own, values = self.rows.read(weights, real), found[0].values
        size = max(1, output.count // max(1, len(batch.ids)))
        self.measured = max(self.measured, (batch.mask.shape[1], size))
        text = embedded if embedded is not None or self.text is None else self.text.read(batch)
        states = TappedStates(
            own.new_zeros(*batch.mask.shape, 0) if text is None else text.to(own.dtype),
            batch.mask,
            batch=batch,
            positions=self.around.positions(batch),
            own=own,
            values=None if values is None else values[:, self.rows.site.chosen_heads],
            embedded=embedded,
            document_bytes=size,
        )
        return self._as_used(states, real)

    def _as_used(self, states: TappedStates, real: Tensor) -> TappedStates:
        """The states with the weights that the module uses, if it masks after the softmax.

        Many modules set the weights of padding to zero and normalize again. That is not believed
        but tried once: these weights, put in place, must give the module's own logits.
        """
        if bool((states.own * ~real[:, None] == 0).all()):
            return states
        left = states.own * real[:, None]
        used = replace(states, own=left / left.sum(-1, keepdim=True))
        if self.masks_later is None:
            with torch.no_grad():
                own = self.logits(states.batch, states.embedded)
                found = self.decode(used, used.own[:, None])[:, 0]
            self.masks_later = torch.allclose(found, own, rtol=1e-4, atol=1e-6)
        return used if self.masks_later else states

    def decode(self, states: TappedStates, proposals: Tensor) -> Tensor:
        """Logits (B, P, C) with the rows (B, P, H, S) at the site, many proposals in one pass."""
        documents, count = proposals.shape[:2]
        rows = torch.arange(documents).repeat_interleave(count)
        flat = proposals.flatten(0, 1)
        size = max(1, CHUNK_BYTES // states.document_bytes)
        logits = [
            self._decode_rows(states, rows[start : start + size], flat[start : start + size])
            for start in range(0, len(rows), size)
        ]
        return torch.cat(logits).view(documents, count, -1)

    def _decode_rows(self, states: TappedStates, rows: Tensor, proposals: Tensor) -> Tensor:
        seen, batch = self.look(states.batch), states.batch.take(rows)
        real = self.around.real(batch)

        def put(call: AttentionCall) -> Tensor | None:
            if call.index != seen.index:
                return None
            assert seen.axes is not None
            own = seen.axes.canonical(call.weights)
            changed = self.rows.put(own, real.to(own.device), proposals.to(own))
            return seen.axes.original(changed, call.weights.shape)

        embedded = None if states.embedded is None else states.embedded[rows]
        return self.logits(batch, embedded, put)

    def logits(
        self, batch: Batch, embedded: Tensor | None = None, change: Change | None = None
    ) -> Tensor:
        """Logits (B, C) of the module, with embeddings and attention replaced where asked."""
        ids, mask = self.inputs.read(batch)

        def run() -> Tensor:
            return logits_of(self.call(self.module, ids, mask), batch)

        if embedded is not None:
            assert self.text is not None
            with self.text.replaced(embedded, batch.mask):
                return intercept(self.module, run, change) if change else run()
        return intercept(self.module, run, change) if change else run()
