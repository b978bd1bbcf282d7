"""Documents without some of their items, read again by the model.

There are three kinds of erasure:

- `deletion`: the items are deleted and the others move together;
- `mask`: the unknown word takes the place of each item. For a Hugging Face model that is the mask
  token, where its tokenizer has one;
- `replacement`: a random word of the audited documents takes the place of each item. A position
  gets the same word in every copy of a document, so that orders of erasure are compared fairly.

Copies that are equal are read once. A model that offers `logits_of_copies` shares the states of
copies that begin or end alike. Single erasures use the cheap leave-one-out and the cheap
replacement, where the model offers them.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.data.batches import Batch
from assay.data.vocabulary import UNKNOWN
from assay.models.protocol import (
    Model,
    SupportsCopies,
    SupportsReplacement,
    SupportsScaledItems,
)
from assay.models.view import AuditView, NotApplicable, View, predict
from assay.scores.leave_one_out import logits_without_each, may_fade
from assay.scores.replacement import with_unknown_item
from assay.scores.score import rows_per_pass, take_rows
from assay.statistics.divergence import class_probabilities
from assay.statistics.keyed_random import document_keys, uniform

DELETION, MASK, REPLACEMENT = "deletion", "mask", "replacement"
KINDS = (DELETION, MASK, REPLACEMENT)
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Eraser:
    """One kind of erasure of some documents of a view."""

    view: View
    rows: Tensor  # (R,) of the view's batch
    batch: Batch  # these documents
    substitutes: Tensor | None  # (R, T) the item that takes each item's place; None: deletion

    @classmethod
    def of(cls, view: View, kind: str, rows: Tensor) -> "Eraser":
        """The eraser; NotApplicable if the model or the audit lacks what the kind needs."""
        batch = take_rows(view.batch, rows)
        if kind == DELETION:
            return cls(view, rows, batch, None)
        if kind == MASK:
            if getattr(view.model, "unknown", UNKNOWN) is None:
                raise NotApplicable("the model has nothing that stands for an unknown word")
            batch, unknown = with_unknown_item(batch)
            return cls(view, rows, batch, torch.full_like(batch.items, unknown))
        if not isinstance(view, AuditView) or view.replacements is None:
            raise NotApplicable("replacement words are drawn from the corpus, but none was given")
        keys = document_keys(batch.ids, view.seed, "erased items")
        draws = torch.from_numpy(uniform(keys, batch.items.shape[1]))
        pool = view.replacements
        return cls(view, rows, batch, pool[(draws * len(pool)).long().to(pool.device)])

    @property
    def intact(self) -> Floats:
        """The probability of the predicted class, (R,)."""
        return self._decided(self.view.probabilities[self.rows][:, None])[:, 0]

    @torch.no_grad()
    def singles(self) -> Floats:
        """The probability of the predicted class after each item is erased alone, (R, T).

        Meaningless on padding.
        """
        if self.substitutes is None:
            logits = logits_without_each(self.view)[self.rows]
        elif isinstance(self.view.model, SupportsReplacement):
            logits = self._replaced(self.view.model, self.substitutes)
        else:
            return self._singles_by_copies()
        return self._decided(class_probabilities(logits.double()))

    def _replaced(self, model: SupportsReplacement, substitutes: Tensor) -> Tensor:
        """Logits (R, T, C); in long documents of an audit up to faded effects."""
        long = may_fade(self.view)[self.rows]
        places = [rows.nonzero()[:, 0] for rows in (~long, long)]
        parts = [
            model.logits_with_each_replaced(
                take_rows(self.batch, some), substitutes[some], exact=exact
            )
            for some, exact in zip(places, (True, False), strict=True)
            if len(some)
        ]
        return torch.cat(parts)[torch.cat(places).argsort()]

    def _singles_by_copies(self) -> Floats:
        mask = self.batch.mask.cpu().numpy()
        document, item = mask.nonzero()
        kept = mask[document]
        kept[np.arange(len(item)), item] = False
        found = np.zeros(mask.shape)
        found[mask] = self.probabilities(document, kept)
        return found

    def _decided(self, probabilities: Tensor) -> Floats:
        """The predicted class of probabilities (R, P, C): (R, P)."""
        classes = self.view.decisions[self.rows][:, None, None]
        index = classes.expand(-1, probabilities.shape[1], 1)
        return np.asarray(probabilities.gather(2, index)[..., 0].cpu())

    @torch.no_grad()
    def probabilities(self, document: Indices, kept: Flags) -> Floats:
        """The probability (N,) of the predicted class in copies of documents.

        Copy n is of document `document[n]`, and has the items where `kept[n]` (T,) is True.
        """
        if not len(document):
            return np.zeros(0)
        numbers = document.astype(">u4").view(np.uint8).reshape(len(document), -1)
        keys = np.concatenate([numbers, np.packbits(kept, axis=1)], axis=1)
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        document, kept = document[first], kept[first]  # sorted by document
        if isinstance(self.view.model, SupportsCopies):
            order = np.arange(len(document))  # copies of a document together: they begin alike
        else:
            order = np.argsort(kept.sum(1), kind="stable")  # similar lengths: less padding
        found = np.empty(len(document))
        size = rows_per_pass(self.view, kept.shape[1], kept=_kept_per_item(self.view.model))
        for part in np.split(order, range(size, len(order), size)):
            found[part] = self._read(document[part], kept[part])
        return found[place.ravel()]

    def _read(self, document: Indices, kept: Flags) -> Floats:
        rows = torch.from_numpy(document).to(self.rows.device)
        copies = self._copies(rows, torch.from_numpy(kept).to(self.batch.items.device))
        model = self.view.model
        if isinstance(model, SupportsCopies):
            logits = model.logits_of_copies(copies)
        else:
            logits = predict(model, model.encode(copies))
        probabilities = class_probabilities(logits.double())
        classes = self.view.decisions[self.rows[rows]][:, None]
        return np.asarray(probabilities.gather(1, classes)[:, 0].cpu())

    def _copies(self, rows: Tensor, kept: Tensor) -> Batch:
        batch = take_rows(self.batch, rows)
        if self.substitutes is not None:
            items = torch.where(kept, batch.items, self.substitutes[rows]) * batch.mask
            width = int(batch.lengths.max())
            return replace(batch, items=items[:, :width], mask=batch.mask[:, :width])
        count = kept.sum(1)
        width = max(1, int(count.max()))
        source = (~kept).int().argsort(dim=1, stable=True)[:, :width]
        mask = torch.arange(width, device=kept.device) < count[:, None]
        return replace(batch, items=batch.items.gather(1, source) * mask, mask=mask)


def _kept_per_item(model: Model) -> int | None:
    """How many numbers the model keeps per item of a copy; None: its states."""
    if isinstance(model, SupportsCopies) and isinstance(model, SupportsScaledItems):
        return model.kept_per_scaled_item(gradient=False)
    return None
