"""How much faster are removal orders in closed form than erasing item after item?

Both start from encoded documents and their weights, take the same seven orders and end with the
number of items that were erased when the decision changed. The plain procedure is the published
one: instance after instance, order after order, put one more weight to zero, divide, multiply the
states by the weights and ask the head, until its decision changes. It is timed on a few documents
and scaled. A second row adds the smallest flipping set, of which the paper knew nothing, and holds
the whole against two passes of the encoder over the same documents.

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
from assay.bench.measurement import Bench, Figures, alone
from assay.bench.permutation import Encoded
from assay.data.batches import Batch
from assay.exact.erasure import AffineErasure, first_flip, removal_order
from assay.exact.erasure_measures import smallest_flipping_sets
from assay.models.build import build_model
from assay.models.classifier import Classifier, ModelConfig
from assay.models.view import View
from assay.probes.erase_order import OPTIMAL, SCORED, orders
from assay.probes.erasure import erasure_of
from assay.probes.probe import Scores
from assay.runs.audit import AUDIT_CELLS
from assay.statistics.keyed_random import document_keys, uniform

Result = TypeVar("Result")
Items = dict[str, np.ndarray]  # by order, (B,); NaN where the decision never changed
PASSES = 2  # of the encoder: what all orders together may cost
TARGET = 50


@dataclass(frozen=True)
class Shape:
    documents: int = 10_000
    items: int = 128
    classes: int = 5
    plain: int = 32  # documents for the plain procedure
    embedding: int = EMBEDDING
    size: int = SIZE


@dataclass(frozen=True)
class Timed:
    encoder_seconds: float
    seconds: float  # of our orders
    optimum_seconds: float
    plain_seconds: float  # of all documents
    equal: bool


def measure(shape: Shape) -> Figures:
    found = timed(shape)
    return Figures(
        n=shape.documents,
        seconds=found.seconds,
        baseline_seconds=found.plain_seconds,
        equal=found.equal,
        peak_mb=alone(prepare, replace(shape, documents=shape.plain)).peak_mb,
        plain_n=shape.plain,
    )


def measure_passes(shape: Shape) -> Figures:
    found = timed(shape)
    ours = found.seconds + found.optimum_seconds
    return Figures(shape.documents, ours, PASSES * found.encoder_seconds, found.equal)


class Laps:
    """Seconds of each kind of work, added up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, kind: str, work: Callable[[], Result]) -> Result:
        start = time.perf_counter()
        result = work()
        self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - start
        return result


@lru_cache(maxsize=1)  # two rows, one measurement
def timed(shape: Shape) -> Timed:
    """Batch by batch, for the states of all documents would not fit: encode, then erase."""
    model = fresh(shape)
    laps = Laps()
    expected: list[Items] = []
    found: list[Items] = []
    for batch in batches(shape):
        scores = drawn_scores(batch)
        one = laps("encoder", partial(Encoded.of, model, batch))
        scores["attention"] = one.weights.double().numpy()
        view = View(one, one.batch, SEED)
        ours = laps("orders", partial(our_way, view, scores))
        best = laps("optimum", partial(optimum, view, scores))
        if len(found) * len(batch.ids) < shape.plain:
            laps("plain", partial(plain_way, one, scores))
            # In float32 a near tie may fall otherwise, so what is compared is not what was timed.
            expected.append(plain_way(one, scores, torch.float64))
            found.append({**ours, OPTIMAL: best})
    sampled = sum(len(items[OPTIMAL]) for items in found)
    return Timed(
        laps.seconds["encoder"],
        laps.seconds["orders"],
        laps.seconds["optimum"],
        laps.seconds["plain"] * shape.documents / sampled,
        _equal(expected, found),
    )


def our_way(view: View, scores: Scores) -> Items:
    erasure = erasure_of(view, scores["attention"])
    ranked = orders(view, erasure, scores)
    order = removal_order(np.concatenate([*ranked.values()]), erasure.present)
    flips = first_flip(erasure, order, erasure.without_first(order))
    return dict(zip(ranked, np.split(flips.items, len(ranked)), strict=True))


def optimum(view: View, scores: Scores) -> np.ndarray:
    erasure = erasure_of(view, scores["attention"])
    assert isinstance(erasure, AffineErasure)
    return smallest_flipping_sets(erasure).items


@torch.no_grad()
def plain_way(one: Encoded, scores: Scores, precision: torch.dtype = torch.float32) -> Items:
    """Instance after instance, order after order, item after item."""
    view = View(one, one.batch, SEED)
    ranked = orders(view, erasure_of(view, scores["attention"]), scores)
    output = one.model.head.output
    weight, bias = output.weight.to(precision), output.bias.to(precision)
    found: Items = {name: np.full(len(one.batch.ids), np.nan) for name in ranked}
    for row, items in enumerate(one.batch.lengths.tolist()):
        states = one.states.items[row, :items].to(precision)
        weights = one.weights[row, :items].to(precision)
        for name, importance in ranked.items():
            order = np.argsort(-importance[row, :items], kind="stable")
            found[name][row] = _until_it_changes(states, weights, order, weight, bias)
    return found


def _until_it_changes(
    states: Tensor, weights: Tensor, order: np.ndarray, weight: Tensor, bias: Tensor
) -> float:
    decided = int((weight @ (weights @ states) + bias).argmax())
    left = weights.clone()
    for step, place in enumerate(order.tolist(), start=1):
        left[place] = 0
        mass = left.sum()
        rest = left / mass if mass > 0 else left
        if int((weight @ (rest @ states) + bias).argmax()) != decided:
            return step
    return np.nan


def fresh(shape: Shape) -> Classifier:
    names = tuple(f"class {i}" for i in range(shape.classes))
    config = ModelConfig("classification", "bilstm", "additive", names, WORDS, shape.embedding,
                         shape.size)  # fmt: skip
    model = build_model(config, SEED).eval()
    assert isinstance(model, Classifier)
    return model


def batches(shape: Shape) -> Iterator[Batch]:
    """Random words, cut as an audit cuts them."""
    rng = torch.Generator().manual_seed(SEED)
    rows = max(1, AUDIT_CELLS // shape.items)
    for start in range(0, shape.documents, rows):
        ids = tuple(f"random-{i}" for i in range(start, min(start + rows, shape.documents)))
        items = torch.randint(1, WORDS, (len(ids), shape.items), generator=rng)
        labels = torch.zeros(len(ids), dtype=torch.long)
        yield Batch(ids, items, torch.ones_like(items, dtype=torch.bool), labels)


def prepare(shape: Shape) -> Callable[[], object]:
    """Our route in a process of its own, on the first batches: memory does not grow with more."""
    model = fresh(shape)
    cuts = [*batches(replace(shape, documents=1)), *batches(shape)]
    asked: list[tuple[Encoded, Scores]] = []
    for batch in cuts:
        one = Encoded.of(model, batch)
        asked.append((one, {"attention": one.weights.double().numpy(), **drawn_scores(batch)}))
    erase_all(asked[:1])
    return partial(erase_all, asked[1:])


def erase_all(asked: list[tuple[Encoded, Scores]]) -> list[Items]:
    found = []
    for one, scores in asked:
        view = View(one, one.batch, SEED)
        found.append({**our_way(view, scores), OPTIMAL: optimum(view, scores)})
    return found


def drawn_scores(batch: Batch) -> dict[str, np.ndarray]:
    width = batch.items.shape[1]
    return {name: uniform(document_keys(batch.ids, SEED, name), width) for name in SCORED}


def _equal(expected: list[Items], found: list[Items]) -> bool:
    """The same counts in every order, and none below the optimum."""
    for plain, ours in zip(expected, found, strict=True):
        if not all(np.array_equal(plain[name], ours[name], equal_nan=True) for name in plain):
            return False
        if any((plain[name] < ours[OPTIMAL]).any() for name in plain):
            return False
    return True


_WHAT = "seven removal orders of 10,000 documents of 128 items, 5 classes"
ORDERS = Bench(
    "erasure",
    f"{_WHAT}: item after item, or in closed form",
    lambda: measure(Shape()),
    target=TARGET,
)
ENCODER = Bench(
    "erasure_passes",
    f"{_WHAT}: two encoder passes (as plain), or all orders and the optimum",
    lambda: measure_passes(Shape()),
    target=1,
)
