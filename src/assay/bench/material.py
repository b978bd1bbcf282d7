"""Which documents and which model are the rows measured on?

The papers' sizes: BiLSTM with 128 units a direction, additive attention, 300-d embeddings. The
model has seen one short epoch, so that its weights and logits are no longer those of chance;
the time does not depend on them.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from assay.auditing import AUDIT_CELLS
from assay.batches import Batch, EncodedSplit, evaluation_batches
from assay.corpora import Corpus, load_corpus
from assay.models import Network, build_model
from assay.recipes import Recipe, configure, recipe_for
from assay.training import fit, task_loss, untracked

SEED = 2019
TRAIN_DOCUMENTS = 960
PLAIN_BATCH = 32  # as published


@lru_cache(maxsize=1)
def load(name: str) -> Corpus:
    return load_corpus(name)


def some_of(corpus: Corpus, *, train: int = TRAIN_DOCUMENTS, test: int = 0) -> Corpus:
    """The same corpus, vocabulary and all, with the first so many documents of each split."""
    return replace(corpus, train=corpus.train[:train], dev=(), test=corpus.test[:test])


def one_epoch(corpus: Corpus) -> Recipe:
    return replace(recipe_for(corpus, "paper"), epochs=1)


def fresh_model(corpus: Corpus) -> Network:
    config = configure(corpus, one_epoch(corpus), encoder="bilstm", attention="additive")
    return build_model(config, SEED).eval()


def trained_model(corpus: Corpus) -> Network:
    model = fresh_model(corpus)
    our_epoch(model, corpus)
    return model


def our_epoch(model: Network, corpus: Corpus) -> float:
    """Train in place; the mean loss per document."""
    split = EncodedSplit.encode(corpus.train, corpus.vocabulary, len(corpus.classes))
    [loss] = fit(model, split, one_epoch(corpus), task_loss(corpus), SEED, untracked)
    return loss


def audit_batches(corpus: Corpus) -> list[Batch]:
    """The test documents, cut as an audit cuts them."""
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes))
    return [split.batch(rows.tolist()) for rows in evaluation_batches(split.lengths, AUDIT_CELLS)]


def plain_batches(corpus: Corpus, count: int | None = None) -> list[Batch]:
    """The test documents in batches of like length, the longest first, as published.

    With a count only so many batches, evenly spaced, so that they are as long as all on average.
    """
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes))
    order = (-split.lengths).argsort(kind="stable")
    cuts = [order[start : start + PLAIN_BATCH] for start in range(0, len(order), PLAIN_BATCH)]
    return [split.batch(cut.tolist()) for cut in evenly_spaced(cuts, count)]


def evenly_spaced(cuts: list[np.ndarray], count: int | None) -> list[np.ndarray]:
    """The middle one of each of `count` equal stretches; all if there are no more."""
    if count is None or count >= len(cuts):
        return cuts
    return [cuts[(2 * turn + 1) * len(cuts) // (2 * count)] for turn in range(count)]
