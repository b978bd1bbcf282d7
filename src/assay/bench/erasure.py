"""Rows for erasure: removal orders in closed form against erasing item after item.

Both start from encoded documents and their weights, take the same seven orders and end with the
number of items that were erased when the decision changed. The baseline is the published
procedure: for each document and order, set one more weight to zero, renormalize, multiply the
states by the weights and apply the head, until its decision changes. It is timed on a few
documents and scaled. A second row adds the smallest flipping set, which the paper does not have,
and compares the whole with two passes of the encoder over the same documents.

Leave-one-out and attention times norm are scores: for these rows they are drawn at random.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from assay.bench.length import EMBEDDING, SIZE, WORDS
from assay.bench.material import SEED
from assay.bench.measurement import Bench, Measurement, measure_in_new_process
from assay.bench.permutation import Encoded
from assay.data.batches import Batch
from assay.exact.erasure import AffineErasure, first_flip, removal_order
from assay.exact.erasure_measures import smallest_flipping_sets
from assay.models.build import build_model
from assay.models.classifier import Classifier, ModelConfig
from assay.models.view import View
from assay.probes.erase_order import OPTIMAL, SCORED, orders, tie_lots
from assay.probes.erasure import erasure_of
from assay.probes.probe import Scores
from assay.runs.audit import AUDIT_CELLS
from assay.statistics.keyed_random import document_keys, uniform
from assay.statistics.ranking import significant

Result = TypeVar("Result")
Items = dict[str, np.ndarray]  # by order, (B,); NaN where the decision never changed
PASSES = 2  # of the encoder: what all orders together may cost
TARGET = 50


@dataclass(frozen=True)
class ErasureShape:
    """The size of the generated documents and of the model."""

    documents: int = 10_000
    items: int = 128
    classes: int = 5
    plain: int = 32  # documents for the baseline
    embedding: int = EMBEDDING
    size: int = SIZE


@dataclass(frozen=True)
class ErasureTimes:
    """Seconds of each kind of work, and whether the results are equal."""

    encoder_seconds: float
    seconds: float  # of all orders in closed form
    optimum_seconds: float
    baseline_seconds: float  # scaled to all documents
    equal: bool


def measure(shape: ErasureShape) -> Measurement:
    """Measure all orders against the baseline."""
    found = erasure_times(shape)
    return Measurement(
        n=shape.documents,
        seconds=found.seconds,
        baseline_seconds=found.baseline_seconds,
        equal=found.equal,
        peak_mb=measure_in_new_process(prepare, replace(shape, documents=shape.plain)).peak_mb,
        plain_n=shape.plain,
    )


def measure_passes(shape: ErasureShape) -> Measurement:
    """Measure all orders and the optimum against passes of the encoder."""
    found = erasure_times(shape)
    ours = found.seconds + found.optimum_seconds
    return Measurement(shape.documents, ours, PASSES * found.encoder_seconds, found.equal)


class LapTimer:
    """Accumulates the seconds of each kind of work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, kind: str, work: Callable[[], Result]) -> Result:
        start = time.perf_counter()
        result = work()
        self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - start
        return result


@lru_cache(maxsize=1)  # two rows, one measurement
def erasure_times(shape: ErasureShape) -> ErasureTimes:
    """Encode and erase batch by batch, because the states of all documents would not fit."""
    model = fresh_model(shape)
    timer = LapTimer()
    expected: list[Items] = []
    found: list[Items] = []
    for batch in batches(shape):
        scores = drawn_scores(batch)
        one = timer("encoder", partial(Encoded.of, model, batch))
        scores["attention"] = one.weights.double().numpy()
        view = View(one, one.batch, SEED)
        ours = timer("orders", partial(run_optimized, view, scores))
        best = timer("optimum", partial(optimum, view, scores))
        if len(found) * len(batch.ids) < shape.plain:
            timer("plain", partial(run_baseline, one, scores))
            # In float32 a near tie may be decided differently, so float64 is compared.
            expected.append(run_baseline(one, scores, torch.float64))
            found.append({**ours, OPTIMAL: best})
    sampled = sum(len(items[OPTIMAL]) for items in found)
    return ErasureTimes(
        timer.seconds["encoder"],
        timer.seconds["orders"],
        timer.seconds["optimum"],
        timer.seconds["plain"] * shape.documents / sampled,
        _equal(expected, found),
    )


def run_optimized(view: View, scores: Scores) -> Items:
    """All orders in closed form."""
    erasure = erasure_of(view, scores["attention"])
    ranked = orders(view, erasure, scores)
    order = removal_order(np.concatenate([*ranked.values()]), erasure.present, tie_lots(view))
    flips = first_flip(erasure, order, erasure.without_first(order))
    return dict(zip(ranked, np.split(flips.items, len(ranked)), strict=True))


def optimum(view: View, scores: Scores) -> np.ndarray:
    """The size of each document's smallest flipping set."""
    erasure = erasure_of(view, scores["attention"])
    assert isinstance(erasure, AffineErasure)
    return smallest_flipping_sets(erasure).items


@torch.no_grad()
def run_baseline(one: Encoded, scores: Scores, precision: torch.dtype = torch.float32) -> Items:
    """Document by document, order by order, item by item."""
    view = View(one, one.batch, SEED)
    ranked = orders(view, erasure_of(view, scores["attention"]), scores)
    lots = tie_lots(view)
    output = one.model.head.output
    weight, bias = output.weight.to(precision), output.bias.to(precision)
    found: Items = {name: np.full(len(one.batch.ids), np.nan) for name in ranked}
    for row, items in enumerate(one.batch.lengths.tolist()):
        states = one.states.items[row, :items].to(precision)
        weights = one.weights[row, :items].to(precision)
        for name, importance in ranked.items():
            order = np.lexsort((lots[row, :items], -significant(importance[row, :items])))
            found[name][row] = _items_to_flip(states, weights, order, weight, bias)
    return found


def _items_to_flip(
    states: Tensor, weights: Tensor, order: np.ndarray, weight: Tensor, bias: Tensor
) -> float:
    decided = int((weight @ (weights @ states) + bias).argmax())
    remaining = weights.clone()
    for step, place in enumerate(order.tolist(), start=1):
        remaining[place] = 0
        mass = remaining.sum()
        renormalized = remaining / mass if mass > 0 else remaining
        if int((weight @ (renormalized @ states) + bias).argmax()) != decided:
            return step
    return np.nan


def fresh_model(shape: ErasureShape) -> Classifier:
    names = tuple(f"class {i}" for i in range(shape.classes))
    config = ModelConfig(
        "classification", "bilstm", "additive", names, WORDS, shape.embedding, shape.size
    )
    model = build_model(config, SEED).eval()
    assert isinstance(model, Classifier)
    return model


def batches(shape: ErasureShape) -> Iterator[Batch]:
    """Random words in batches of the same size as in an audit."""
    rng = torch.Generator().manual_seed(SEED)
    rows = max(1, AUDIT_CELLS // shape.items)
    for start in range(0, shape.documents, rows):
        ids = tuple(f"random-{i}" for i in range(start, min(start + rows, shape.documents)))
        items = torch.randint(1, WORDS, (len(ids), shape.items), generator=rng)
        labels = torch.zeros(len(ids), dtype=torch.long)
        yield Batch(ids, items, torch.ones_like(items, dtype=torch.bool), labels)


def prepare(shape: ErasureShape) -> Callable[[], object]:
    """Prepare the closed form for a process of its own; memory does not grow with more batches."""
    model = fresh_model(shape)
    cuts = [*batches(replace(shape, documents=1)), *batches(shape)]
    documents: list[tuple[Encoded, Scores]] = []
    for batch in cuts:
        one = Encoded.of(model, batch)
        documents.append((one, {"attention": one.weights.double().numpy(), **drawn_scores(batch)}))
    erase_all(documents[:1])
    return partial(erase_all, documents[1:])


def erase_all(documents: list[tuple[Encoded, Scores]]) -> list[Items]:
    found = []
    for one, scores in documents:
        view = View(one, one.batch, SEED)
        found.append({**run_optimized(view, scores), OPTIMAL: optimum(view, scores)})
    return found


def drawn_scores(batch: Batch) -> dict[str, np.ndarray]:
    width = batch.items.shape[1]
    return {name: uniform(document_keys(batch.ids, SEED, name), width) for name in SCORED}


def _equal(expected: list[Items], found: list[Items]) -> bool:
    """Whether every order has the same counts, and none is below the optimum."""
    for plain, ours in zip(expected, found, strict=True):
        if not all(np.array_equal(plain[name], ours[name], equal_nan=True) for name in plain):
            return False
        if any((plain[name] < ours[OPTIMAL]).any() for name in plain):
            return False
    return True


_WHAT = "seven removal orders of 10,000 documents of 128 items, 5 classes"
ORDERS = Bench(
    "erasure",
    f"{_WHAT}: item by item, or in closed form",
    lambda: measure(ErasureShape()),
    target=TARGET,
)
ENCODER = Bench(
    "erasure_passes",
    f"{_WHAT}: two encoder passes (as baseline), or all orders and the optimum",
    lambda: measure_passes(ErasureShape()),
    target=1,
)
