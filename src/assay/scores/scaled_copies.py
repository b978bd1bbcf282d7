"""The log-odds of copies of documents with scaled items, in passes of bounded memory.

A copy of a document multiplies the embedding of each item by a number: 0 if the item is absent,
1 if it is present. LIME, kernel SHAP and integrated gradients read many copies. Documents of one
length are read together and without padding, so that the numbers of a document do not depend on
the rest of its batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.models.protocol import SupportsScaledItems
from assay.models.view import View
from assay.scores.gradients import EmbeddingModel, embedding_model, log_odds, predicted_log_odds
from assay.scores.score import repeat_each, rows_per_pass, take_rows


@dataclass(frozen=True)
class EqualDocuments:
    """Documents of one length, without padding, and the view they are taken from."""

    view: View
    rows: Tensor  # (B,) of the view's batch

    @property
    def length(self) -> int:
        """The number of items of each document."""
        return int(self.view.batch.lengths[self.rows[0]])

    @property
    def classes(self) -> Tensor:
        """The predicted classes (B,)."""
        return self.view.decisions[self.rows]

    @property
    def batch(self) -> Batch:
        """The documents without padding."""
        batch, length = take_rows(self.view.batch, self.rows), self.length
        imposed = None if batch.imposed is None else batch.imposed[:, :length]
        items, mask = (part[:, :length].contiguous() for part in (batch.items, batch.mask))
        return replace(batch, items=items, mask=mask, imposed=imposed)

    def take(self, chosen: Tensor) -> "EqualDocuments":
        """Some of the documents, each as often as it is listed."""
        return EqualDocuments(self.view, self.rows[chosen])

    @torch.no_grad()
    def log_odds(self, scales: Tensor) -> Tensor:
        """Log-odds (B, S) of the predicted class in copies with these scales (B, S, T)."""
        odds = torch.empty(scales.shape[:2], dtype=torch.float64, device=scales.device)
        for rows, copies in self._passes(scales, gradient=False):
            odds[rows, copies] = self._odds(rows, scales[rows, copies])
        return odds

    def slopes(self, scales: Tensor) -> Tensor:
        """The derivatives (B, S, T) of the log-odds with respect to the scales."""
        slopes = torch.empty(scales.shape, dtype=torch.float64, device=scales.device)
        for rows, copies in self._passes(scales, gradient=True):
            part = scales[rows, copies].clone().requires_grad_()
            with torch.enable_grad():
                odds = self._odds(rows, part)
                (slopes[rows, copies],) = torch.autograd.grad(odds.sum(), part)
        return slopes

    def _passes(self, scales: Tensor, *, gradient: bool) -> Iterator[tuple[slice, slice]]:
        """Documents and copies that fit into one pass: whole documents, or parts of one."""
        documents, copies, length = scales.shape
        model = self.view.model
        kept = None
        if isinstance(model, SupportsScaledItems):
            kept = model.kept_per_scaled_item(gradient=gradient)
        most = rows_per_pass(self.view, length, gradient=gradient, kept=kept)
        several, part = max(1, most // copies), min(copies, most)
        for first in range(0, documents, several):
            for start in range(0, copies, part):
                yield slice(first, first + several), slice(start, start + part)

    def _odds(self, rows: slice, scales: Tensor) -> Tensor:
        model, batch = embedding_model(self.view.model), self.batch.rows(rows)
        classes = self.classes[rows].repeat_interleave(scales.shape[1])
        if isinstance(model, SupportsScaledItems):
            logits = model.logits_with_scaled_items(batch, scales)
            return log_odds(logits.flatten(0, 1), classes).view(scales.shape[:2])
        return _reencoded_odds(model, batch, classes, scales)


def _reencoded_odds(model: EmbeddingModel, batch: Batch, classes: Tensor, scales: Tensor) -> Tensor:
    """Log-odds (B, S) by one encoder pass per copy."""
    embedded = model.embed(batch).detach()
    changed = embedded[:, None] * scales[..., None].to(embedded.dtype)
    copies = repeat_each(batch, scales.shape[1])
    return predicted_log_odds(model, changed.flatten(0, 1), copies, classes).view(scales.shape[:2])


def equal_documents(view: View) -> Iterator[EqualDocuments]:
    """The documents of a view that have items, by length."""
    lengths = view.batch.lengths
    for length in sorted(set(lengths.tolist())):
        if length:
            yield EqualDocuments(view, (lengths == length).nonzero()[:, 0])
