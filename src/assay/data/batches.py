"""Batches: padded tensors of documents, and which documents form a batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from assay.data.corpus import Corpus, Document
from assay.data.text import item_words
from assay.data.vocabulary import FIRST_ROW, PAD, SentenceTable, Vocabulary, length_cuts

LENGTH_NOISE = 0.1  # Jain & Wallace: relative noise on lengths before sorting by them


@dataclass(frozen=True)
class Batch:
    """Documents as padded tensors. Models add start and end markers themselves."""

    ids: tuple[str, ...]
    items: Tensor  # (B, T) word indices or rows of `sentences`, PAD where the mask is False
    mask: Tensor  # (B, T) True at real items
    labels: Tensor  # (B,)
    query: Tensor | None = None  # (B, Q)
    query_mask: Tensor | None = None
    allowed: Tensor | None = None  # (B, C) True where the class is a candidate
    imposed: Tensor | None = None  # (B, T) weights used instead of attention
    sentences: SentenceTable | None = None  # of the whole split, if items are sentences

    @property
    def lengths(self) -> Tensor:
        """Number of items of each document, (B,)."""
        return self.mask.sum(1)

    def to(self, device: torch.device | str) -> "Batch":
        """Move all tensors to a device."""
        table = None if self.sentences is None else self.sentences.to(device)
        return replace(self._map(lambda tensor: tensor.to(device)), sentences=table)

    def rows(self, rows: slice) -> "Batch":
        """The documents in these rows."""
        return replace(self._map(lambda tensor: tensor[rows]), ids=self.ids[rows])

    def take(self, rows: Tensor) -> "Batch":
        """The documents in these rows, each as often as it is listed."""
        ids = tuple(self.ids[row] for row in rows.tolist())
        return replace(self._map(lambda tensor: tensor[rows.to(tensor.device)]), ids=ids)

    def without(self, position: int) -> "Batch":
        """Delete the item at `position` from every document; shorter documents stay as they are."""
        long_enough = self.mask[:, position]
        columns = torch.arange(self.items.shape[1], device=self.items.device)
        source = columns + ((columns >= position) & long_enough[:, None])
        items = torch.nn.functional.pad(self.items, (0, 1), value=PAD).gather(1, source)
        mask = torch.nn.functional.pad(self.mask, (0, 1)).gather(1, source)
        return replace(self, items=items, mask=mask)

    def _map(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        def change_optional(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else change(tensor)

        return Batch(
            self.ids,
            change(self.items),
            change(self.mask),
            change(self.labels),
            change_optional(self.query),
            change_optional(self.query_mask),
            change_optional(self.allowed),
            change_optional(self.imposed),
            self.sentences,
        )


@dataclass(frozen=True)
class JoinedRows:
    """Rows of different lengths in one vector: a tensor for each would need five times as much."""

    values: Tensor  # (total,)
    starts: np.ndarray  # (N + 1,) row i is values[starts[i] : starts[i + 1]]

    @classmethod
    def encode(cls, rows: Sequence[Sequence[str]], vocabulary: Vocabulary) -> "JoinedRows":
        """The word indices of each row."""
        words = chain.from_iterable(map(vocabulary.encode, rows))
        values = np.fromiter(words, dtype=np.int64, count=sum(map(len, rows)))
        return cls.cut(torch.from_numpy(values), rows)

    @classmethod
    def cut(cls, values: Tensor, rows: Sequence[Sequence[str]]) -> "JoinedRows":
        """Values of all rows, cut at the lengths of the rows."""
        return cls(values, np.cumsum([0, *map(len, rows)], dtype=np.int64))

    def __getitem__(self, row: int) -> Tensor:
        return self.values[self.starts[row] : self.starts[row + 1]]


@dataclass(frozen=True)
class EncodedSplit:
    """A split as word indices, encoded once: an epoch then only pads and stacks."""

    documents: tuple[Document, ...]
    items: JoinedRows
    queries: JoinedRows | None
    classes: int
    imposed: list[Tensor] | None = None  # weights per document, used instead of attention
    sentences: SentenceTable | None = None
    pool: Tensor | None = None  # items that may replace others

    @classmethod
    def of(cls, corpus: Corpus, documents: Sequence[Document]) -> "EncodedSplit":
        """Encode documents in the vocabulary and with the classes of a corpus."""
        return cls.encode(documents, corpus.vocabulary, len(corpus.classes))

    @classmethod
    def encode(
        cls,
        documents: Sequence[Document],
        vocabulary: Vocabulary,
        classes: int,
        pool: Sequence[str] = (),
    ) -> "EncodedSplit":
        """Encode documents, and a pool of items that may replace others."""
        if documents and documents[0].words is not None:
            return cls._encode_sentences(documents, vocabulary, classes, pool)
        items = JoinedRows.encode([document.tokens for document in documents], vocabulary)
        queries = None
        if any(document.query for document in documents):
            queries = JoinedRows.encode([document.query for document in documents], vocabulary)
        encoded_pool = torch.tensor(vocabulary.encode(pool), dtype=torch.long)
        return cls(tuple(documents), items, queries, classes, pool=encoded_pool)

    @classmethod
    def _encode_sentences(
        cls,
        documents: Sequence[Document],
        vocabulary: Vocabulary,
        classes: int,
        pool: Sequence[str],
    ) -> "EncodedSplit":
        """Items are rows of a table: the sentences of all documents in order, then the pool's."""
        sentences = [words for document in documents for words in document.words or ()]
        table = SentenceTable.encode([*sentences, *map(item_words, pool)], vocabulary)
        rows = torch.arange(FIRST_ROW, len(table.starts) - 1)
        own, encoded_pool = torch.split(rows, [len(sentences), len(pool)])
        items = JoinedRows.cut(own, [document.tokens for document in documents])
        return cls(tuple(documents), items, None, classes, sentences=table, pool=encoded_pool)

    @property
    def lengths(self) -> np.ndarray:
        """Number of items of each document."""
        return np.diff(self.items.starts)

    def batch(self, rows: Sequence[int]) -> Batch:
        """Pad the documents in these rows into one batch."""
        chosen = [self.documents[row] for row in rows]
        items, mask = _pad([self.items[row] for row in rows])
        query = query_mask = allowed = None
        if self.queries is not None:
            query, query_mask = _pad([self.queries[row] for row in rows])
        if any(document.allowed is not None for document in chosen):
            allowed = torch.stack([_candidates(document, self.classes) for document in chosen])
        labels = torch.tensor([document.label for document in chosen], dtype=torch.long)
        ids = tuple(document.id for document in chosen)
        imposed = None if self.imposed is None else _pad([self.imposed[row] for row in rows])[0]
        return Batch(ids, items, mask, labels, query, query_mask, allowed, imposed, self.sentences)


def training_batches(lengths: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Rows of each batch of an epoch: sort by noisy length, cut into batches, shuffle these."""
    noisy = lengths * (1 + rng.uniform(-LENGTH_NOISE, LENGTH_NOISE, len(lengths)))
    order = np.argsort(noisy, kind="stable")
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def evaluation_batches(lengths: np.ndarray, cells: int, power: int = 1) -> list[np.ndarray]:
    """Rows of each batch: documents of similar length, at most `cells` padded items per batch.

    The result depends on the lengths only. With `power` 2 a document of length T counts as T**2
    cells, for work whose cost grows with the square of the length.
    """
    order = np.argsort(lengths, kind="stable")
    return [order[cut] for cut in length_cuts(lengths[order].tolist(), cells, power)]


def _pad(sequences: list[Tensor]) -> tuple[Tensor, Tensor]:
    items = pad_sequence(sequences, batch_first=True, padding_value=PAD)
    lengths = torch.tensor([len(s) for s in sequences])
    return items, torch.arange(items.shape[1]) < lengths[:, None]


def _candidates(document: Document, classes: int) -> Tensor:
    row = torch.full((classes,), document.allowed is None)
    if document.allowed is not None:
        row[list(document.allowed)] = True
    return row
