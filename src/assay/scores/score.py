"""What is a score: one number per item from some measure of importance.

What must be known of all documents of a run, when a job holds only some of them?

Costly scores are for a sample of the whole run, and replacement words come from the whole corpus.
Neither may depend on how the documents are cut into jobs, so every job is told of the whole.

How many changed copies of a document are encoded in one pass, and how are they made?
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.data.corpus import Document
from assay.models.protocol import Model
from assay.models.view import View
from assay.statistics.keyed_random import document_keys, uniform


def any_model(model: Model) -> object:
    """Most scores can be asked of every model."""
    return model


@dataclass(frozen=True)
class Score:
    """A measure declares itself; lists, docs and tables are made from this."""

    name: str
    question: str
    paper: str
    compute: Callable[[View], Tensor]  # (B, T) float64, zero on padding; or raises NotApplicable
    check: Callable[[Model], object] = any_model  # raises NotApplicable without computing
    signed: bool = False  # below zero: the item speaks against the prediction
    costly: bool = False  # too dear for all: taken on a sample of the whole run's documents


WORDS = 4_096  # drawn from all items of all documents, so that frequent words are there often
SQUARED_ITEMS = 4_000_000  # costly scores grow with the square: 100 documents of 200 items


@dataclass(frozen=True)
class RunDocuments:
    """The names of all documents, and words as frequent as they are in them."""

    ids: tuple[str, ...]
    lengths: tuple[int, ...]
    words: tuple[str, ...]
    marked: bool = False  # does any have both items that people marked and items they did not?

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "RunDocuments":
        ids = tuple(document.id for document in documents)
        lengths = tuple(len(document.tokens) for document in documents)
        ends = np.cumsum(lengths, dtype=np.int64)
        marked = any(is_partly_marked(document.rationale) for document in documents)
        if not sum(lengths):
            return cls(ids, lengths, ())
        # The same pool for every seed: what a document draws from it is what the seed decides.
        lots = uniform(document_keys(["all documents"], 0, "replacement words"), WORDS)[0]
        places = (lots * ends[-1]).astype(np.int64)
        rows = np.searchsorted(ends, places, side="right")
        words = tuple(
            documents[row].tokens[place - ends[row]]
            for row, place in zip(rows.tolist(), places.tolist(), strict=True)
        )
        return cls(ids, lengths, words, marked)

    def sample(self, count: int, seed: int) -> frozenset[str]:
        """At most so many names: those with the smallest keys, whoever asks.

        It ends early where the documents would be too long together, rather than prefer short
        ones: fewer, but as they come.
        """
        order = np.argsort(document_keys(self.ids, seed, "sample"), kind="stable")[:count]
        costs = np.cumsum(np.array(self.lengths, dtype=np.int64)[order] ** 2)
        return frozenset(self.ids[row] for row in order[costs <= SQUARED_ITEMS].tolist())


def is_partly_marked(marks: Sequence[bool] | None) -> bool:
    """Are some items marked and others not? Only such a document can tell scores apart."""
    return marks is not None and any(marks) and not all(marks)


PASS_BYTES = 16 * 2**20  # of states in one pass; convolutions unfold to some ten times as much
_BYTES_PER_STATE = 4 * 8  # input, gates, state and cell of one item, per unit of its state
_KEPT_FOR_GRADIENT = 2  # what a backward pass needs on top of that


def rows_per_pass(view: View, length: int, *, gradient: bool = False) -> int:
    """Documents of this length that fit into one pass of this model."""
    state = view.states.items.shape[-1] * _BYTES_PER_STATE
    needed = length * state * (1 + _KEPT_FOR_GRADIENT * gradient)
    return max(1, PASS_BYTES // max(1, needed))


def take_rows(batch: Batch, rows: Tensor) -> Batch:
    """A batch of these rows, each as often as it is named."""
    taken: dict[str, Any] = {name: value[rows] for name, value in _tensors(batch)}
    return replace(batch, ids=tuple(batch.ids[row] for row in rows.tolist()), **taken)


def repeat_batch(batch: Batch, times: int) -> Batch:
    """The whole batch so many times, one after the other."""
    return take_rows(batch, torch.arange(len(batch.ids), device=batch.items.device).repeat(times))


def single_document(batch: Batch, row: int) -> Batch:
    """One document without padding: its numbers cannot depend on the company it keeps."""
    one = batch.rows(slice(row, row + 1))
    length = int(one.mask.sum())
    return replace(one, items=one.items[:, :length], mask=one.mask[:, :length])


def _tensors(batch: Batch) -> list[tuple[str, Tensor]]:
    named = [(field.name, getattr(batch, field.name)) for field in fields(batch)]
    return [(name, value) for name, value in named if isinstance(value, Tensor)]
