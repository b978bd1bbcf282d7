"""What must be known of all documents of a run, when a job holds only some of them?

Costly scores are for a sample of the whole run, and replacement words come from the whole corpus.
Neither may depend on how the documents are cut into jobs, so every job is told of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.corpora.corpus import Document
from assay.measures.chance import document_keys, uniform

SAMPLE = 100  # documents of a run on which costly scores are taken, unless told otherwise
WORDS = 4_096  # drawn from all items of all documents, so that frequent words are there often
SQUARED_ITEMS = 4_000_000  # costly scores grow with the square: 100 documents of 200 items


@dataclass(frozen=True)
class Whole:
    """The names of all documents, and words as frequent as they are in them."""

    ids: tuple[str, ...]
    lengths: tuple[int, ...]
    words: tuple[str, ...]
    marked: bool = False  # does any have both items that people marked and items they did not?

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "Whole":
        ids = tuple(document.id for document in documents)
        lengths = tuple(len(document.tokens) for document in documents)
        ends = np.cumsum(lengths, dtype=np.int64)
        marked = any(is_mixed(document.rationale) for document in documents)
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


def is_mixed(marks: Sequence[bool] | None) -> bool:
    """Are some items marked and others not? Only such a document can tell scores apart."""
    return marks is not None and any(marks) and not all(marks)
