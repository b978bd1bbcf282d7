"""How much faster is a restart at the gap than reading the whole text again for each item?

The plain loop encodes a batch of 32 texts of like length once per deleted position. A restart
cannot be quicker than its matrix products, so those are timed alone beside it.

How much faster is leave-one-out of long documents when it stops where a deletion has faded?

The plain side is our own exact restart, which reads every deletion to the end. A model that has
learnt its task remembers for longer than a fresh one, so this one has seen every review once; its
documents are reviews of one class, joined.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from assay.bench.material import (
    PLAIN_BATCH,
    SEED,
    PackedClassifier,
    audit_batches,
    frame,
    fresh_model,
    load,
    some_of,
    trained_model,
)
from assay.bench.measurement import REPEATS, Bench, Figures, alone, race
from assay.data.batches import Batch
from assay.data.corpus import Corpus, Document
from assay.models.classifier import Network
from assay.models.view import View
from assay.scores.leave_one_out import TAU_BOUND, TVD_BOUND, changes
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.kendall import kendall

LOGIT_TOLERANCE = 1e-4
TVD_TOLERANCE = 1e-5
REVIEWS_DOCUMENTS = 800
IMDB_DOCUMENTS = 60


def measure(corpus: Corpus, repeats: int = REPEATS) -> Figures:
    """On the test documents of this corpus."""
    model = trained_model(corpus)
    packed = PackedClassifier(model)
    texts = [corpus.vocabulary.encode(document.tokens) for document in corpus.test]
    (plain_seconds, expected), (seconds, ours), (products, _) = race(
        partial(plain_way, packed, texts),
        partial(our_way, model, corpus),
        products_alone(model, audit_batches(corpus)),
        repeats=repeats,
    )
    by_id = [ours[document.id] for document in corpus.test]
    return Figures(
        n=len(texts),
        seconds=seconds,
        baseline_seconds=plain_seconds,
        equal=_equal(expected, by_id, _untouched(packed, texts)),
        peak_mb=alone(prepare, corpus).peak_mb,
        possible_ratio=plain_seconds / products,
    )


@torch.no_grad()
def plain_way(model: PackedClassifier, texts: list[list[int]]) -> list[Tensor]:
    """Per text the logits (T, C) without each of its items."""
    order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    without: dict[int, Tensor] = {}
    for start in range(0, len(order), PLAIN_BATCH):
        rows = order[start : start + PLAIN_BATCH]
        padded, lengths = frame([texts[row] for row in rows])
        passes = []
        for position in range(1, padded.shape[1] - 1):
            shorter = torch.cat([padded[:, :position], padded[:, position + 1 :]], 1)
            passes.append(model(shorter, lengths - 1))
        logits = torch.stack(passes, 1)
        # A text too short to have the position lost padding instead: that pass says nothing.
        without |= {row: logits[i, : len(texts[row])] for i, row in enumerate(rows)}
    return [without[row] for row in range(len(texts))]


def our_way(model: Network, corpus: Corpus) -> dict[str, Tensor]:
    """The same by document id."""
    found: dict[str, Tensor] = {}
    for batch in audit_batches(corpus):
        logits = model.logits_without_each(batch)
        rows = zip(batch.ids, logits, batch.lengths.tolist(), strict=True)
        found |= {name: row[:length] for name, row, length in rows}
    return found


def products_alone(model: Network, batches: list[Batch]) -> Callable[[], None]:
    """The matrix products that a restart cannot do without, and nothing else."""
    inputs, size = model.config.embedding, model.config.size // 2
    read = len(model.attention.projection()) + len(model.head.projection())
    cells = max(batch.items.numel() + len(batch.ids) for batch in batches)
    embedded, states = torch.randn(cells, inputs), torch.randn(cells, size)
    project, recur = torch.randn(inputs, 4 * size), torch.randn(size, 4 * size)
    look = torch.randn(size, read)
    gates, values = torch.empty(cells, 4 * size), torch.empty(cells, read)

    def one_direction(batch: int, length: int) -> None:
        framed = (length + 1) * batch
        torch.mm(embedded[:framed], project, out=gates[:framed])
        for _ in range(length + 1):
            torch.mm(states[:batch], recur, out=gates[:batch])
        torch.mm(states[: length * batch], look, out=values[: length * batch])
        for slots in range(1, length):
            torch.mm(states[: slots * batch], recur, out=gates[: slots * batch])
            torch.mm(states[: slots * batch], look, out=values[: slots * batch])

    def both() -> None:
        for batch in batches:
            for _ in range(2):
                one_direction(*batch.items.shape)

    return both


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    our_way(model, some_of(corpus, train=0, test=1))
    return partial(our_way, model, corpus)


@torch.no_grad()
def _untouched(model: PackedClassifier, texts: list[list[int]]) -> list[Tensor]:
    return [model(*frame([text])) for text in texts]


def _equal(expected: list[Tensor], ours: list[Tensor], untouched: list[Tensor]) -> bool:
    plain, found = torch.cat(expected).double(), torch.cat(ours).double()
    whole = torch.cat([z.expand_as(e) for z, e in zip(untouched, expected, strict=True)]).double()
    scores = [tvd(class_probabilities(z), class_probabilities(whole)) for z in (plain, found)]
    close = (plain - found).abs().max() <= LOGIT_TOLERANCE
    return bool(close & ((scores[0] - scores[1]).abs().max() <= TVD_TOLERANCE))


REVIEWS = Bench(
    "leave_one_out",
    "every item deleted in turn: one encoder pass per position, or a restart at the gap",
    lambda: measure(some_of(load("reviews"), test=REVIEWS_DOCUMENTS)),
    target=2.5,
)
IMDB = Bench(
    "leave_one_out_imdb",
    "the same on documents of some 175 words",
    lambda: measure(some_of(load("imdb"), test=IMDB_DOCUMENTS), repeats=1),
    long=True,
)
ITEMS = 1_280
WARM_UP_ITEMS = 4
DOCUMENTS = 2
Found = list[tuple[View, np.ndarray]]  # per batch its leave-one-out (B, T)


def measure_fading(corpus: Corpus, repeats: int = 1) -> Figures:
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
        peak_mb=alone(prepare_long, replace(corpus, train=())).peak_mb,
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


def prepare_long(corpus: Corpus) -> Callable[[], object]:
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


LONG_REVIEWS = Bench(
    "leave_one_out_fading",
    f"every item of {ITEMS:,} deleted in turn: read to the end, or until its effect has faded",
    lambda: measure_fading(long_reviews()),
    target=5,
)
