"""The row for erasure on the input: distinct copies with shared states against a plain loop.

Both routes erase along the same orders: those of eight cheap scores, of five scores with random
noise, which stand for the costly scores, and three random orders. The plain loop handles a batch of
32 reviews of similar length, and for each kind of erasure, each order, each of five shares and both
measures it encodes the batch again with a packed LSTM. Ours reads every distinct copy once and
shares the states of copies that begin or end alike. Leave-one-out is not timed: an audit has it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import torch
from torch import Tensor

from assay.bench.material import (
    BASELINE_BATCH,
    SEED,
    PackedClassifier,
    frame,
    fresh_model,
    load,
    trained_model,
    truncate,
)
from assay.bench.measurement import (
    REPEATS,
    Bench,
    Measurement,
    measure_in_new_process,
    time_in_turns,
)
from assay.data.batches import EncodedSplit
from assay.data.corpus import Corpus
from assay.models.classifier import Network
from assay.models.view import AuditView
from assay.probes.input_erasure import SINGLE, TIES, erased_counts, erasure_curves, ranked
from assay.scores import SCORES
from assay.scores.erased_copies import KINDS, Eraser, Flags, Floats, Indices
from assay.scores.leave_one_out import logits_without_each
from assay.scores.score import RunDocuments
from assay.statistics.divergence import class_probabilities
from assay.statistics.keyed_random import document_keys, uniform
from assay.statistics.ranking import descending_order

DOCUMENTS = 96
CHEAP = (
    "attention",
    "gradient",
    "leave_one_out",
    "gradient_attention",
    "gradient_input",
    "gradient_norm",
    "attention_norm",
    "attention_contribution",
)
NOISY = 5  # scores of random numbers times leave-one-out, in place of the costly scores
TOLERANCE = 1e-4  # of a probability; both routes compute in float32
Values = Mapping[str, Floats]  # by order, (B, T)


def measure(corpus: Corpus, repeats: int = REPEATS) -> Measurement:
    """Measure on the test documents of a corpus."""
    model = trained_model(corpus)
    view, values = material(model, corpus)
    packed = PackedClassifier(model)
    (baseline, expected), (seconds, found) = time_in_turns(
        partial(run_baseline, packed, view, values),
        partial(run_optimized, view, values),
        repeats=repeats,
    )
    return Measurement(
        n=len(corpus.test),
        seconds=seconds,
        baseline_seconds=baseline,
        equal=bool(np.abs(expected - found).max() <= TOLERANCE),
        peak_mb=measure_in_new_process(prepare, replace(corpus, train=())).peak_mb,
    )


def material(model: Network, corpus: Corpus) -> tuple[AuditView, Values]:
    """The documents as an audit has them, and the values that orders are made from."""
    words = RunDocuments.of(corpus.test).words
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes), words)
    view = AuditView(model, split.batch(range(len(corpus.test))), SEED, split.pool)
    scores = {name: SCORES[name].compute(view).numpy() for name in CHEAP}
    for turn in range(NOISY):
        keys = document_keys(view.batch.ids, SEED, f"noise {turn}")
        scores[f"noisy {turn}"] = scores["leave_one_out"] * uniform(keys, view.mask.shape[1])
    logits_without_each(view)
    return view, ranked(view, scores, np.arange(len(corpus.test)))


def run_optimized(view: AuditView, values: Values) -> Floats:
    """Comprehensiveness and sufficiency (kinds, 2, orders, B, shares)."""
    found = []
    for kind in KINDS:
        eraser = Eraser.of(view, kind, torch.arange(len(view.batch.ids)))
        curves = erasure_curves(eraser, dict(values))
        parts = (curves.comprehensiveness, curves.sufficiency)
        found.append([[part[name] for name in part if name != SINGLE] for part in parts])
    return np.array(found)


@torch.no_grad()
def run_baseline(model: PackedClassifier, view: AuditView, values: Values) -> Floats:
    """The same by one encoder pass per batch, kind, order, share and measure."""
    intact = view.probabilities.gather(1, view.decisions[:, None])[:, 0].numpy()
    counts = erased_counts(view.mask.sum(1))
    by_length = np.argsort(-view.mask.sum(1), kind="stable")
    cuts = np.split(by_length, range(BASELINE_BATCH, len(by_length), BASELINE_BATCH))
    ranks = [_ranks(view, importance) for importance in values.values()]
    found = np.empty((len(KINDS), 2, len(values), *counts.shape))
    for number, kind in enumerate(KINDS):
        substitutes = Eraser.of(view, kind, torch.arange(len(view.batch.ids))).substitutes
        for order, share in product(range(len(ranks)), range(counts.shape[1])):
            first = ranks[order] < counts[:, share, None]
            for part, kept in enumerate((view.mask & ~first, view.mask & first)):
                for rows in cuts:
                    left = _probabilities(model, view, rows, kept, substitutes)
                    found[number, part, order, rows, share] = intact[rows] - left
    return found


def _ranks(view: AuditView, importance: Floats) -> Indices:
    keys = document_keys(view.batch.ids, view.seed, TIES)
    order = descending_order(importance, view.mask, uniform(keys, view.mask.shape[1]))
    return np.argsort(order, axis=1)


def _probabilities(
    model: PackedClassifier,
    view: AuditView,
    rows: Indices,
    kept: Flags,
    substitutes: Tensor | None,
) -> Floats:
    """The probability of the predicted class of some documents with the items that are kept."""
    texts = []
    for row in rows.tolist():
        items, mask = view.batch.items[row].tolist(), view.mask[row]
        own = kept[row]
        if substitutes is None:
            texts.append([item for item, keep in zip(items, own, strict=True) if keep])
        else:
            others = substitutes[row].tolist()
            triples = zip(items, others, own, mask, strict=True)
            texts.append([item if keep else other for item, other, keep, real in triples if real])
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    logits = model(*frame([texts[place] for place in order]))
    probabilities = class_probabilities(logits.double())
    classes = view.decisions[torch.from_numpy(rows[order])]
    found = np.empty(len(rows))
    found[order] = probabilities.gather(1, classes[:, None])[:, 0].numpy()
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare our route for a process of its own."""
    model = fresh_model(corpus)
    run_optimized(*material(model, replace(corpus, test=corpus.test[:2])))
    return partial(run_optimized, *material(model, corpus))


REVIEWS = Bench(
    "input_erasure",
    f"{DOCUMENTS} reviews, 3 kinds of erasure, 16 orders, 5 shares; plain: every copy encoded",
    lambda: measure(truncate(load("reviews"), test=DOCUMENTS)),
    target=3,
)
