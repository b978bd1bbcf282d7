"""How much faster is leave-one-out of long documents when it stops where a deletion has faded?

The plain side is our own exact restart, which reads every deletion to the end. A model that has
learnt its task remembers for longer than a fresh one, so this one has seen every review once; its
documents are reviews of one class, joined.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from assay.bench.alone import alone
from assay.bench.material import SEED, audit_batches, fresh_model, load, trained_model
from assay.bench.race import race
from assay.bench.row import Bench, Figures
from assay.corpora import Corpus, Document
from assay.measures.rank import kendall
from assay.models import Network
from assay.models.view import View
from assay.scores.faded import TAU_BOUND, TVD_BOUND
from assay.scores.leave_one_out import changes

ITEMS = 1_280
WARM_UP_ITEMS = 4
DOCUMENTS = 2
Found = list[tuple[View, np.ndarray]]  # per batch its leave-one-out (B, T)


def measure(corpus: Corpus, repeats: int = 1) -> Figures:
    """On the test documents of this corpus; it trains on the others."""
    model = trained_model(corpus)
    (exact_seconds, exact), (seconds, faded) = race(
        partial(leave_one_out, model, corpus, exactly=True),
        partial(leave_one_out, model, corpus, exactly=False),
        repeats=repeats,
    )
    return Figures(
        n=len(corpus.test),
        seconds=seconds,
        baseline_seconds=exact_seconds,
        equal=near(exact, faded),
        peak_mb=alone(prepare, replace(corpus, train=())).peak_mb,
    )


def leave_one_out(model: Network, corpus: Corpus, *, exactly: bool) -> Found:
    views = [View(model, batch, SEED) for batch in audit_batches(corpus)]
    return [(view, changes(view, exactly=exactly).numpy()) for view in views]


def near(exact: Found, faded: Found) -> bool:
    """Every TVD and every tau with attention within what is promised."""
    for (view, one), (_, other) in zip(exact, faded, strict=True):
        weights = view.weights.double().numpy()
        taus = [kendall(weights, values, view.mask).tau for values in (one, other)]
        if np.abs(one - other).max() > TVD_BOUND or np.abs(taus[0] - taus[1]).max() > TAU_BOUND:
            return False
    return True


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    short = joined(corpus.test, WARM_UP_ITEMS, 1)
    leave_one_out(model, replace(corpus, test=short), exactly=False)
    return partial(leave_one_out, model, corpus, exactly=False)


def joined(documents: Sequence[Document], items: int, count: int) -> tuple[Document, ...]:
    """So many documents of so many items, the classes in turn, from short ones of one class."""
    words: dict[int, list[str]] = {}
    for document in documents:
        words.setdefault(document.label, []).extend(document.tokens)
    labels = sorted(words)
    made = [(turn // len(labels), labels[turn % len(labels)]) for turn in range(count)]
    return tuple(
        Document(f"joined-{label}-{part}", tuple(words[label][part * items : (part + 1) * items]),
                 label)
        for part, label in made
    )  # fmt: skip


def long_reviews() -> Corpus:
    corpus = load("reviews")
    return replace(corpus, dev=(), test=joined(corpus.test, ITEMS, DOCUMENTS))


REVIEWS = Bench(
    "leave_one_out_fading",
    f"every item of {ITEMS:,} deleted in turn: read to the end, or until its effect has faded",
    lambda: measure(long_reviews()),
    target=5,
)
