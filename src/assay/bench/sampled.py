"""Rows for the costly scores: changed copies read together against captum's own loops.

LIME, kernel SHAP, integrated gradients and feature permutation of documents of 175 words, the
length of a film review in IMDB: short reviews of one class, joined. Both routes read the same
samples, in one process with all threads. Ours reads the batches of a run, whose audit is one
process with all threads, too. captum's loops handle one document after another. One row compares
with captum as it is by default, one copy per pass, and another one with captum told to read 32
copies per pass, which its users must ask for. The loops take seconds per document, so they are
timed on a few documents and scaled, except for integrated gradients, which halve segments more
often in some documents than in others. The notes have the ratio of each score.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from assay.bench import captum_loops
from assay.bench.leave_one_out import join_documents
from assay.bench.material import SEED, fresh_model, load, trained_model
from assay.bench.measurement import Bench, Measurement, measure_in_new_process, time_in_turns
from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus
from assay.models.classifier import Network
from assay.models.view import AuditView
from assay.runs.audit import AUDIT_CELLS
from assay.scores import SCORES
from assay.scores.score import RunDocuments

ITEMS = 175
DOCUMENTS, PLAIN_DOCUMENTS = 8, 2
MANY_DOCUMENTS, MANY_PLAIN_DOCUMENTS = 50, 5
COPIES = 32  # per pass of captum's loops, if they are told so
TOLERANCE = 1e-3  # of the largest score of a document; both routes compute in float32
LOOPS: Mapping[str, Callable[[AuditView, int | None], list[Tensor]]] = {
    "lime": captum_loops.lime_loop,
    "kernel_shap": captum_loops.kernel_shap_loop,
    "integrated_gradients": captum_loops.integrated_gradients_loop,
    "feature_permutation": captum_loops.feature_permutation_loop,
}
UNEVEN = ("integrated_gradients",)  # the work depends on the document, not only on its length
Found = dict[str, list[Tensor]]  # score -> the values of each document


def measure(
    corpus: Corpus, plain: int, repeats: int = 1, *, copies: int | None = None
) -> Measurement:
    """Measure on the test documents of a corpus, and captum's loops on the first `plain`.

    Those of the scores in `UNEVEN` run on all documents. `copies` per pass of captum's loops; None
    is captum's default.
    """
    model = trained_model(corpus)
    run_optimized(model, replace(corpus, test=join_documents(corpus.test, 5, 1)))  # first imports
    plain_seconds, seconds, equal = {}, {}, True
    for name in LOOPS:
        count = len(corpus.test) if name in UNEVEN else plain
        (baseline, expected), (ours, found) = time_in_turns(
            partial(run_baseline, model, corpus, count, [name], copies),
            partial(run_optimized, model, corpus, [name]),
            repeats=repeats,
        )
        plain_seconds[name], seconds[name] = baseline * len(corpus.test) / count, ours
        equal = equal and _equal(expected, found)
    ratios = (f"{name} {plain_seconds[name] / seconds[name]:.1f}" for name in LOOPS)
    return Measurement(
        n=len(corpus.test),
        seconds=sum(seconds.values()),
        baseline_seconds=sum(plain_seconds.values()),
        equal=equal,
        peak_mb=measure_in_new_process(prepare, replace(corpus, train=())).peak_mb,
        plain_n=plain,
        notes=f"ratios: {', '.join(ratios)}",
    )


def split_of(corpus: Corpus) -> EncodedSplit:
    """The test documents, with the replacement words of the whole audit."""
    words = RunDocuments.of(corpus.test).words
    return EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes), words)


def run_baseline(
    model: Network,
    corpus: Corpus,
    count: int,
    names: Collection[str] = tuple(LOOPS),
    copies: int | None = None,
) -> Found:
    """The scores of the first documents by captum's loops."""
    split = split_of(corpus)
    view = AuditView(model, split.batch(range(count)), SEED, split.pool)
    return {name: LOOPS[name](view, copies) for name in names}


def run_optimized(model: Network, corpus: Corpus, names: Collection[str] = tuple(LOOPS)) -> Found:
    """The scores by our routes, in the batches of a run."""
    split = split_of(corpus)
    found: dict[str, dict[int, Tensor]] = {name: {} for name in names}
    for rows in evaluation_batches(split.lengths, AUDIT_CELLS):
        view = AuditView(model, split.batch(rows.tolist()), SEED, split.pool)
        for name in names:
            values = zip(rows.tolist(), SCORES[name].compute(view), strict=True)
            found[name] |= {row: scores[: split.lengths[row]] for row, scores in values}
    return {
        name: [scores for _, scores in sorted(by_row.items())] for name, by_row in found.items()
    }


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare our routes for a process of its own."""
    model = fresh_model(corpus)
    run_optimized(model, replace(corpus, test=join_documents(corpus.test, 5, 1)))
    return partial(run_optimized, model, corpus)


def _equal(expected: Found, found: Found) -> bool:
    pairs = [
        (one, other)
        for name, plain in expected.items()
        for one, other in zip(plain, found[name], strict=False)
    ]
    return all(_close(one, other) for one, other in pairs)


def _close(one: Tensor, other: Tensor) -> bool:
    """Integrated gradients that do not add up are NaN by either route."""
    largest = float(one.nan_to_num().abs().max())
    return bool(torch.isclose(one, other, 0, TOLERANCE * largest, equal_nan=True).all())


def joined_reviews(count: int) -> Corpus:
    corpus = load("reviews")
    return replace(corpus, dev=(), test=join_documents(corpus.train, ITEMS, count))


WHAT = (
    f"LIME, SHAP, integrated gradients, feature permutation; {ITEMS} words; plain: captum's loops"
)
FEW = Bench(
    "sampled_scores", WHAT, lambda: measure(joined_reviews(DOCUMENTS), PLAIN_DOCUMENTS), target=3
)
BATCHED = Bench(
    "sampled_scores_batched",
    f"the same with {COPIES} copies per pass of captum's loops",
    lambda: measure(joined_reviews(DOCUMENTS), PLAIN_DOCUMENTS, copies=COPIES),
)
MANY = Bench(
    "sampled_scores_many",
    f"the same on {MANY_DOCUMENTS} documents, with captum's defaults",
    lambda: measure(joined_reviews(MANY_DOCUMENTS), MANY_PLAIN_DOCUMENTS),
    long=True,
    target=3,
)
