"""Rows for all of section 4 of Jain & Wallace: an audit against the papers' loops.

Both compute gradient, leave-one-out, permutation, adversary and the taus between the scores, from
the text to the last number. Ours is what `assay run` does for these; its adversary answers for
eight eps, and the baseline searches for one.

The baseline is written as the papers' programs do it, in batches of 32 texts: one backward pass,
one encoder pass per deleted position, 100 decodes of permuted weights, the published search, and
one call of scipy per document and pair of scores. The permutations are passed in, so that drawing
them costs the baseline nothing. It can be timed on some batches, evenly spaced by length, and
scaled.

Scores, medians and taus are compared number by number. A tau may differ where two items have
equal scores up to the last bits, because rounding then decides their order. Our tau is therefore
compared with scipy on our own scores, and with the baseline's tau on average.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau
from torch import Tensor

from assay.bench import leave_one_out
from assay.bench.adversary import ExactAnswer, SearchCandidates, baseline_search
from assay.bench.material import (
    SEED,
    PackedClassifier,
    audit_batches,
    baseline_batches,
    frame,
    fresh_model,
    load,
    trained_model,
    truncate,
)
from assay.bench.measurement import Bench, Measurement, measure_in_new_process, time_between_parts
from assay.data.batches import Batch
from assay.data.corpus import Corpus
from assay.exact.search import CLASSIFIER_SEARCH, SearchSettings
from assay.models.classifier import Network
from assay.models.protocol import AffineTerms
from assay.models.view import View
from assay.probes import adversary, agreement, permutation
from assay.probes.permutation import PERMUTATIONS
from assay.probes.probe import ProbeOutcome
from assay.scores import SCORES
from assay.scores.gradients import share_encoding
from assay.statistics.keyed_random import document_keys, permutations

Floats = NDArray[np.float64]
Orders = Mapping[str, Tensor]  # document -> (permutations, items)
Scores = Mapping[str, Floats]  # name -> one number per item
PAIRS = (("attention", "gradient"), ("attention", "leave_one_out"), ("gradient", "leave_one_out"))
EPS = 0.01


@dataclass(frozen=True)
class BaselineResult:
    """All values of the baseline for one document."""

    scores: Scores
    median_tvd: float
    taus: Floats  # one for each of PAIRS
    max_jsd: float
    candidates: Tensor  # (k, T)


@dataclass(frozen=True)
class ReadBatch:
    """A batch as the baseline model reads it, without the start and end markers."""

    batch: Batch
    texts: list[list[int]]
    states: Tensor  # (B, T, m)
    weights: Tensor  # (B, T)
    positive: Tensor  # (B,) probability
    gradient: Tensor  # (B, T)


def baseline_battery(
    model: PackedClassifier, batches: list[Batch], orders: Orders, settings: SearchSettings
) -> dict[str, BaselineResult]:
    """The values of each document; each batch must have its longest text first."""
    rng = torch.Generator().manual_seed(SEED)
    found: dict[str, BaselineResult] = {}
    for batch in batches:
        read = read_batch(model, batch)
        changes = deletion_changes(model, read)
        medians = permutation_medians(model, read, [orders[name] for name in batch.ids])
        mask = batch.mask
        final = baseline_search(model.output, read.states, read.weights, mask, rng, settings)
        found |= _by_document(read, changes, medians, final)
    return found


def read_batch(model: PackedClassifier, batch: Batch) -> ReadBatch:
    """The prediction and its gradient along each embedding, with fixed attention."""
    rows = zip(batch.items.tolist(), batch.lengths.tolist(), strict=True)
    texts = [items[:length] for items, length in rows]
    padded, lengths = frame(texts)
    embedded = model.embedding(padded).detach().requires_grad_()
    states = model.read(embedded, lengths)
    weights = model.attend(states, lengths).detach()
    positive = torch.sigmoid(model.decode(states, weights))[:, 0]
    (slope,) = torch.autograd.grad(positive.sum(), embedded)
    gradient = (slope * embedded.detach()).sum(-1).abs()
    inner = (part.detach()[:, 1:-1] for part in (states, weights, gradient))
    states, weights, gradient = inner
    return ReadBatch(batch, texts, states, weights, positive.detach(), gradient)


def deletion_changes(model: PackedClassifier, read: ReadBatch) -> list[Tensor]:
    """For each text, the change of the prediction without each of its items."""
    without = leave_one_out.run_baseline(model, read.texts)
    rows = zip(without, read.positive, strict=True)
    return [(torch.sigmoid(logits)[:, 0] - positive).abs() for logits, positive in rows]


@torch.no_grad()
def permutation_medians(model: PackedClassifier, read: ReadBatch, orders: list[Tensor]) -> Tensor:
    """(B,): the median change of the prediction, with one decode of the batch per permutation."""
    changes = []
    for turn in range(len(orders[0])):
        weights = torch.zeros_like(read.weights)
        for row, order in enumerate(orders):
            weights[row, : order.shape[1]] = read.weights[row][order[turn]]
        positive = torch.sigmoid(model.decode(read.states, weights))[:, 0]
        changes.append((positive - read.positive).abs())
    return torch.from_numpy(np.median(torch.stack(changes).numpy(), axis=0))


def taus(scores: Scores) -> Floats:
    """One call of scipy for each pair."""
    return np.array([kendalltau(scores[one], scores[other]).statistic for one, other in PAIRS])


def _by_document(
    read: ReadBatch, changes: list[Tensor], medians: Tensor, final: SearchCandidates
) -> dict[str, BaselineResult]:
    found: dict[str, BaselineResult] = {}
    best = final.best(EPS)
    for row, (name, text) in enumerate(zip(read.batch.ids, read.texts, strict=True)):
        items = slice(len(text))
        values = (read.weights[row, items], read.gradient[row, items], changes[row])
        names = ("attention", "gradient", "leave_one_out")
        scores = {n: v.double().numpy() for n, v in zip(names, values, strict=True)}
        found[name] = BaselineResult(
            scores,
            float(medians[row]),
            taus(scores),
            float(best[row]),
            final.weights[row, :, items],
        )
    return found


GRADIENT_TOLERANCE = 1e-3  # of the document's largest
LEAVE_ONE_OUT_TOLERANCE = 1e-5
MEDIAN_TOLERANCE = 1e-6
TAU_TOLERANCE = 1e-12
MEAN_TAU_TOLERANCE = 0.02  # rounding orders scores that nearly tie, in short documents most
QUANTITIES = ("median_tvd", "max_jsd", *(f"tau_{one}_{other}" for one, other in PAIRS))


@dataclass(frozen=True)
class BatchResult:
    """The values of the audit for one batch."""

    ids: tuple[str, ...]
    lengths: Tensor
    scores: Mapping[str, np.ndarray]
    outcomes: Sequence[ProbeOutcome]
    terms: AffineTerms | None


@dataclass(frozen=True)
class DocumentResult:
    """The values of the audit for one document."""

    scores: dict[str, Floats]
    median_tvd: float
    taus: Floats
    answer: ExactAnswer


def by_document(parts: Sequence[BatchResult]) -> dict[str, DocumentResult]:
    return {name: found for part in parts for name, found in _split(part).items()}


def results_agree(ours: Mapping[str, DocumentResult], plain: Mapping[str, BaselineResult]) -> bool:
    """Whether the audit is right on all documents of the baseline."""
    same = all(_same(ours[name], theirs) for name, theirs in plain.items())
    differences = [np.abs(ours[name].taus - theirs.taus) for name, theirs in plain.items()]
    return same and bool(np.nanmean(differences) <= MEAN_TAU_TOLERANCE)


def _same(ours: DocumentResult, plain: BaselineResult) -> bool:
    gradient, deleted = plain.scores["gradient"], plain.scores["leave_one_out"]
    close = (
        _within(ours.scores["gradient"], gradient, GRADIENT_TOLERANCE * gradient.max()),
        _within(ours.scores["leave_one_out"], deleted, LEAVE_ONE_OUT_TOLERANCE),
        _within(ours.taus, taus(ours.scores), TAU_TOLERANCE),
    )
    if len(gradient) == 1:  # weights of a single item can neither move nor differ
        return all(close) and bool(np.isnan(ours.median_tvd))
    moved = _within(ours.median_tvd, plain.median_tvd, MEDIAN_TOLERANCE)
    return (
        all(close)
        and moved
        and ours.answer.holds(EPS)
        and ours.answer.unbeaten(plain.candidates, EPS)
    )


def _within(ours: Floats | float, other: Floats | float, tolerance: float) -> bool:
    return bool(np.allclose(ours, other, rtol=0, atol=tolerance, equal_nan=True))


def _split(part: BatchResult) -> dict[str, DocumentResult]:
    values = _values(part.outcomes)
    witnesses = next(o.columns["adversary"] for o in part.outcomes if "adversary" in o.columns)
    assert part.terms is not None  # only an affine model has an exact answer
    found: dict[str, DocumentResult] = {}
    for row, (name, n) in enumerate(zip(part.ids, part.lengths.tolist(), strict=True)):
        scores = {score: table[row, :n] for score, table in part.scores.items()}
        answer = ExactAnswer(
            torch.from_numpy(scores["attention"]),
            part.terms.items[row, :n, 0],
            part.terms.bias[0],
            values["max_jsd", name],
            torch.from_numpy(witnesses[row, :n]),
        )
        own = np.array([values[f"tau_{one}_{other}", name] for one, other in PAIRS])
        found[name] = DocumentResult(scores, values["median_tvd", name], own, answer)
    return found


def _values(outcomes: Sequence[ProbeOutcome]) -> dict[tuple[str, str], float]:
    """(quantity, document) -> value; of the frontier only the eps of the baseline."""
    table = pl.concat([frame for outcome in outcomes for frame in outcome.rows])
    at_eps = pl.col("group").is_null() | (pl.col("group") == f"eps={EPS:g}")
    selected = table.filter(pl.col("quantity").is_in(QUANTITIES) & at_eps)
    rows = selected.select("quantity", "instance", pl.col("value").fill_null(np.nan))
    return {(quantity, name): value for quantity, name, value in rows.iter_rows()}


SCORE_NAMES = ("attention", "gradient", "leave_one_out")
PROBE_FUNCTIONS = (agreement.measure, permutation.measure, adversary.measure)
SENTENCES = 1_800  # about the test split of SST
REVIEWS_BATCHES = 6
IMDB_DOCUMENTS, IMDB_LONG, IMDB_LONG_BATCHES = 60, 500, 3


def measure(
    corpus: Corpus,
    *,
    timed: int | None = None,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Measurement:
    """Measure on the test documents of a corpus; the baseline on `timed` batches, or on all."""
    model = trained_model(corpus)
    batches = baseline_batches(corpus, timed)
    plain, orders = PackedClassifier(model), drawn_orders(batches)
    parts = [partial(baseline_battery, plain, [batch], orders, settings) for batch in batches]
    run_optimized(model, truncate(corpus, train=0, test=1))  # warm-up: late imports are not timed
    baseline_time, found, seconds, ours = time_between_parts(
        parts, partial(run_optimized, model, corpus)
    )
    expected = {name: result for part in found for name, result in part.items()}
    n = len(corpus.test)
    return Measurement(
        n=n,
        seconds=seconds,
        baseline_seconds=baseline_time * n / len(expected),
        equal=results_agree(by_document(ours), expected),
        peak_mb=measure_in_new_process(prepare, corpus).peak_mb,
        plain_n=None if len(expected) == n else len(expected),
    )


def run_optimized(model: Network, corpus: Corpus) -> list[BatchResult]:
    """The audit, batch by batch."""
    found = []
    for batch in audit_batches(corpus):
        view = View(model, batch, SEED)
        share_encoding(view, through_attention=False)
        scores = {name: SCORES[name].compute(view).numpy() for name in SCORE_NAMES}
        outcomes = [probe(view, scores) for probe in PROBE_FUNCTIONS]
        found.append(BatchResult(batch.ids, batch.lengths, scores, outcomes, view.affine))
    return found


def drawn_orders(batches: list[Batch]) -> Orders:
    """The permutations that the probe draws for these documents."""
    found: dict[str, torch.Tensor] = {}
    for batch in batches:
        keys = document_keys(batch.ids, SEED, "permutation")
        drawn = torch.from_numpy(permutations(keys, batch.mask.numpy(), PERMUTATIONS))
        rows = zip(batch.ids, drawn, batch.lengths, strict=True)
        found |= {name: orders[:, :length] for name, orders, length in rows}
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare the audit for a process of its own."""
    model = fresh_model(corpus)
    run_optimized(model, truncate(corpus, train=0, test=1))
    return partial(run_optimized, model, corpus)


def _sentences() -> Measurement:
    """Sentences of `reviews`, the source of SST's; one split alone has too few."""
    corpus = load("reviews")
    both = replace(corpus, test=corpus.test + corpus.dev)
    return measure(truncate(both, test=SENTENCES), timed=REVIEWS_BATCHES)


REVIEWS = Bench(
    "battery",
    "gradient, leave-one-out, permutation, adversary and taus: the papers' loops, or an audit",
    _sentences,
    target=20,
)
IMDB = Bench(
    "battery_imdb",
    "the same on documents of about 175 words",
    lambda: measure(truncate(load("imdb"), test=IMDB_DOCUMENTS)),
    target=20,
)
IMDB_MANY = Bench(
    "battery_imdb_500",
    "the same on 500 documents of about 175 words",
    lambda: measure(truncate(load("imdb"), test=IMDB_LONG), timed=IMDB_LONG_BATCHES),
    long=True,
    target=20,
)
