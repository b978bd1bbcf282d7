"""A corpus whose labels say nothing: those of train and dev are dealt out at random.

Adebayo et al. 2018 train a model on such labels. It can only memorize, so a score that explains
what the model has learned about the labels must change.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assay.data.corpus import Corpus, Document
from assay.statistics.keyed_random import document_keys


def with_shuffled_labels(corpus: Corpus, seed: int) -> Corpus:
    """The corpus with the labels of train and of dev exchanged among their documents.

    The test split keeps its labels, so that accuracy shows that nothing was learned about it.
    """
    return replace(corpus, train=_shuffled(corpus.train, seed), dev=_shuffled(corpus.dev, seed))


def _shuffled(documents: Sequence[Document], seed: int) -> tuple[Document, ...]:
    """Each document gets the label of another one, and its candidates, where there are any.

    Which one depends on the documents' ids and the seed.
    """
    keys = document_keys([document.id for document in documents], seed, "shuffled labels")
    order = np.argsort(keys, kind="stable").tolist()
    taken = zip(order, [*order[1:], *order[:1]], strict=True)
    given = {
        place: replace(
            documents[place], label=documents[other].label, allowed=documents[other].allowed
        )
        for place, other in taken
    }
    return tuple(given[place] for place in range(len(documents)))
