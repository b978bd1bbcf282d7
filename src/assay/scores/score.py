"""The declaration of an attribution score, and what all scores share.

A score gives every item of a document one number. `RunDocuments` is what a job knows about all
documents of a run: costly scores are computed on a sample of the whole run, and replacement words
come from all its documents. Neither may depend on how the documents are divided into jobs, so every
job gets this summary of the whole. The functions below copy rows of a batch, for scores that encode
many changed copies of a document.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.data.batches import Batch
from assay.data.corpus import Document
from assay.models.protocol import Model, SupportsDocumentBytes, SupportsProposalBytes
from assay.models.view import View
from assay.scores.cost import Cost, one_copy_per_item
from assay.statistics.keyed_random import document_keys, uniform

WORDS = 4_096  # drawn from all items of all documents, so that frequent words occur often
# Of one pass. The system gives out and takes back larger blocks anew for every pass, which costs
# more time than larger passes save.
PASS_BYTES = 64 * 2**20
_BYTES_PER_STATE = 4 * 3  # states and their projections, per unit of a state
_KEPT_FOR_GRADIENT = 1  # additional memory of a backward pass, as a multiple


def any_model(model: Model) -> object:
    """Accept every model; most scores apply to all."""
    return model


@dataclass(frozen=True)
class Score:
    """The declaration of a score; lists, documentation and tables are generated from it."""

    name: str
    question: str
    paper: str
    compute: Callable[[View], Tensor]  # (B, T) float64, zero on padding; may raise NotApplicable
    check: Callable[[Model], object] = any_model  # raises NotApplicable without computing
    heads: bool = False  # only of models with several heads; for others it is not even mentioned
    signed: bool = False  # negative values: the item speaks against the prediction
    costly: bool = False  # computed on a sample of the documents of the run
    cost: Cost = one_copy_per_item  # in encoder steps; of costly scores, to choose the sample


@dataclass(frozen=True)
class RunDocuments:
    """The ids and lengths of all documents of a run, and words as frequent as in them."""

    ids: tuple[str, ...]
    lengths: tuple[int, ...]
    words: tuple[str, ...]
    marked: bool = False  # some document has both marked and unmarked items

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "RunDocuments":
        """The summary of these documents."""
        ids = tuple(document.id for document in documents)
        lengths = tuple(len(document.tokens) for document in documents)
        ends = np.cumsum(lengths, dtype=np.int64)
        marked = any(is_partly_marked(document.rationale) for document in documents)
        if not sum(lengths):
            return cls(ids, lengths, ())
        # The pool is the same for every seed; the seed decides what a document draws from it.
        draws = uniform(document_keys(["all documents"], 0, "replacement words"), WORDS)[0]
        positions = (draws * ends[-1]).astype(np.int64)
        rows = np.searchsorted(ends, positions, side="right")
        words = tuple(
            documents[row].tokens[position - ends[row]]
            for row, position in zip(rows.tolist(), positions.tolist(), strict=True)
        )
        return cls(ids, lengths, words, marked)

    @cached_property
    def digest(self) -> str:
        """A hash of everything here, which is part of the identity of every audit job."""
        content = [self.ids, self.lengths, self.words, self.marked]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()

    def order(self, seed: int) -> NDArray[np.int64]:
        """The rows of all documents by their keys, in which samples are taken."""
        return np.argsort(document_keys(self.ids, seed, "sample"), kind="stable")

    def sample(self, count: int, seed: int) -> frozenset[str]:
        """At most `count` ids: those with the smallest keys, the same in every job."""
        return frozenset(self.ids[row] for row in self.order(seed)[:count].tolist())


def is_partly_marked(marks: Sequence[bool] | None) -> bool:
    """True if some items are marked and others are not; only then can scores be compared."""
    return marks is not None and any(marks) and not all(marks)


def rows_per_pass(
    view: View, length: int, *, gradient: bool = False, kept: int | None = None
) -> int:
    """The number of documents of this length that fit into one pass of the model.

    `kept` is how many numbers the model keeps per item, with a gradient if there is one; None:
    states and their projections.
    """
    if kept is not None:
        needed = length * 4 * kept
    elif isinstance(view.model, SupportsDocumentBytes):
        needed = view.model.document_bytes(length, gradient=gradient)
    elif isinstance(view.model, SupportsProposalBytes):
        needed = view.model.proposal_bytes(view.states)
    else:
        state = view.states.items.shape[-1] * _BYTES_PER_STATE
        needed = length * state * (1 + _KEPT_FOR_GRADIENT * gradient)
    return max(1, PASS_BYTES // max(1, needed))


def take_rows(batch: Batch, rows: Tensor) -> Batch:
    """A batch of these rows, each as often as it is listed."""
    return batch.take(rows)


def repeat_each(batch: Batch, times: int) -> Batch:
    """Each document several times, its copies side by side."""
    rows = torch.arange(len(batch.ids), device=batch.items.device)
    return take_rows(batch, rows.repeat_interleave(times))


def repeat_batch(batch: Batch, times: int) -> Batch:
    """The whole batch, repeated."""
    return take_rows(batch, torch.arange(len(batch.ids), device=batch.items.device).repeat(times))
