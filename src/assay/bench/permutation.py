"""Rows for permutations: 100 permutations in one product against one after another.

Both start from encoded documents, draw their own permutations and end with the median change of
the prediction per document. To compare the results, both are then given the same permutations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.bench.material import SEED, audit_batches, fresh_model, load, trained_model, truncate
from assay.bench.measurement import (
    REPEATS,
    Bench,
    Measurement,
    measure_in_new_process,
    time_in_turns,
)
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
Draw = Callable[[int, int], Order]  # (document, number of items) -> a permutation
Medians = NDArray[np.float64]


@dataclass
class Encoded:
    """A model with one encoded batch; it behaves like the model itself."""

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


def measure(corpus: Corpus, repeats: int = REPEATS) -> Measurement:
    """Measure on the test documents of a corpus."""
    model = trained_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    rng = np.random.default_rng(SEED)
    (baseline_time, _), (seconds, ours) = time_in_turns(
        partial(run_baseline, encoded, lambda _, items: rng.permutation(items)),
        partial(run_optimized, encoded),
        repeats=repeats,
    )
    expected = run_baseline(encoded, drawn_orders(encoded))
    return Measurement(
        n=len(ours),
        seconds=seconds,
        baseline_seconds=baseline_time,
        equal=bool(np.abs(expected - ours).max() <= TOLERANCE),
        peak_mb=measure_in_new_process(prepare, corpus).peak_mb,
    )


@torch.no_grad()
def run_baseline(encoded: list[Encoded], draw: Draw) -> Medians:
    """Document by document, permutation by permutation: permute, decode, compare."""
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


def run_optimized(encoded: list[Encoded]) -> Medians:
    """All permutations of a batch in one product."""
    views = [View(one, one.batch, SEED) for one in encoded]
    return np.concatenate([median_tvd(view) for view in views])


def drawn_orders(encoded: list[Encoded]) -> Draw:
    """The permutations that the probe draws, returned one by one."""
    drawn: list[list[Order]] = []
    for one in encoded:
        keys = document_keys(one.batch.ids, SEED, "permutation")
        drawn += [list(rows) for rows in permutations(keys, one.batch.mask.numpy(), PERMUTATIONS)]
    return lambda document, items: drawn[document].pop(0)[:items]


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare the batched route for a process of its own."""
    model = fresh_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    first = audit_batches(truncate(corpus, train=0, test=1))
    run_optimized([Encoded.of(model, batch) for batch in first])
    return partial(run_optimized, encoded)


def _probabilities(one: Encoded, states: Tensor, weights: Tensor) -> Tensor:
    logits: Tensor = one.model.head.output(weights @ states)
    return class_probabilities(logits)


REVIEWS = Bench(
    "permutation",
    "100 permutations of each document's weights, on states: one by one, or in one product",
    lambda: measure(truncate(load("reviews"), test=REVIEWS_DOCUMENTS)),
    target=20,
)
IMDB = Bench(
    "permutation_imdb",
    "the same on documents of about 175 words",
    lambda: measure(truncate(load("imdb"), test=IMDB_DOCUMENTS)),
    long=True,
)
