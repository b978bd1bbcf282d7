"""Models that have learned nothing: fresh weights in some parts, or labels dealt out at random.

The sanity checks of Adebayo et al. 2018. A score that explains what a model has learned must change
if the weights are replaced by random ones, part by part from the top, and if the model is trained
on labels that say nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assay.data.corpus import Corpus, Document
from assay.models.build import build_model
from assay.models.classifier import Network
from assay.statistics.keyed_random import document_keys

PARTS = ("head", "attention", "encoder", "embedding")  # from the top, the output, down
OTHER_SEED = 1_000_003  # added to the seed of the initial weights: those are not fresh


def part_of(parameter: str) -> str:
    """The part of a network that a parameter belongs to, by its name."""
    for part in ("head", "attention"):
        if parameter.startswith(f"{part}."):
            return part
    lowest = "embedding" in parameter or "markers" in parameter
    return "embedding" if lowest else "encoder"


def randomized(network: Network, parts: Sequence[str], seed: int) -> Network:
    """A network whose named parts have fresh initial weights; the others are kept."""
    fresh = build_model(network.config, seed + OTHER_SEED)
    learned = network.state_dict()
    weights = {
        name: value if part_of(name) in parts else learned[name]
        for name, value in fresh.state_dict().items()
    }
    fresh.load_state_dict(weights)
    return fresh.eval()


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
