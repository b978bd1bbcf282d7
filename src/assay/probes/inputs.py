"""Inputs: what a probe reads beside the model, provided by name.

A probe declares its inputs, for example `inputs=("word_odds",)`, and finds them in
`view.inputs`. An input is prepared once per run from the training split, and then bound to the
documents that one job audits.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from assay.data.corpus import Document
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.models.view import AuditView, View
from assay.plugins import registry
from assay.scores.score import RunDocuments
from assay.statistics.keyed_random import document_keys

Floats = NDArray[np.float64]

SAMPLED_DOCUMENTS = 60
MIN_ITEMS = 2  # a single item has only one possible weight
MOST_CLASSES = 50  # one fit each: a corpus of questions with more would take hours


@dataclass(frozen=True)
class Input:
    """Something beside the model that probes may read."""

    name: str
    # From the training split, once per run; None where nothing is prepared.
    prepare: Callable[[Sequence[Document], Vocabulary], Any] | None
    # From what was prepared, the documents of a job, and what is known of all documents.
    bind: Callable[[Any, Sequence[Document], RunDocuments], Any]
    # What identifies the prepared value in a job's identity.
    digest: Callable[[Any], str] = str


def prepare_inputs(
    names: Sequence[str], train: Sequence[Document], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Prepare the named inputs from a training split."""
    wanted = {name: INPUTS[name].prepare for name in dict.fromkeys(names)}
    return {
        name: None if prepare is None else prepare(train, vocabulary)
        for name, prepare in wanted.items()
    }


def bind_inputs(
    prepared: Mapping[str, Any], documents: Sequence[Document], run: RunDocuments
) -> dict[str, Any]:
    """The values that the views of these documents offer to probes."""
    return {name: INPUTS[name].bind(value, documents, run) for name, value in prepared.items()}


def inputs_digest(prepared: Mapping[str, Any]) -> dict[str, str]:
    """What identifies prepared inputs, by name."""
    return {name: INPUTS[name].digest(value) for name, value in prepared.items()}


@dataclass(frozen=True, eq=False)
class WordOdds:
    """Attention logits (V,) by word index from the log-odds of single words.

    -inf for stop words and 0 for words that no document counted.
    """

    logits: Floats
    unfit: str = ""  # why there are none; then `logits` is empty

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.logits.tobytes() + self.unfit.encode()).hexdigest()


def fit_word_odds(train: Sequence[Document], vocabulary: Vocabulary) -> WordOdds:
    """Fit a logistic regression on which words a training document contains.

    As in the program of Jain & Wallace 2019 (L1 penalty, balanced classes): a word's attention
    logit is the size of its coefficient; with more than two classes, the largest over the classes,
    each fitted against all others. Nothing is tuned: the penalty is scikit-learn's default. Of a
    pair only the text that attention runs over is read.
    """
    labels = np.array([document.label for document in train])
    classes = np.unique(labels)
    if not 2 <= len(classes) <= MOST_CLASSES:
        unfit = (
            f"the word model is fitted once per class, for 2 to {MOST_CLASSES} classes; the "
            f"training split has {len(classes)}"
        )
        return WordOdds(np.zeros(0), unfit)
    if any(document.words is not None for document in train):
        return WordOdds(np.zeros(0), "log-odds are of words, and here the items are sentences")
    held = word_occurrences(train, vocabulary)
    told_apart = classes[1:] if len(classes) == 2 else classes
    sizes = np.abs([_coefficients(held, labels == one) for one in told_apart]).max(axis=0)
    sizes[_stop_words(vocabulary)] = -np.inf
    return WordOdds(sizes)


def word_occurrences(documents: Sequence[Document], vocabulary: Vocabulary) -> csr_matrix:
    """(N, V): 1 where the document contains the word, however often; unknown words are left out."""
    rows = [np.unique(vocabulary.encode(document.tokens)) for document in documents]
    rows = [row[row >= len(SPECIALS)] for row in rows]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows)
    shape = (len(rows), len(vocabulary))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)


def _coefficients(held: csr_matrix, is_one: NDArray[np.bool_]) -> Floats:
    from sklearn.linear_model import LogisticRegression  # imported here: it is slow to load

    # The solver visits words in a random order: seeded, so that a resumed run fits the same.
    model = LogisticRegression(
        l1_ratio=1.0, solver="liblinear", class_weight="balanced", random_state=0
    )
    coefficients: Floats = model.fit(held, is_one).coef_[0]
    return coefficients


def _stop_words(vocabulary: Vocabulary) -> list[int]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = enumerate(vocabulary.words)
    return [index for index, word in words if word.lower() in ENGLISH_STOP_WORDS]


def _bind_rationale(
    _: None, documents: Sequence[Document], run: RunDocuments
) -> Mapping[str, Sequence[bool]] | None:
    """Per document, which items people marked; None if no document of the run can be asked."""
    if not run.marked:
        return None
    return {document.id: document.rationale for document in documents if document.rationale}


def _bind_sample(_: None, documents: Sequence[Document], run: RunDocuments) -> frozenset[str]:
    """Some ids of the run's documents with at least two items, the same in every job and run."""
    pairs = zip(run.ids, run.lengths, strict=True)
    eligible = [name for name, length in pairs if length >= MIN_ITEMS]
    order = np.argsort(document_keys(eligible, 0, "sampled documents"), kind="stable")
    return frozenset(eligible[row] for row in order[:SAMPLED_DOCUMENTS].tolist())


WORD_ODDS = Input(
    "word_odds",
    prepare=fit_word_odds,
    bind=lambda odds, documents, run: odds,
    digest=lambda odds: str(odds.digest),
)
RATIONALE = Input("rationale", prepare=None, bind=_bind_rationale)
# For comparisons that are too costly for all documents.
SAMPLED = Input("sampled_documents", prepare=None, bind=_bind_sample)
INPUTS: dict[str, Input] = registry((WORD_ODDS, RATIONALE, SAMPLED), "assay.inputs", Input)


def sampled_rows(view: View) -> np.ndarray:
    """The rows of the batch that belong to the run's sample; all rows if there is no run."""
    sample = view.inputs.get(SAMPLED.name) if isinstance(view, AuditView) else None
    chosen = [sample is None or name in sample for name in view.batch.ids]
    return np.flatnonzero(chosen)
