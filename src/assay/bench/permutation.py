"""How much faster are 100 permutations in one product than one after the other?

Both start from encoded documents, draw their own permutations and end with a median change of
the prediction per document. To compare the results both are then handed the same permutations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.bench.material import SEED, audit_batches, fresh_model, load, some_of, trained_model
from assay.bench.measurement import REPEATS, Bench, Figures, alone, race
from assay.data.batches import Batch
from assay.data.corpus import Corpus
from assay.models.classifier import Classifier, Network
from assay.models.protocol import AffineTerms, States
from assay.models.view import View
from assay.probes.permutation import PERMUTATIONS, median_tvd
from assay.statistics.divergence import class_probabilities
from assay.statistics.keyed_random import document_keys, permutations

TOLERANCE = 1e-6
REVIEWS_DOCUMENTS = 320
IMDB_DOCUMENTS = 60
Order = NDArray[np.int64]
Draw = Callable[[int, int], Order]  # which document, how many items: one order of them
Medians = NDArray[np.float64]


@dataclass
class Encoded:
    """A model that has encoded one batch already; otherwise it is the model."""

    classes: tuple[str, ...]
    model: Classifier
    batch: Batch
    states: States
    weights: Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, model: Network, batch: Batch) -> "Encoded":
        assert isinstance(model, Classifier)
        states = model.encode(batch)
        return cls(model.classes, model, batch, states, model.attend(states))

    def encode(self, batch: Batch) -> States:
        return self.states

    def attend(self, states: States) -> Tensor:
        return self.weights

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return self.model.decode(states, weights)

    def affine_terms(self, states: States) -> AffineTerms:
        return self.model.affine_terms(states)


def measure(corpus: Corpus, repeats: int = REPEATS) -> Figures:
    """On the test documents of this corpus."""
    model = trained_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    rng = np.random.default_rng(SEED)
    (plain_seconds, _), (seconds, ours) = race(
        partial(plain_way, encoded, lambda _, items: rng.permutation(items)),
        partial(our_way, encoded),
        repeats=repeats,
    )
    expected = plain_way(encoded, same_orders(encoded))
    return Figures(
        n=len(ours),
        seconds=seconds,
        baseline_seconds=plain_seconds,
        equal=bool(np.abs(expected - ours).max() <= TOLERANCE),
        peak_mb=alone(prepare, corpus).peak_mb,
    )


@torch.no_grad()
def plain_way(encoded: list[Encoded], draw: Draw) -> Medians:
    """Document by document, permutation by permutation: shuffle, decode, compare."""
    medians: list[float] = []
    for one in encoded:
        for row, items in enumerate(one.batch.lengths.tolist()):
            states = one.states.items[row, :items]
            weights = one.weights[row, :items]
            before = _probabilities(one, states, weights)
            changes = []
            for _ in range(PERMUTATIONS):
                order = torch.from_numpy(draw(len(medians), items))
                after = _probabilities(one, states, weights[order])
                changes.append(0.5 * float((after - before).abs().sum()))
            medians.append(float(np.median(changes)))
    return np.array(medians)


def our_way(encoded: list[Encoded]) -> Medians:
    views = [View(one, one.batch, SEED) for one in encoded]
    return np.concatenate([median_tvd(view, view.weights.numpy()) for view in views])


def same_orders(encoded: list[Encoded]) -> Draw:
    """The orders our probe draws, handed out one by one."""
    drawn: list[list[Order]] = []
    for one in encoded:
        keys = document_keys(one.batch.ids, SEED, "permutation")
        drawn += [list(rows) for rows in permutations(keys, one.batch.mask.numpy(), PERMUTATIONS)]
    return lambda document, items: drawn[document].pop(0)[:items]


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    first = audit_batches(some_of(corpus, train=0, test=1))
    our_way([Encoded.of(model, batch) for batch in first])
    return partial(our_way, encoded)


def _probabilities(one: Encoded, states: Tensor, weights: Tensor) -> Tensor:
    logits: Tensor = one.model.head.output(weights @ states)
    return class_probabilities(logits)


REVIEWS = Bench(
    "permutation",
    "100 permutations of each document's weights, on states: one by one, or in one product",
    lambda: measure(some_of(load("reviews"), test=REVIEWS_DOCUMENTS)),
    target=20,
)
IMDB = Bench(
    "permutation_imdb",
    "the same on documents of some 175 words",
    lambda: measure(some_of(load("imdb"), test=IMDB_DOCUMENTS)),
    long=True,
)
