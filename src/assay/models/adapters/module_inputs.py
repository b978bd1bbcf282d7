"""What goes into a tapped module and comes out: word indices, their embedding, and logits.

The items of a batch are indices of assay's vocabulary. A table turns them into those of the module,
so that deleting, copying and replacing items works on batches as for any other model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.data.vocabulary import SPECIALS, UNKNOWN
from assay.errors import UserError
from assay.models.adapters.site import APART, ItemPositions

_NONE = -1  # in the table: the module has no index for this


@dataclass(frozen=True)
class ModuleInputs:
    """The indices that a module reads, for the items of a batch."""

    words: tuple[str, ...] | None  # in the order of assay's indices; None: the same indices
    table: Tensor | None  # assay's index -> the module's index
    pad: int
    device: torch.device

    @classmethod
    def of(
        cls,
        module: nn.Module,
        words: Mapping[str, int] | Sequence[str] | None,
        pad: int,
        unknown: int | None,
    ) -> "ModuleInputs":
        """The inputs of a module with these words, on the module's device."""
        device = next((one.device for one in module.parameters()), torch.device("cpu"))
        if words is None:
            return cls(None, None, pad, device)
        if isinstance(words, str):
            raise UserError("`words` is one text: pass a mapping from words to indices, or a list.")
        index = words if isinstance(words, Mapping) else {w: i for i, w in enumerate(words)}
        # Padding and the unknown word are no words of a document.
        known = {word: place for word, place in index.items() if place not in (pad, unknown)}
        missing = _NONE if unknown is None else unknown
        places = [pad, *[missing] * (len(SPECIALS) - 1), *known.values()]
        return cls(tuple(known), torch.tensor(places, device=device), pad, device)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Indices and mask, (B, T) each. A document without items is read as one padding item."""
        if batch.query is not None or batch.sentences is not None:
            raise UserError(
                "a tapped module reads documents of words: tasks with a question, and documents "
                "of sentences, need an object with `encode`, `attend` and `decode`."
            )
        items, mask = batch.items.to(self.device), batch.mask.to(self.device)
        ids = items if self.table is None else self.table[items]
        if bool((ids == _NONE).any()):
            row = int((ids == _NONE).any(1).nonzero()[0, 0])
            raise UserError(
                f"document '{batch.ids[row]}' has a word that is not in `words`: pass the index "
                "that the module has for such words as `unknown`, or add the word."
            )
        first = torch.arange(mask.shape[1], device=self.device) == 0
        real = mask | (first & ~mask.any(1, keepdim=True))
        return ids.masked_fill(~mask, self.pad), real

    @property
    def unknown(self) -> int | None:
        """The module's index for words that it does not know; None if it has none."""
        place = UNKNOWN if self.table is None else int(self.table[UNKNOWN])
        return None if place == _NONE else place


@dataclass(frozen=True)
class Surroundings:
    """The named positions that a module puts around the items of every document."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # directly after the last item

    def real(self, batch: Batch) -> Tensor:
        """(B, S): True at the items and at the named positions around them."""
        named = len(self.before) + len(self.after)
        columns = torch.arange(batch.mask.shape[1] + named, device=batch.mask.device)
        return columns < (batch.lengths.clamp(min=1) + named)[:, None]

    def positions(self, batch: Batch) -> ItemPositions:
        """Item t stands at position t after those that come before."""
        around = (len(self.before), len(self.after))
        items = torch.arange(batch.mask.shape[1], device=batch.mask.device)
        owner = F.pad(torch.where(batch.mask, items, APART), around, value=APART)
        column = torch.arange(owner.shape[1], device=owner.device)
        ends = around[0] + batch.lengths[:, None].clamp(min=1)
        places = [torch.full_like(ends, number) for number in range(around[0])]
        places += [ends + number for number in range(around[1])]
        apart: dict[str, Tensor] = {}
        for name, place in zip((*self.before, *self.after), places, strict=True):
            here = column == place
            apart[name] = apart[name] | here if name in apart else here
        return ItemPositions(owner, len(items), apart)


@dataclass(frozen=True)
class TextEmbedding:
    """The `nn.Embedding` that reads the words of the documents."""

    module: nn.Embedding
    inputs: ModuleInputs
    start: int  # position of the first item in what it reads
    transposed: bool  # True: it reads (T, B)

    def read(self, batch: Batch) -> Tensor:
        """The embedded items, (B, T, m)."""
        embedded: Tensor = self.module(self.inputs.read(batch)[0])
        return embedded.to(batch.items.device)

    @contextmanager
    def replaced(self, embedded: Tensor, mask: Tensor) -> Iterator[None]:
        """Let the embedding give these vectors (B, T, m) for the items."""
        columns = slice(self.start, self.start + mask.shape[1])

        def put(module: nn.Module, args: Any, output: Tensor) -> Tensor:
            changed = output.transpose(0, 1).clone() if self.transposed else output.clone()
            new, real = embedded.to(output), mask.to(output.device)[..., None]
            changed[:, columns] = torch.where(real, new, changed[:, columns])
            return changed.transpose(0, 1) if self.transposed else changed

        handle = self.module.register_forward_hook(put)
        try:
            yield
        finally:
            handle.remove()


def find_text_embedding(
    module: nn.Module,
    inputs: ModuleInputs,
    batch: Batch,
    before: int,
    run: Callable[[Batch], object],
) -> TextEmbedding | None:
    """The one embedding that reads the indices of the words, once in a pass; None if there is none.

    Embeddings of positions or segments read other indices. Where several embeddings read the words,
    no single vector stands for a word.
    """
    ids, mask = inputs.read(batch)
    found: list[TextEmbedding] = []

    def look(embedding: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        assert isinstance(embedding, nn.Embedding)
        if args[0].dim() != 2:
            return
        for transposed, read in enumerate((args[0], args[0].T)):
            # The positions around the items are embedded with them, or added later.
            start = 0 if read.shape[1] == ids.shape[1] else before
            part = read[:, start : start + ids.shape[1]]
            if part.shape == ids.shape and bool((part == ids)[mask].all()):
                found.append(TextEmbedding(embedding, inputs, start, bool(transposed)))
                return

    parts = [part for part in module.modules() if isinstance(part, nn.Embedding)]
    handles = [part.register_forward_hook(look) for part in parts]
    try:
        run(batch)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if len(found) == 1 else None


def logits_of(output: object, batch: Batch) -> Tensor:
    """What the call of a module returned, as logits (B, C)."""
    if not isinstance(output, Tensor):
        raise UserError(
            f"`call` returned {type(output).__name__}: return the logits alone, for example "
            "call=lambda module, ids, mask: module(ids, mask)[0]."
        )
    if output.dim() not in (1, 2) or len(output) != len(batch.ids):
        raise UserError(
            f"`call` returned the shape {tuple(output.shape)} for {len(batch.ids)} documents: "
            "return one row of logits per document, (B, C), or one logit each, (B,)."
        )
    logits = output if output.dim() == 2 else output[:, None]
    return logits.to(batch.items.device)
