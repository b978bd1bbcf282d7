"""Rows for attached models: a transformer of the size of MiniLM, and one of the size of BERT.

The models have random weights and need no download; a folder with a classifier of one's own can
take the place of the small one. Documents are reviews of about 20 to 60 sub-words.

Permutations and leave-one-out are compared with loops over whole forward passes (`own_loops`), on
the same documents, permutations and deletions. An audit is what `assay audit` computes without the
sampled scores: from the model's folder to the table of evidence, in a process of its own, so that
its memory includes the model. Documents of 512 sub-words show how the memory grows with length.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from assay.bench.leave_one_out import join_documents
from assay.bench.material import SEED, audit_batches, load
from assay.bench.measurement import (
    Bench,
    Measurement,
    measure_in_new_process,
    time_in_turns,
)
from assay.bench.own_loops import (
    BERT,
    LONGEST,
    MINILM,
    PlainClassifier,
    Size,
    deletion_loop,
    permutation_loop,
    write_random_model,
)
from assay.data.corpus import Corpus, Document
from assay.models.adapters.huggingface import huggingface
from assay.models.adapters.transformer import AttachedTransformer
from assay.models.view import View
from assay.probes import permutation
from assay.runs.audit import audit_documents
from assay.scores import SCORES
from assay.scores.leave_one_out import deletion_tvd

TOLERANCE = 1e-5  # of a TVD; all computations are in float32
FEWEST_WORDS, MOST_WORDS = 18, 45  # about 20 to 60 sub-words
DOCUMENTS = 8  # of the rows with a plain loop
COPIES = 1  # documents per pass of captum's ablation: its default
AUDITED, AUDITED_LONG = 50, 500
LONG_DOCUMENTS = 2
AUDIT = ("agreement", "permutation", "adversary", "erase_one", "erase_order")
CHEAP = ("permutation", "adversary", "erase_one", "identifiable", "sinks")
PER_ITEM = ("leave_one_out",)  # one encoder pass per item
Values = dict[str, NDArray[np.float64]]  # document -> its values


@dataclass(frozen=True)
class Attachment:
    """A classifier's folder, the layer whose attention is shown, and documents to ask about."""

    folder: Path
    documents: tuple[Document, ...]
    layer: int = -1

    @cached_property
    def model(self) -> AttachedTransformer:
        return huggingface(self.folder, layer=self.layer)

    @cached_property
    def corpus(self) -> Corpus:
        """The documents as the model reads them, in the same order."""
        texts = [" ".join(document.tokens) for document in self.documents]
        labels = [self.model.classes[document.label] for document in self.documents]
        return self.model.corpus(texts, labels)

    @cached_property
    def views(self) -> list[View]:
        """The batches of an audit, not yet read by the model."""
        return [View(self.model, batch, SEED) for batch in audit_batches(self.corpus)]


@contextmanager
def attachment(
    folder: Path | None,
    documents: Sequence[Document],
    *,
    layer: int = -1,
    size: Size = MINILM,
) -> Iterator[Attachment]:
    """The classifier in a folder, or a random one that exists for as long as it is used."""
    if folder is not None:
        yield Attachment(folder, tuple(documents), layer)
        return
    with TemporaryDirectory() as created:
        words = [document.tokens for document in documents]
        folder = write_random_model(Path(created), size, words, SEED)
        yield Attachment(folder, tuple(documents), layer)


def reviews(count: int) -> list[Document]:
    """Test documents of `reviews` with the declared number of words."""
    test = load("reviews").test
    return [one for one in test if FEWEST_WORDS <= len(one.tokens) <= MOST_WORDS][:count]


Compute = Callable[[Attachment], Values]
PlainLoop = Callable[[PlainClassifier, Attachment], Values]


def compare(
    plain_loop: PlainLoop, compute: Compute, attached: Attachment, repeats: int = 1
) -> Measurement:
    """Measure both routes on the same documents."""
    plain = PlainClassifier(attached.folder)
    compute(attached)  # late imports are not timed
    (baseline_seconds, expected), (seconds, found) = time_in_turns(
        partial(plain_loop, plain, attached), partial(compute, attached), repeats=repeats
    )
    return Measurement(
        n=len(attached.documents),
        seconds=seconds,
        baseline_seconds=baseline_seconds,
        equal=equal(expected, found),
        peak_mb=measure_in_new_process(prepare, (compute, attached)).peak_mb,
    )


def equal(expected: Values, found: Values) -> bool:
    """Whether both have the same documents and, up to rounding, the same values."""
    return expected.keys() == found.keys() and all(
        np.allclose(found[name], values, rtol=0, atol=TOLERANCE)
        for name, values in expected.items()
    )


def prepare(asked: tuple[Compute, Attachment]) -> Callable[[], object]:
    """Prepare our route for a process of its own."""
    compute, attached = asked
    first = Attachment(attached.folder, attached.documents[:1], attached.layer)
    compute(first)
    return partial(compute, attached)


def permuted(attached: Attachment) -> Values:
    """The TVD of every permutation, by the probe."""
    found: Values = {}
    for view in fresh(attached.views):
        moved = permutation.movement(view, permutation.random_orders(view))
        found |= zip(view.batch.ids, moved, strict=True)
    return found


def plain_permutation(plain: PlainClassifier, attached: Attachment) -> Values:
    """The TVD of the same permutations, by one whole forward pass for each."""
    drawn: dict[str, NDArray[np.int64]] = {}
    for view in attached.views:
        drawn |= zip(view.batch.ids, permutation.random_orders(view), strict=True)
    layer = range(plain.layers)[attached.layer]
    return {
        read.id: permutation_loop(plain, one.tokens, drawn[read.id][:, : len(one.tokens)], layer)
        for read, one in zip(attached.corpus.test, attached.documents, strict=True)
    }


def deleted(attached: Attachment) -> Values:
    """The TVD of deleting each item, by the score."""
    found: Values = {}
    for view in fresh(attached.views):
        rows = zip(deletion_tvd(view).numpy(), view.batch.lengths.tolist(), strict=True)
        found |= zip(view.batch.ids, (row[:length] for row, length in rows), strict=True)
    return found


def plain_deletion(plain: PlainClassifier, attached: Attachment) -> Values:
    """The TVD of deleting each word, by captum."""
    return {
        read.id: deletion_loop(plain, one.tokens, COPIES).numpy()
        for read, one in zip(attached.corpus.test, attached.documents, strict=True)
    }


def fresh(views: Sequence[View]) -> Iterator[View]:
    """The same batches, without anything that was computed before."""
    return (View(view.model, view.batch, view.seed) for view in views)


def measure_permutations(
    folder: Path | None, layer: int, documents: int = DOCUMENTS
) -> Measurement:
    with attachment(folder, reviews(documents), layer=layer) as attached:
        return compare(plain_permutation, permuted, attached)


def measure_leave_one_out(folder: Path | None, documents: int = DOCUMENTS) -> Measurement:
    with attachment(folder, reviews(documents)) as attached:
        return compare(plain_deletion, deleted, attached)


def measure_audit(
    folder: Path | None,
    documents: Callable[[], Sequence[Document]],
    *,
    probes: Sequence[str] = AUDIT,
    scores: Sequence[str] | None = None,
    size: Size = MINILM,
) -> Measurement:
    """The seconds and the memory of an audit, in a process of its own."""
    chosen = documents()
    with attachment(folder, chosen, size=size) as attached:
        cost = measure_in_new_process(prepare_audit, (attached, probes, scores))
    per_document = cost.seconds / len(chosen)
    notes = f"{AUDITED_LONG} documents would take {AUDITED_LONG * per_document:.0f} s at this rate"
    return Measurement(
        n=len(chosen),
        seconds=cost.seconds,
        peak_mb=cost.peak_mb,
        notes=notes if len(chosen) == AUDITED else "",
    )


def prepare_audit(
    asked: tuple[Attachment, Sequence[str], Sequence[str] | None],
) -> Callable[[], object]:
    """Prepare the audit of a model that is still in its folder."""
    attached, probes, scores = asked
    return partial(audit, attached, probes, scores)


def audit(attached: Attachment, probes: Sequence[str], scores: Sequence[str] | None) -> object:
    """All cheap scores, or those named, and the probes."""
    return audit_documents(
        attached.model,
        attached.corpus.test,
        attached.corpus.vocabulary,
        probes=probes,
        seed=SEED,
        model_seed=SEED,
        sample=0,
        scores=scores,
    )


def long_documents() -> Sequence[Document]:
    """Documents with more sub-words than a model of BERT's size reads: it cuts them to 512."""
    return join_documents(load("reviews").test, LONGEST, LONG_DOCUMENTS)


def cheap_scores() -> list[str]:
    """The scores of one forward or backward pass."""
    return [name for name, score in SCORES.items() if not score.costly and name not in PER_ITEM]


def own_benches(folder: Path | None = None) -> tuple[Bench, ...]:
    """The rows, for the classifier in a folder or for a random one."""
    return (
        Bench(
            "own_permutation",
            "100 permutations in the last layer: one whole forward pass for each, or the rest of "
            "the last layer for all",
            partial(measure_permutations, folder, -1),
            target=50,
        ),
        Bench(
            "own_permutation_first",
            "the same in the first layer, with all layers above it to run again",
            partial(measure_permutations, folder, 0),
            target=1,
        ),
        Bench(
            "own_leave_one_out",
            "every word deleted in turn: captum's FeatureAblation, by default one deletion "
            "per pass, or many together",
            partial(measure_leave_one_out, folder),
            target=1.5,
        ),
        Bench(
            "own_audit",
            "an audit without the sampled scores, model included; of 500 documents in at most 6 "
            "minutes and 3 GB",
            partial(measure_audit, folder, partial(reviews, AUDITED)),
        ),
        Bench(
            "own_audit_500",
            "the same on 500 documents: at most 360 seconds and 3,072 MB",
            partial(measure_audit, folder, partial(reviews, AUDITED_LONG)),
            long=True,
        ),
        Bench(
            "own_512",
            f"512 sub-words, 12 layers of BERT's size: {', '.join(CHEAP)} in at most 4,096 MB",
            partial(
                measure_audit, None, long_documents, probes=CHEAP, scores=cheap_scores(), size=BERT
            ),
        ),
        Bench(
            "own_512_audit",
            "the same with leave-one-out and the sweep over heads: about an hour",
            partial(measure_audit, None, long_documents, probes=(*AUDIT, "heads"), size=BERT),
            long=True,
        ),
    )
