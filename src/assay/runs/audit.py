"""The audit: all scores and probes on some documents of a model.

A pure function from a model and documents to two tables. It knows nothing of files, jobs or
training, so the rows of a document do not depend on who runs it and on its neighbours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import torch

from assay.config import EXACT_BELOW, SAMPLE, Settings
from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Document
from assay.data.vocabulary import Vocabulary
from assay.evidence import empty, sign
from assay.models.protocol import (
    Model,
    SupportsDocumentBytes,
    SupportsItemBytes,
    SupportsWordWeights,
)
from assay.models.view import AuditView, NotApplicable, View
from assay.probes import PROBES
from assay.probes.inputs import bind_inputs, prepare_inputs
from assay.probes.probe import Probe
from assay.runs.timing import Stopwatch
from assay.scores import SCORES
from assay.scores.cost import Cost
from assay.scores.gradients import GRADIENT, GRADIENT_ATTENTION, share_encoding
from assay.scores.leave_one_out import choose_checked_documents
from assay.scores.sample import SamplePlan, plan_sample
from assay.scores.score import RunDocuments, Score, take_rows

# Working memory of a batch, about the size of a cache; twice as much is only 3 % faster.
AUDIT_BYTES = 24 * 2**20
CELL_BYTES = 12 * 2**10  # per padded item, for models that do not know: leave-one-out, 256 units
AUDIT_CELLS = AUDIT_BYTES // CELL_BYTES  # padded items per batch of these models
FOREIGN_BYTES = 2**29  # of a pass with a gradient over a batch, for models that know their needs


@dataclass(frozen=True)
class AuditResult:
    """The tables of instances and of evidence, and how they were made."""

    instances: pl.DataFrame
    evidence: pl.DataFrame
    not_applicable: dict[str, str]  # score or probe -> why
    sample: SamplePlan | None = None  # of the run that the documents belong to
    scores: Mapping[str, float] = field(default_factory=dict)  # seconds
    probes: Mapping[str, float] = field(default_factory=dict)  # seconds


def audit_documents(
    model: Model,
    documents: Sequence[Document],
    vocabulary: Vocabulary,
    *,
    probes: Sequence[str],
    seed: int,
    model_seed: int,
    device: str = "cpu",
    run: RunDocuments | None = None,
    sample: int | Mapping[str, int] = SAMPLE,
    inputs: Mapping[str, Any] | None = None,
    exact_below: int = EXACT_BELOW,
    scores: Sequence[str] | None = None,
) -> AuditResult:
    """Compute every score and ask every probe, batch by batch, in the order of the documents.

    `run` describes all documents of the run, where these are only some of them; costly scores are
    computed on at most `sample` of those, one number for all or one for each score. `inputs` come
    from `inputs_of`. Leave-one-out of documents with fewer than `exact_below` items is exact.
    `scores` are those to compute; None: all cheap ones, and the costly ones that a probe reads.
    """
    run = run or RunDocuments.of(documents)
    split = EncodedSplit.encode(documents, vocabulary, len(model.classes), run.words)
    # Probes without a measure need further trainings and are asked when those are finished.
    wanted = {name: ask for name in probes if (ask := PROBES[name].measure) is not None}
    sought = (
        scores_for([PROBES[name] for name in wanted])
        if scores is None
        else [score for score in SCORES.values() if score.name in scores]
    )
    costly = [score.name for score in sought if score.costly]
    costly += [name for name in wanted if PROBES[name].cost is not None]
    sizes = dict.fromkeys(costly, sample) if isinstance(sample, int) else sample
    samples = {name: run.sample(sizes[name], seed) for name in costly}
    pool = None if split.pool is None else split.pool.to(device)
    checked = choose_checked_documents(run, exact_below, seed)
    bound = bind_inputs(inputs or {}, documents, run)
    instances: list[pl.DataFrame] = []
    evidence: dict[str, list[pl.DataFrame]] = {name: [] for name in probes}
    missing: dict[str, str] = {}
    of_scores, of_probes = Stopwatch(), Stopwatch()
    for cut in evaluation_batches(split.lengths, batch_cells(model, split.lengths)):
        batch = split.batch(cut.tolist()).to(device)
        view = AuditView(model, batch, seed, pool, exact_below, checked, bound, samples)
        computed = compute_scores(view, sought, samples, missing, of_scores)
        columns = dict(computed)
        for probe, measure in wanted.items():
            try:
                with of_probes(probe):
                    outcome = measure(view, computed)
            except NotApplicable as reason:
                missing[probe] = str(reason)
                continue
            evidence[probe] += outcome.rows
            columns |= outcome.columns
        instances.append(describe_documents(view, [documents[i] for i in cut], columns))
    signed = [sign(frames, name, model_seed) for name, frames in evidence.items()]
    ids = [document.id for document in documents]
    return AuditResult(
        in_order(pl.concat(instances, how="diagonal"), "id", ids),
        in_order(pl.concat([empty(), *signed]), "instance", ids),
        missing,
        scores=of_scores.seconds,
        probes=of_probes.seconds,
    )


def batch_cells(model: Model, lengths: np.ndarray) -> int:
    """The number of padded items per batch: fewer for a model whose passes need more memory."""
    if isinstance(model, SupportsItemBytes):
        return max(1, AUDIT_BYTES // model.item_bytes)
    if not isinstance(model, SupportsDocumentBytes):
        return AUDIT_CELLS
    longest = max(1, int(lengths.max(initial=1)))
    documents = max(1, FOREIGN_BYTES // max(1, model.document_bytes(longest, gradient=True)))
    return min(AUDIT_CELLS, documents * longest)


def inputs_of(
    probes: Sequence[str], train: Sequence[Document], vocabulary: Vocabulary
) -> dict[str, Any]:
    """The inputs that these probes read, prepared from the training split."""
    names = [name for probe in probes for name in PROBES[probe].inputs]
    return prepare_inputs(names, train, vocabulary)


def scores_for(probes: Sequence[Probe]) -> list[Score]:
    """All cheap scores, and the costly ones that a probe reads."""
    read = {name for probe in probes for name in probe.scores}
    return [score for score in SCORES.values() if not score.costly or score.name in read]


def sample_of(settings: Settings, documents: Sequence[Document]) -> SamplePlan:
    """On how many of a run's test documents each costly score is computed."""
    probes = [PROBES[name] for name in settings.probes if PROBES[name].measure is not None]
    return _planned(settings, documents, scores_for(probes), probe_costs(settings.probes))


def sample_of_trainings(settings: Settings, documents: Sequence[Document]) -> SamplePlan:
    """The same for the scores of further models: each of them has the whole budget."""
    probes = [PROBES[name] for name in settings.probes if PROBES[name].trainings is not None]
    return _planned(settings, documents, scores_for(probes), {})


def _planned(
    settings: Settings,
    documents: Sequence[Document],
    scores: Sequence[Score],
    probes: Mapping[str, Cost],
) -> SamplePlan:
    return plan_sample(
        RunDocuments.of(documents),
        scores,
        sample=settings.sample,
        preset=settings.preset,
        encoder=settings.encoder,
        seed=settings.seed,
        exact_below=settings.exact_below,
        probes=probes,
    )


def probe_costs(names: Sequence[str]) -> dict[str, Cost]:
    """The costs of the probes that measure a sample of the documents."""
    return {name: cost for name in names if (cost := PROBES[name].cost) is not None}


def compute_scores(
    view: View,
    scores: Sequence[Score],
    samples: Mapping[str, frozenset[str]],
    missing: dict[str, str],
    stopwatch: Stopwatch,
) -> dict[str, np.ndarray]:
    """Every score the model can give, (B, T) each; the others are recorded with the reason.

    The documents are encoded together with their gradients, which counts for the gradient.
    """
    computed: dict[str, np.ndarray] = {}
    names = {score.name for score in scores}
    if GRADIENT.name in names:
        with stopwatch(GRADIENT.name):
            share_encoding(view, through_attention=GRADIENT_ATTENTION.name in names)
    for score in scores:
        if score.heads and view.heads is None:
            continue
        try:
            # Before any sampling: whether a score applies must not depend on the batch.
            score.check(view.model)
            with stopwatch(score.name):
                computed[score.name] = compute_on_sample(view, score, samples.get(score.name))
        except NotApplicable as reason:
            missing[score.name] = str(reason)
    return computed


def compute_on_sample(view: View, score: Score, names: frozenset[str] | None) -> np.ndarray:
    """The score of the documents in a sample, NaN for the others; `names` None: of all."""
    if names is None:
        return np.asarray(score.compute(view).cpu())
    values = np.full(view.mask.shape, np.nan)
    rows = [row for row, name in enumerate(view.batch.ids) if name in names]
    if rows:
        part = replace(view, batch=take_rows(view.batch, torch.tensor(rows)))
        values[rows] = score.compute(part).cpu()
    return values


def describe_documents(
    view: View, documents: Sequence[Document], columns: dict[str, np.ndarray]
) -> pl.DataFrame:
    """One row per document: its text and label, the prediction, and every value per item."""
    classes = view.model.classes
    lengths = [len(document.tokens) for document in documents]
    frame = pl.DataFrame(
        {
            "id": [d.id for d in documents],
            "tokens": pl.Series([list(d.tokens) for d in documents], dtype=pl.List(pl.String)),
            "label": [classes[d.label] for d in documents],
            "prediction": [classes[i] for i in view.decisions.tolist()],
            "probabilities": view.probabilities.tolist(),
            **{name: _ragged(values, lengths) for name, values in columns.items()},
        }
    )
    if any(d.query for d in documents):
        frame = frame.with_columns(
            pl.Series("query", [list(d.query) for d in documents], dtype=pl.List(pl.String)),
            pl.Series("allowed", [_names(d, classes) for d in documents], dtype=pl.List(pl.String)),
        )
    if any(d.rationale is not None for d in documents):
        rationale = [None if d.rationale is None else list(d.rationale) for d in documents]
        frame = frame.with_columns(pl.Series("rationale", rationale, dtype=pl.List(pl.Boolean)))
    if isinstance(view.model, SupportsWordWeights):
        frame = frame.with_columns(*_words(view.model, view, documents))
    return frame if view.affine is None else frame.with_columns(*_affine(view, lengths))


def in_order(
    frame: pl.DataFrame, column: str, ids: Sequence[str], kinds: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Rows in the order of the documents; evidence is sorted by what was measured first.

    `kinds` is the order of what was measured; None: that in which it first occurs.
    """
    place = pl.DataFrame({column: ids, "place": range(len(ids))})
    keys = ["place"]
    measured = [name for name in ("probe", "quantity", "group") if name in frame.columns]
    if measured:
        if kinds is None:
            kinds = frame.select(measured).unique(maintain_order=True)
        numbered = kinds.with_row_index("kind")
        frame = frame.join(numbered, on=measured, nulls_equal=True, maintain_order="left")
        keys = ["kind", "place"]
    joined = frame.join(place, on=column, how="left", maintain_order="left")
    return joined.sort(keys, maintain_order=True).drop(keys)


def _words(
    model: SupportsWordWeights, view: View, documents: Sequence[Document]
) -> list[pl.Series]:
    """The words of each sentence and the attention among them."""
    words = [[list(sentence) for sentence in d.words or ()] for d in documents]
    weights = model.word_weights(view.batch)
    return [
        pl.Series("words", words, dtype=pl.List(pl.List(pl.String))),
        pl.Series("word_attention", weights, dtype=pl.List(pl.List(pl.Float64))),
    ]


def _affine(view: View, lengths: list[int]) -> list[pl.Series]:
    terms = view.affine
    assert terms is not None
    items, bias = terms.items.cpu().tolist(), terms.bias.cpu().tolist()
    logits = [document[:n] for document, n in zip(items, lengths, strict=True)]
    return [
        pl.Series("token_logits", logits, dtype=pl.List(pl.List(pl.Float64))),
        pl.Series("bias", [bias] * len(lengths), dtype=pl.List(pl.Float64)),
    ]


def _ragged(values: np.ndarray, lengths: list[int]) -> pl.Series:
    """One list per document; null for a document outside the score's sample."""
    rows = [row[:n] for row, n in zip(values, lengths, strict=True)]
    lists = [None if len(row) and np.isnan(row).all() else row.tolist() for row in rows]
    return pl.Series(lists, dtype=pl.List(pl.Float64))


def _names(document: Document, classes: Sequence[str]) -> list[str] | None:
    return None if document.allowed is None else [classes[i] for i in document.allowed]
