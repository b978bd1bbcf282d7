"""Rows for the length of documents: time and memory of the whole audit of one document.

The documents consist of random words. Every score and every probe is computed, each length in a
process of its own, by the route of a run: exact for short documents, fading for long ones. The
few documents that a run computes both ways cost extra, once; they are not included.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from assay.bench.material import SEED
from assay.bench.measurement import Bench, Measurement, Row, measure_in_new_process
from assay.data.corpus import Document
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.models.build import build_model
from assay.models.classifier import ModelConfig
from assay.probes import probes_of_trained_models
from assay.runs.audit import audit_documents
from assay.scores.score import RunDocuments

WORDS = 7_000  # about as many as `reviews` has
CELLS = 1_280  # items per row, so that there are several short documents
EMBEDDING, SIZE = 300, 256
WARM_UP_ITEMS = 4
LENGTHS = (20, 80, 320, 640, 1_280, 2_560, 4_000)
NAME = "length_"
GROWTH_FROM = 300  # items: below, costs that do not depend on the length dominate
NOT_CHECKED = RunDocuments((), (), ())  # no document is computed both ways


@dataclass(frozen=True)
class DocumentShape:
    """The number and the length of the documents."""

    documents: int
    items: int


def measure(shape: DocumentShape) -> Measurement:
    """Measure the seconds per document and the peak memory of all documents."""
    found = measure_in_new_process(prepare, shape)
    return Measurement(shape.documents, found.seconds / shape.documents, peak_mb=found.peak_mb)


def prepare(shape: DocumentShape) -> Callable[[], object]:
    """Prepare the audit for a process of its own."""
    vocabulary = Vocabulary(SPECIALS + tuple(f"word{i}" for i in range(WORDS)))
    config = ModelConfig(
        task="classification",
        encoder="bilstm",
        attention="additive",
        embedding=EMBEDDING,
        size=SIZE,
        classes=("negative", "positive"),
        words=len(vocabulary),
    )
    audit = partial(
        audit_documents,
        build_model(config, SEED).eval(),
        vocabulary=vocabulary,
        probes=probes_of_trained_models(),
        seed=SEED,
        model_seed=SEED,
        sample=0,
        run=NOT_CHECKED,
    )
    audit(random_documents(DocumentShape(1, WARM_UP_ITEMS), vocabulary))
    return partial(audit, random_documents(shape, vocabulary))


def random_documents(shape: DocumentShape, vocabulary: Vocabulary) -> list[Document]:
    rng = np.random.default_rng(SEED)
    words = np.array(vocabulary.words[len(SPECIALS) :])
    drawn = rng.choice(words, (shape.documents, shape.items)).tolist()
    return [Document(f"random-{i}", tuple(row), i % 2) for i, row in enumerate(drawn)]


def growth_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The growth of time from one length to the next, per doubling; 2 is linear."""
    found = {int(row["name"].removeprefix(NAME)): row for row in rows if _is_length(row)}
    lengths = [length for length in sorted(found) if length > GROWTH_FROM]
    for short, long in pairwise(lengths):
        doublings = math.log2(long / short)
        factor = (found[long]["seconds"] / found[short]["seconds"]) ** (1 / doublings)
        yield f"{NAME}{long}: {factor:.2f} times as long per doubling, from {short:,} items"


def _is_length(row: Row) -> bool:
    return row["name"].startswith(NAME)


def _bench(items: int) -> Bench:
    shape = DocumentShape(max(1, CELLS // items), items)
    what = f"all but the sampled scores, {items:,} random words each, seconds per document"
    return Bench(f"{NAME}{items}", what, partial(measure, shape))


BENCHES = tuple(map(_bench, LENGTHS))
