"""How much faster is the whole battery of Jain & Wallace than the papers' loops?

Gradient, leave-one-out, permutation, adversary and the taus between the scores, from the text to
the last number. Ours is what `assay run` does for these; its adversary answers for eight eps where
the loop searches one. The loop may be timed on some batches, evenly spaced by length, and scaled.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from assay.batches import Batch
from assay.bench.alone import alone
from assay.bench.compared import Ours, agree, by_document
from assay.bench.material import (
    SEED,
    audit_batches,
    fresh_model,
    load,
    plain_batches,
    some_of,
    trained_model,
)
from assay.bench.packed import PackedClassifier
from assay.bench.plain_battery import Orders, plain_battery
from assay.bench.race import race
from assay.bench.row import Bench, Figures
from assay.corpora import Corpus
from assay.exact.search import CLASSIFIER_SEARCH, SearchSettings
from assay.measures.chance import document_keys, permutations
from assay.models import Network
from assay.models.view import View
from assay.probes import adversary, agreement, permutation
from assay.probes.permutation import PERMUTATIONS
from assay.scores import SCORES

MEASURED = ("attention", "gradient", "leave_one_out")
ASKED = (agreement.measure, permutation.measure, adversary.measure)
SENTENCES = 1_800  # about the test split of SST
REVIEWS_BATCHES = 6
IMDB_DOCUMENTS, IMDB_LONG, IMDB_LONG_BATCHES = 60, 500, 3


def measure(
    corpus: Corpus,
    repeats: int = 1,
    *,
    timed: int | None = None,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Figures:
    """On the test documents of this corpus; the plain loop on `timed` batches, or on all."""
    model = trained_model(corpus)
    batches = plain_batches(corpus, timed)
    plain = partial(plain_battery, PackedClassifier(model), batches, same_orders(batches), settings)
    our_way(model, some_of(corpus, train=0, test=1))  # what is loaded late is not timed
    (plain_seconds, expected), (seconds, ours) = race(
        plain, partial(our_way, model, corpus), repeats=repeats
    )
    n = len(corpus.test)
    return Figures(
        n=n,
        seconds=seconds,
        baseline_seconds=plain_seconds * n / len(expected),
        equal=agree(by_document(ours), expected),
        peak_mb=alone(prepare, corpus).peak_mb,
        plain_n=None if len(expected) == n else len(expected),
    )


def our_way(model: Network, corpus: Corpus) -> list[Ours]:
    """Batch by batch, as an audit does it."""
    found = []
    for batch in audit_batches(corpus):
        view = View(model, batch, SEED)
        scores = {name: SCORES[name].compute(view).numpy() for name in MEASURED}
        outcomes = [ask(view, scores) for ask in ASKED]
        found.append(Ours(batch.ids, batch.lengths, scores, outcomes, view.affine))
    return found


def same_orders(batches: list[Batch]) -> Orders:
    """The orders our probe draws for these documents."""
    found: dict[str, torch.Tensor] = {}
    for batch in batches:
        keys = document_keys(batch.ids, SEED, "permutation")
        drawn = torch.from_numpy(permutations(keys, batch.mask.numpy(), PERMUTATIONS))
        rows = zip(batch.ids, drawn, batch.lengths, strict=True)
        found |= {name: orders[:, :length] for name, orders, length in rows}
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    our_way(model, some_of(corpus, train=0, test=1))
    return partial(our_way, model, corpus)


def _sentences() -> Figures:
    """`reviews` are sentences from where SST took its own; one split of them is too few."""
    corpus = load("reviews")
    both = replace(corpus, test=corpus.test + corpus.dev)
    return measure(some_of(both, test=SENTENCES), timed=REVIEWS_BATCHES)


REVIEWS = Bench(
    "battery",
    "gradient, leave-one-out, permutation, adversary and taus: the papers' loops, or an audit",
    _sentences,
    target=10,
)
IMDB = Bench(
    "battery_imdb",
    "the same on documents of some 175 words",
    lambda: measure(some_of(load("imdb"), test=IMDB_DOCUMENTS)),
    target=5,
)
IMDB_MANY = Bench(
    "battery_imdb_500",
    "the same on more such documents",
    lambda: measure(some_of(load("imdb"), test=IMDB_LONG), timed=IMDB_LONG_BATCHES),
    long=True,
    target=5,
)
