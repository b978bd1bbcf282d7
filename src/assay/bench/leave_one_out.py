"""Rows for leave-one-out: restarting the encoder at the gap against reading the whole text again.

The baseline encodes a batch of 32 texts of similar length once per deleted position. A restart
cannot be faster than its matrix products, so those are timed by themselves.

The row for long documents compares two routes of ours: the exact restart, which reads every
deletion to the end, and the one that stops where the effect of a deletion has faded. A trained
model remembers for longer than a fresh one, so this model has seen every review once. Its
documents are reviews of one class, joined.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from assay.bench.material import (
    BASELINE_BATCH,
    SEED,
    PackedClassifier,
    audit_batches,
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
from assay.data.batches import Batch
from assay.data.corpus import Corpus, Document
from assay.models.classifier import Network
from assay.models.products import FixedMatrix
from assay.models.view import View
from assay.scores.leave_one_out import TAU_BOUND, TVD_BOUND, deletion_tvd
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.kendall import kendall

LOGIT_TOLERANCE = 1e-4
TVD_TOLERANCE = 1e-5
REVIEWS_DOCUMENTS = 800
IMDB_DOCUMENTS = 60


def measure(corpus: Corpus, repeats: int = REPEATS) -> Measurement:
    """Measure on the test documents of a corpus."""
    model = trained_model(corpus)
    packed = PackedClassifier(model)
    texts = [corpus.vocabulary.encode(document.tokens) for document in corpus.test]
    (baseline_time, expected), (seconds, ours), (products, _) = time_in_turns(
        partial(run_baseline, packed, texts),
        partial(run_optimized, model, corpus),
        only_products(model, audit_batches(corpus)),
        repeats=repeats,
    )
    by_id = [ours[document.id] for document in corpus.test]
    return Measurement(
        n=len(texts),
        seconds=seconds,
        baseline_seconds=baseline_time,
        equal=_equal(expected, by_id, _complete_logits(packed, texts)),
        peak_mb=measure_in_new_process(prepare, corpus).peak_mb,
        possible_ratio=baseline_time / products,
    )


@torch.no_grad()
def run_baseline(model: PackedClassifier, texts: list[list[int]]) -> list[Tensor]:
    """For each text, the logits (T, C) without each of its items."""
    order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    without: dict[int, Tensor] = {}
    for start in range(0, len(order), BASELINE_BATCH):
        rows = order[start : start + BASELINE_BATCH]
        padded, lengths = frame([texts[row] for row in rows])
        passes = []
        for position in range(1, padded.shape[1] - 1):
            shorter = torch.cat([padded[:, :position], padded[:, position + 1 :]], 1)
            passes.append(model(shorter, lengths - 1))
        logits = torch.stack(passes, 1)
        # A text that is too short for the position lost padding instead: the pass is ignored.
        without |= {row: logits[i, : len(texts[row])] for i, row in enumerate(rows)}
    return [without[row] for row in range(len(texts))]


def run_optimized(model: Network, corpus: Corpus) -> dict[str, Tensor]:
    """The same logits by document id."""
    found: dict[str, Tensor] = {}
    for batch in audit_batches(corpus):
        logits = model.logits_without_each(batch)
        rows = zip(batch.ids, logits, batch.lengths.tolist(), strict=True)
        found |= {name: row[:length] for name, row, length in rows}
    return found


def only_products(model: Network, batches: list[Batch]) -> Callable[[], None]:
    """A function that computes only the matrix products that a restart needs."""
    inputs, size = model.config.embedding, model.config.size // 2
    read = len(model.attention.projection()) + len(model.head.projection())
    cells = max(batch.items.numel() + len(batch.ids) for batch in batches)
    embedded, states = torch.randn(cells, inputs), torch.randn(cells, size)
    shapes = (inputs, 4 * size), (size, 4 * size), (size, read)
    project, recur, readout = (FixedMatrix(torch.randn(*shape)) for shape in shapes)

    def one_direction(reading: list[int], distinct: int) -> None:
        """`reading`: how many documents have an item 0, 1, ...; no padding is multiplied."""
        project.times(embedded, distinct)
        for documents in [reading[0], *reading]:
            recur.times(states, documents)
        readout.times(states, sum(reading))
        for slots, documents in enumerate(reading[1:], 1):
            recur.times(states, slots * documents)
            readout.times(states, slots * documents)

    sizes = [(batch.mask.sum(0).tolist(), len(torch.unique(batch.items))) for batch in batches]

    def both() -> None:
        for reading, distinct in sizes:
            for _ in range(2):
                one_direction(reading, distinct)

    return both


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare the restart for a process of its own."""
    model = fresh_model(corpus)
    run_optimized(model, truncate(corpus, train=0, test=1))
    return partial(run_optimized, model, corpus)


@torch.no_grad()
def _complete_logits(model: PackedClassifier, texts: list[list[int]]) -> list[Tensor]:
    return [model(*frame([text])) for text in texts]


def _equal(expected: list[Tensor], ours: list[Tensor], complete: list[Tensor]) -> bool:
    plain, found = torch.cat(expected).double(), torch.cat(ours).double()
    whole = torch.cat([z.expand_as(e) for z, e in zip(complete, expected, strict=True)]).double()
    scores = [tvd(class_probabilities(z), class_probabilities(whole)) for z in (plain, found)]
    close = (plain - found).abs().max() <= LOGIT_TOLERANCE
    return bool(close & ((scores[0] - scores[1]).abs().max() <= TVD_TOLERANCE))


REVIEWS = Bench(
    "leave_one_out",
    "every item deleted in turn: one encoder pass per position, or a restart at the gap",
    lambda: measure(truncate(load("reviews"), test=REVIEWS_DOCUMENTS)),
    target=6,
)
IMDB = Bench(
    "leave_one_out_imdb",
    "the same on documents of about 175 words",
    lambda: measure(truncate(load("imdb"), test=IMDB_DOCUMENTS), repeats=1),
    long=True,
)
ITEMS = 1_280
WARM_UP_ITEMS = 4
DOCUMENTS = 2
Scored = list[tuple[View, np.ndarray]]  # for each batch its leave-one-out (B, T)


def measure_fading(corpus: Corpus, repeats: int = 1) -> Measurement:
    """Measure on the test documents of a corpus; the model is trained on the others."""
    model = trained_model(corpus)
    (exact_seconds, exact), (seconds, faded) = time_in_turns(
        partial(leave_one_out, model, corpus, exact=True),
        partial(leave_one_out, model, corpus, exact=False),
        repeats=repeats,
    )
    return Measurement(
        n=len(corpus.test),
        seconds=seconds,
        baseline_seconds=exact_seconds,
        equal=within_bounds(exact, faded),
        peak_mb=measure_in_new_process(prepare_long, replace(corpus, train=())).peak_mb,
    )


def leave_one_out(model: Network, corpus: Corpus, *, exact: bool) -> Scored:
    views = [View(model, batch, SEED) for batch in audit_batches(corpus)]
    return [(view, deletion_tvd(view, exact=exact).numpy()) for view in views]


def within_bounds(exact: Scored, faded: Scored) -> bool:
    """Whether every TVD and every tau with attention are within the documented bounds."""
    for (view, one), (_, other) in zip(exact, faded, strict=True):
        weights = view.weights.double().numpy()
        taus = [kendall(weights, values, view.mask).tau for values in (one, other)]
        if np.abs(one - other).max() > TVD_BOUND or np.abs(taus[0] - taus[1]).max() > TAU_BOUND:
            return False
    return True


def prepare_long(corpus: Corpus) -> Callable[[], object]:
    """Prepare the restart for a process of its own."""
    model = fresh_model(corpus)
    short = join_documents(corpus.test, WARM_UP_ITEMS, 1)
    leave_one_out(model, replace(corpus, test=short), exact=False)
    return partial(leave_one_out, model, corpus, exact=False)


def join_documents(documents: Sequence[Document], items: int, count: int) -> tuple[Document, ...]:
    """Join short documents of one class to `count` documents of `items` items, classes in turn."""
    words: dict[int, list[str]] = {}
    for document in documents:
        words.setdefault(document.label, []).extend(document.tokens)
    labels = sorted(words)
    parts = [(turn // len(labels), labels[turn % len(labels)]) for turn in range(count)]
    return tuple(
        Document(
            f"joined-{label}-{part}", tuple(words[label][part * items : (part + 1) * items]), label
        )
        for part, label in parts
    )


def long_reviews() -> Corpus:
    corpus = load("reviews")
    return replace(corpus, dev=(), test=join_documents(corpus.test, ITEMS, DOCUMENTS))


LONG_REVIEWS = Bench(
    "leave_one_out_fading",
    f"every item of {ITEMS:,} deleted in turn: read to the end, or until its effect has faded",
    lambda: measure_fading(long_reviews()),
    target=5,
)
