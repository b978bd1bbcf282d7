"""How much faster is the exact adversary than the published search, and is it never beaten?

Both start from encoded documents and answer for eps 0.01. The search takes batches of 32 texts of
like length; it is timed on some of them, evenly spaced from the longest to the shortest.
"""

from collections.abc import Callable
from functools import partial

import torch

from assay.bench.alone import alone
from assay.bench.material import (
    SEED,
    audit_batches,
    fresh_model,
    load,
    plain_batches,
    some_of,
    trained_model,
)
from assay.bench.permutation import Encoded
from assay.bench.plain_search import Candidates, plain_search
from assay.bench.race import race
from assay.bench.rescored import Answer, all_hold
from assay.bench.row import Bench, Figures
from assay.corpora import Corpus
from assay.exact.adversary import Adversary, exact_adversary
from assay.exact.search import CLASSIFIER_SEARCH, SearchSettings

EPS = 0.01
SEARCHED_BATCHES = 4
TURNS = 2  # a search is long enough to be timed well


def measure(
    corpus: Corpus,
    repeats: int = TURNS,
    *,
    searched: int = SEARCHED_BATCHES,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Figures:
    """On the test documents of this corpus, `searched` batches of them by the plain loop."""
    model = trained_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    sample = [Encoded.of(model, batch) for batch in plain_batches(corpus, searched)]
    (plain_seconds, candidates), (seconds, exact) = race(
        partial(plain_way, sample, settings), partial(our_way, encoded), repeats=repeats
    )
    documents, timed = len(corpus.test), sum(len(one.batch.ids) for one in sample)
    return Figures(
        n=documents,
        seconds=seconds,
        baseline_seconds=plain_seconds * documents / timed,
        equal=_equal(answers(encoded, exact), sample, candidates),
        peak_mb=alone(prepare, corpus).peak_mb,
        plain_n=timed,
    )


def plain_way(encoded: list[Encoded], settings: SearchSettings) -> list[Candidates]:
    """The published search, batch after batch, with its best feasible candidates."""
    rng = torch.Generator().manual_seed(SEED)
    found = []
    for one in encoded:
        states, mask = one.states.items, one.batch.mask
        ended = plain_search(one.model.head.output, states, one.weights, mask, rng, settings)
        ended.best(EPS)
        found.append(ended)
    return found


def our_way(encoded: list[Encoded]) -> list[Adversary]:
    found = []
    for one in encoded:
        with torch.no_grad():
            terms = one.affine_terms(one.states)
        found.append(exact_adversary(one.weights, terms.items, terms.bias, one.batch.mask, [EPS]))
    return found


@torch.no_grad()
def answers(encoded: list[Encoded], exact: list[Adversary]) -> dict[str, Answer]:
    """Ours, document by document."""
    found: dict[str, Answer] = {}
    for one, adversary in zip(encoded, exact, strict=True):
        terms, weights = one.affine_terms(one.states), one.weights.double()
        witnesses = torch.from_numpy(adversary.weights(weights))[:, 0]
        for row, (name, n) in enumerate(zip(one.batch.ids, one.batch.lengths, strict=True)):
            found[name] = Answer(
                weights[row, :n], terms.items[row, :n, 0], terms.bias[0],
                float(adversary.jsd[row, 0]), witnesses[row, :n],
            )  # fmt: skip
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    first = audit_batches(some_of(corpus, train=0, test=1))
    our_way([Encoded.of(model, batch) for batch in first])
    return partial(our_way, encoded)


def _equal(ours: dict[str, Answer], sample: list[Encoded], candidates: list[Candidates]) -> bool:
    unbeaten = all(
        ours[name].unbeaten(proposals[:, : len(ours[name].weights)], EPS)
        for one, ended in zip(sample, candidates, strict=True)
        for name, proposals in zip(one.batch.ids, ended.weights, strict=True)
    )
    return unbeaten and all_hold(list(ours.values()), EPS)


def _reviews() -> Figures:
    corpus = load("reviews")
    return measure(some_of(corpus, test=len(corpus.test)))


REVIEWS = Bench(
    "adversary",
    "furthest weights within eps 0.01, from states: the published search, or the exact optimum",
    _reviews,
    target=300,
)
