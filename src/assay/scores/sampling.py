"""What must be known of all documents of a run, when a job holds only some of them?

Costly scores are for a sample of the whole run, and replacement words come from the whole corpus.
Neither may depend on how the documents are cut into jobs, so every job is told of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.corpora.corpus import Document
from assay.measures.chance import document_keys, uniform

WORDS = 4_096  # drawn from all items of all documents, so that frequent words are there often


@dataclass(frozen=True)
class Whole:
    """The names of all documents, and words as frequent as they are in them."""

    ids: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "Whole":
        ends = np.cumsum([len(document.tokens) for document in documents], dtype=np.int64)
        ids = tuple(document.id for document in documents)
        if not len(ends) or not ends[-1]:
            return cls(ids, ())
        # The same pool for every seed: what a document draws from it is what the seed decides.
        lots = uniform(document_keys(["all documents"], 0, "replacement words"), WORDS)[0]
        places = (lots * ends[-1]).astype(np.int64)
        rows = np.searchsorted(ends, places, side="right")
        words = tuple(
            documents[row].tokens[place - ends[row]]
            for row, place in zip(rows.tolist(), places.tolist(), strict=True)
        )
        return cls(ids, words)

    def sample(self, count: int, seed: int) -> frozenset[str]:
        """At most so many names: those with the smallest keys, whoever asks."""
        keys = document_keys(self.ids, seed, "sample")
        return frozenset(self.ids[row] for row in np.argsort(keys, kind="stable")[:count].tolist())
