"""How much faster is a restart at the gap than reading the whole text again for each item?

The plain loop encodes a batch of 32 texts of like length once per deleted position. A restart
cannot be quicker than its matrix products, so those are timed alone beside it.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from assay.batches import Batch
from assay.bench.alone import alone
from assay.bench.material import (
    PLAIN_BATCH,
    audit_batches,
    fresh_model,
    load,
    some_of,
    trained_model,
)
from assay.bench.packed import PackedClassifier, frame
from assay.bench.race import REPEATS, race
from assay.bench.row import Bench, Figures
from assay.corpora import Corpus
from assay.measures.divergence import class_probabilities, tvd
from assay.models import Network

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
