"""How strongly does each word alone speak for a class, to a model that only counts words?

A logistic regression on which words a training document holds (L1, balanced classes), as in the
program of Jain & Wallace 2019. A word's attention logit is the size of its coefficient; of more
than two classes, the largest over the classes, each fitted against all others. Stop words get
none. Nothing is tuned: the penalty is scikit-learn's default.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.linear_model import LogisticRegression

from assay.corpora.corpus import Document
from assay.text import SPECIALS, Vocabulary

Floats = NDArray[np.float64]

MOST_CLASSES = 50  # one fit each: beyond, a corpus of questions would take hours


@dataclass(frozen=True, eq=False)
class WordOdds:
    """Attention logits (V,) by word index; -inf for stop words, 0 for words nobody counted."""

    logits: Floats
    unfit: str = ""  # why there are none; then `logits` is empty

    @cached_property
    def digest(self) -> str:
        """What makes two of them the same."""
        return hashlib.sha256(self.logits.tobytes() + self.unfit.encode()).hexdigest()


def fit_word_odds(train: Sequence[Document], vocabulary: Vocabulary) -> WordOdds:
    """From a training split alone; of a pair only the text that attention runs over."""
    labels = np.array([document.label for document in train])
    classes = np.unique(labels)
    if not 2 <= len(classes) <= MOST_CLASSES:
        return WordOdds(np.zeros(0), (
            f"the word model is fitted once per class, for 2 to {MOST_CLASSES} classes; the "
            f"training split has {len(classes)}"
        ))  # fmt: skip
    if any(document.words is not None for document in train):
        return WordOdds(np.zeros(0), "log-odds are of words, and here the items are sentences")
    held = words_held(train, vocabulary)
    told_apart = classes[1:] if len(classes) == 2 else classes
    sizes = np.abs([_coefficients(held, labels == one) for one in told_apart]).max(axis=0)
    sizes[_stop_words(vocabulary)] = -np.inf
    return WordOdds(sizes)


def words_held(documents: Sequence[Document], vocabulary: Vocabulary) -> csr_matrix:
    """(N, V): 1 where the document holds the word, however often; unknown words are nobody's."""
    rows = [np.unique(vocabulary.encode(document.tokens)) for document in documents]
    rows = [row[row >= len(SPECIALS)] for row in rows]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows)
    shape = (len(rows), len(vocabulary))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)


def _coefficients(held: csr_matrix, is_one: NDArray[np.bool_]) -> Floats:
    # The solver visits words in a random order: seeded, so that a resumed run fits the same.
    model = LogisticRegression(
        l1_ratio=1.0, solver="liblinear", class_weight="balanced", random_state=0
    )
    coefficients: Floats = model.fit(held, is_one).coef_[0]
    return coefficients


def _stop_words(vocabulary: Vocabulary) -> list[int]:
    words = enumerate(vocabulary.words)
    return [index for index, word in words if word.lower() in ENGLISH_STOP_WORDS]
