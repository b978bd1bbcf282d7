"""What does the whole audit of one document cost, in time and memory, as documents grow?

Random words, every score and every probe, each length in a process of its own, by the route that a
run takes: exact for short documents, fading for long ones. The few that a run computes both ways
cost it extra, once; they are no part of this.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from assay.bench.material import SEED
from assay.bench.measurement import Bench, Figures, Row, alone
from assay.data.corpus import Document
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.models.build import build_model
from assay.models.classifier import ModelConfig
from assay.probes import PROBES
from assay.runs.audit import audit_documents
from assay.scores.score import RunDocuments

WORDS = 7_000  # about as many as `reviews` has
CELLS = 1_280  # items per row in all, so that short documents are several
EMBEDDING, SIZE = 300, 256
WARM_UP_ITEMS = 4
LENGTHS = (20, 80, 320, 640, 1_280, 2_560, 4_000)
NAME = "length_"
GROWTH_FROM = 300  # items: below it, what does not depend on the length prevails
NOT_CHECKED = RunDocuments((), (), ())  # no document of the run is one of those computed both ways


@dataclass(frozen=True)
class Shape:
    documents: int
    items: int


def measure(shape: Shape) -> Figures:
    """Seconds per document, and the peak over them all."""
    found = alone(prepare, shape)
    return Figures(shape.documents, found.seconds / shape.documents, peak_mb=found.peak_mb)


def prepare(shape: Shape) -> Callable[[], object]:
    vocabulary = Vocabulary(SPECIALS + tuple(f"word{i}" for i in range(WORDS)))
    config = ModelConfig(
        task="classification", encoder="bilstm", attention="additive", embedding=EMBEDDING,
        size=SIZE, classes=("negative", "positive"), words=len(vocabulary),
    )  # fmt: skip
    audit = partial(
        audit_documents, build_model(config, SEED).eval(), vocabulary=vocabulary,
        probes=tuple(PROBES), seed=SEED, model_seed=SEED, sample=0, run=NOT_CHECKED,
    )  # fmt: skip
    audit(random_documents(Shape(1, WARM_UP_ITEMS), vocabulary))
    return partial(audit, random_documents(shape, vocabulary))


def random_documents(shape: Shape, vocabulary: Vocabulary) -> list[Document]:
    rng = np.random.default_rng(SEED)
    words = np.array(vocabulary.words[len(SPECIALS) :])
    drawn = rng.choice(words, (shape.documents, shape.items)).tolist()
    return [Document(f"random-{i}", tuple(row), i % 2) for i, row in enumerate(drawn)]


def growth(rows: Sequence[Row]) -> Iterator[str]:
    """How time grows from one length to the next, per doubling: 2 is linear."""
    found = {int(row["name"].removeprefix(NAME)): row for row in rows if _is_length(row)}
    lengths = [length for length in sorted(found) if length > GROWTH_FROM]
    for short, long in pairwise(lengths):
        doublings = math.log2(long / short)
        grown = (found[long]["seconds"] / found[short]["seconds"]) ** (1 / doublings)
        yield f"{NAME}{long}: each doubling from {short:,} items on takes {grown:.2f} times as long"


def _is_length(row: Row) -> bool:
    return row["name"].startswith(NAME)


def _bench(items: int) -> Bench:
    shape = Shape(max(1, CELLS // items), items)
    what = f"all but the sampled scores, {items:,} random words each, seconds per document"
    return Bench(f"{NAME}{items}", what, partial(measure, shape))


BENCHES = tuple(map(_bench, LENGTHS))
