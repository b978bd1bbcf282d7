"""How do the papers measure all of section 4, written plainly?

Batch after batch of 32 texts: one backward pass, one encoder pass per deleted position, 100
decodes of shuffled weights, the published search, and a call of scipy per document and pair of
scores. The orders of the shuffles are handed in, so that drawing them costs the loop nothing.

Did the audit and the plain loops find the same of the same documents?

Scores, medians and taus are compared number by number. A tau may differ where two items score
alike to the last bits, because then rounding decides their order. So ours is held to scipy on
our own scores, and to the loop's tau on average.

How much faster is the whole battery of Jain & Wallace than the papers' loops?

Gradient, leave-one-out, permutation, adversary and the taus between the scores, from the text to
the last number. Ours is what `assay run` does for these; its adversary answers for eight eps where
the loop searches one. The loop may be timed on some batches, evenly spaced by length, and scaled.
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
from assay.bench.adversary import Answer, Candidates, plain_search
from assay.bench.material import (
    SEED,
    PackedClassifier,
    audit_batches,
    frame,
    fresh_model,
    load,
    plain_batches,
    some_of,
    trained_model,
)
from assay.bench.measurement import Bench, Figures, alone, race
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
from assay.statistics.keyed_random import document_keys, permutations

Floats = NDArray[np.float64]
Orders = Mapping[str, Tensor]  # document -> (permutations, items)
Scores = Mapping[str, Floats]  # name -> one number per item
PAIRS = (("attention", "gradient"), ("attention", "leave_one_out"), ("gradient", "leave_one_out"))
EPS = 0.01


@dataclass(frozen=True)
class Plain:
    """All that the loop found of one document."""

    scores: Scores
    median_tvd: float
    taus: Floats  # one for each of PAIRS
    max_jsd: float
    candidates: Tensor  # (k, T)


@dataclass(frozen=True)
class Read:
    """A batch as the plain model reads it, markers cut off."""

    batch: Batch
    texts: list[list[int]]
    states: Tensor  # (B, T, m)
    weights: Tensor  # (B, T)
    positive: Tensor  # (B,) probability
    gradient: Tensor  # (B, T)


def plain_battery(
    model: PackedClassifier, batches: list[Batch], orders: Orders, settings: SearchSettings
) -> dict[str, Plain]:
    """By document; each batch has its longest text first."""
    rng = torch.Generator().manual_seed(SEED)
    found: dict[str, Plain] = {}
    for batch in batches:
        read = read_and_differentiate(model, batch)
        changes = deletions(model, read)
        medians = shuffled(model, read, [orders[name] for name in batch.ids])
        mask = batch.mask
        ended = plain_search(model.output, read.states, read.weights, mask, rng, settings)
        found |= _by_document(read, changes, medians, ended)
    return found


def read_and_differentiate(model: PackedClassifier, batch: Batch) -> Read:
    """The prediction, and its gradient along each embedding with attention held fixed."""
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
    return Read(batch, texts, states, weights, positive.detach(), gradient)


def deletions(model: PackedClassifier, read: Read) -> list[Tensor]:
    """Per text how far the prediction moves without each of its items."""
    without = leave_one_out.plain_way(model, read.texts)
    rows = zip(without, read.positive, strict=True)
    return [(torch.sigmoid(logits)[:, 0] - positive).abs() for logits, positive in rows]


@torch.no_grad()
def shuffled(model: PackedClassifier, read: Read, orders: list[Tensor]) -> Tensor:
    """(B,): the median change of the prediction, one decode of the batch for each order."""
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
    read: Read, changes: list[Tensor], medians: Tensor, ended: Candidates
) -> dict[str, Plain]:
    found: dict[str, Plain] = {}
    best = ended.best(EPS)
    for row, (name, text) in enumerate(zip(read.batch.ids, read.texts, strict=True)):
        items = slice(len(text))
        values = (read.weights[row, items], read.gradient[row, items], changes[row])
        names = ("attention", "gradient", "leave_one_out")
        scores = {n: v.double().numpy() for n, v in zip(names, values, strict=True)}
        found[name] = Plain(
            scores, float(medians[row]), taus(scores), float(best[row]),
            ended.weights[row, :, items],
        )  # fmt: skip
    return found


GRADIENT_TOLERANCE = 1e-3  # of the document's largest
LEAVE_ONE_OUT_TOLERANCE = 1e-5
MEDIAN_TOLERANCE = 1e-6
TAU_TOLERANCE = 1e-12
MEAN_TAU_TOLERANCE = 0.005
WANTED = ("median_tvd", "max_jsd", *(f"tau_{one}_{other}" for one, other in PAIRS))


@dataclass(frozen=True)
class Ours:
    """What the audit found of one batch."""

    ids: tuple[str, ...]
    lengths: Tensor
    scores: Mapping[str, np.ndarray]
    outcomes: Sequence[ProbeOutcome]
    terms: AffineTerms | None


@dataclass(frozen=True)
class Found:
    """The same of one document."""

    scores: dict[str, Floats]
    median_tvd: float
    taus: Floats
    answer: Answer


def by_document(parts: Sequence[Ours]) -> dict[str, Found]:
    return {name: found for part in parts for name, found in _split(part).items()}


def agree(ours: Mapping[str, Found], plain: Mapping[str, Plain]) -> bool:
    """Are ours right, on all documents that the loop has seen?"""
    same = all(_same(ours[name], theirs) for name, theirs in plain.items())
    apart = [np.abs(ours[name].taus - theirs.taus) for name, theirs in plain.items()]
    return same and bool(np.nanmean(apart) <= MEAN_TAU_TOLERANCE)


def _same(ours: Found, plain: Plain) -> bool:
    gradient, deleted = plain.scores["gradient"], plain.scores["leave_one_out"]
    near = (
        _within(ours.scores["gradient"], gradient, GRADIENT_TOLERANCE * gradient.max()),
        _within(ours.scores["leave_one_out"], deleted, LEAVE_ONE_OUT_TOLERANCE),
        _within(ours.median_tvd, plain.median_tvd, MEDIAN_TOLERANCE),
        _within(ours.taus, taus(ours.scores), TAU_TOLERANCE),
    )
    return all(near) and ours.answer.holds(EPS) and ours.answer.unbeaten(plain.candidates, EPS)


def _within(ours: Floats | float, other: Floats | float, tolerance: float) -> bool:
    return bool(np.allclose(ours, other, rtol=0, atol=tolerance, equal_nan=True))


def _split(part: Ours) -> dict[str, Found]:
    values = _values(part.outcomes)
    witnesses = next(o.columns["adversary"] for o in part.outcomes if "adversary" in o.columns)
    assert part.terms is not None  # only such a model has an exact answer
    found: dict[str, Found] = {}
    for row, (name, n) in enumerate(zip(part.ids, part.lengths.tolist(), strict=True)):
        scores = {score: table[row, :n] for score, table in part.scores.items()}
        answer = Answer(
            torch.from_numpy(scores["attention"]), part.terms.items[row, :n, 0],
            part.terms.bias[0], values["max_jsd", name], torch.from_numpy(witnesses[row, :n]),
        )  # fmt: skip
        own = np.array([values[f"tau_{one}_{other}", name] for one, other in PAIRS])
        found[name] = Found(scores, values["median_tvd", name], own, answer)
    return found


def _values(outcomes: Sequence[ProbeOutcome]) -> dict[tuple[str, str], float]:
    """(quantity, document) -> value; of the frontier only the eps that is searched."""
    table = pl.concat([frame for outcome in outcomes for frame in outcome.rows])
    right = pl.col("group").is_null() | (pl.col("group") == f"eps={EPS:g}")
    wanted = table.filter(pl.col("quantity").is_in(WANTED) & right)
    rows = wanted.select("quantity", "instance", pl.col("value").fill_null(np.nan))
    return {(quantity, name): value for quantity, name, value in rows.iter_rows()}


MEASURED = ("attention", "gradient", "leave_one_out")
ASKED = (agreement.measure, permutation.measure, adversary.measure)
SENTENCES = 1_800  # about the test split of SST
REVIEWS_BATCHES = 6
IMDB_DOCUMENTS, IMDB_LONG, IMDB_LONG_BATCHES = 60, 500, 3


def measure(
    corpus: Corpus,
    repeats: int = 1,
    *,
    timed: int | None = None,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Figures:
    """On the test documents of this corpus; the plain loop on `timed` batches, or on all."""
    model = trained_model(corpus)
    batches = plain_batches(corpus, timed)
    plain = partial(plain_battery, PackedClassifier(model), batches, same_orders(batches), settings)
    our_way(model, some_of(corpus, train=0, test=1))  # what is loaded late is not timed
    (plain_seconds, expected), (seconds, ours) = race(
        plain, partial(our_way, model, corpus), repeats=repeats
    )
    n = len(corpus.test)
    return Figures(
        n=n,
        seconds=seconds,
        baseline_seconds=plain_seconds * n / len(expected),
        equal=agree(by_document(ours), expected),
        peak_mb=alone(prepare, corpus).peak_mb,
        plain_n=None if len(expected) == n else len(expected),
    )


def our_way(model: Network, corpus: Corpus) -> list[Ours]:
    """Batch by batch, as an audit does it."""
    found = []
    for batch in audit_batches(corpus):
        view = View(model, batch, SEED)
        scores = {name: SCORES[name].compute(view).numpy() for name in MEASURED}
        outcomes = [ask(view, scores) for ask in ASKED]
        found.append(Ours(batch.ids, batch.lengths, scores, outcomes, view.affine))
    return found


def same_orders(batches: list[Batch]) -> Orders:
    """The orders our probe draws for these documents."""
    found: dict[str, torch.Tensor] = {}
    for batch in batches:
        keys = document_keys(batch.ids, SEED, "permutation")
        drawn = torch.from_numpy(permutations(keys, batch.mask.numpy(), PERMUTATIONS))
        rows = zip(batch.ids, drawn, batch.lengths, strict=True)
        found |= {name: orders[:, :length] for name, orders, length in rows}
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    our_way(model, some_of(corpus, train=0, test=1))
    return partial(our_way, model, corpus)


def _sentences() -> Figures:
    """`reviews` are sentences from where SST took its own; one split of them is too few."""
    corpus = load("reviews")
    both = replace(corpus, test=corpus.test + corpus.dev)
    return measure(some_of(both, test=SENTENCES), timed=REVIEWS_BATCHES)


REVIEWS = Bench(
    "battery",
    "gradient, leave-one-out, permutation, adversary and taus: the papers' loops, or an audit",
    _sentences,
    target=10,
)
IMDB = Bench(
    "battery_imdb",
    "the same on documents of some 175 words",
    lambda: measure(some_of(load("imdb"), test=IMDB_DOCUMENTS)),
    target=5,
)
IMDB_MANY = Bench(
    "battery_imdb_500",
    "the same on more such documents",
    lambda: measure(some_of(load("imdb"), test=IMDB_LONG), timed=IMDB_LONG_BATCHES),
    long=True,
    target=5,
)
