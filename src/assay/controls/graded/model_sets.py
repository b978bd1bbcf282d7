"""Hand-made sets of models for claims that compare several models, with an exact dose.

No model is trained: what each of them predicts and attends to is drawn, and enters the probes as
the outputs of a training would. A set has a base, models with other seeds, twins with uniform
weights, imitations, and models guided by imposed weights. Equal models differ by chance in a small
share of documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.controls.graded.documents import Lexicon, Variation, draw_corpus
from assay.data.corpus import Corpus, Document
from assay.evidence import empty, sign
from assay.probes import PROBES
from assay.training.specs import (
    DECIDING_GUIDES,
    BaseModelSpec,
    ImitationObjective,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingBudget,
    TrainingSpec,
)

PROBES_OF_SETS = ("uniform", "seeds", "guide", "imitation")
DEV = 200  # documents
FEWEST_MODELS, MOST_MODELS = 5, 8  # of each kind; the preset `paper` trains at least 5
LOSS = 0.15  # share of documents that a twin or a model without a guide loses at dose 1
PRICE = 0.2  # TVD that far attention costs at dose 1
SPREAD = 0.1  # standard deviation of a model's loss or price, relative to their mean
LAMBDAS = (0.0, 1e-2)
IMITATION_NOISE, SEED_NOISE = 0.05, 0.3  # of the logits
PEAK = 4.0  # standard deviation of attention logits
CHANCE = 0.1  # part of a model's own attention logits where they are shared

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Behavior:
    """How the models of a set differ from each other at a dose."""

    # The documents that a model loses: from labels, a random number per document, and a share.
    lost: Callable[[NDArray[np.int64], Floats, float], Flags]
    # Attention logits: from those that all models share, those of one model, a random number per
    # document, and the dose.
    attention: Callable[[Floats, Floats, Floats, float], Floats]
    # The predictions of a model that attends elsewhere: from those of the base, a random number
    # per document, and the price as a TVD.
    paid: Callable[[Floats, Floats, float], Floats]
    # What the guide gains and how much of it is leaked by labels, as shares of LOSS.
    guided: Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class World:
    """What all models of a set share on one split."""

    documents: Sequence[Document]
    labels: NDArray[np.int64]
    difficulty: Floats  # (N,) in [0, 1): the base is right below its accuracy
    lots: Floats  # (N,) in [0, 1): which documents are lost first
    shared: Floats  # (N, T) attention logits
    confidence: Floats  # (N,) logit of the predicted class

    @classmethod
    def draw(cls, documents: Sequence[Document], rng: np.random.Generator) -> "World":
        longest = max(len(document.tokens) for document in documents)
        count = len(documents)
        return cls(
            documents,
            np.array([document.label for document in documents], dtype=np.int64),
            rng.random(count),
            rng.random(count),
            rng.normal(size=(count, longest)) * PEAK,
            rng.uniform(1.0, 5.0, count),
        )

    @property
    def mask(self) -> Flags:
        lengths = np.array([len(document.tokens) for document in self.documents])
        return np.arange(self.shared.shape[1]) < lengths[:, None]


@dataclass(frozen=True)
class ModelSet:
    """Everything that is needed to draw the outputs of every model of a set."""

    behavior: Behavior
    dose: float
    seed: int
    classes: int
    accuracy: float = 0.85
    disagreement: float = 0.01  # share of documents in which equal models differ by chance
    models: int = 3
    worlds: Mapping[str, World] = field(default_factory=dict)

    def outputs(self, spec: ModelSpec) -> ModelOutputs:
        """What one of the models predicts and attends to."""
        return ModelOutputs(
            dev=self._predictions(spec, "dev"), test=self._predictions(spec, "test"), converged=True
        )

    def _predictions(self, spec: ModelSpec, split: str) -> Predictions:
        world, rng = self.worlds[split], self._rng(spec, split)
        own = np.random.default_rng([self.seed, *_numbers(spec)])  # the same on both splits
        factor = float(np.clip(1 + SPREAD * own.normal(), 0.5, 1.5))
        if isinstance(spec, TrainingSpec) and isinstance(spec.objective, ImitationObjective):
            return self._imitation(spec.objective.weight, split, factor, rng)
        right = self._right(world, LOSS * factor * self._loss(spec), rng)
        noise = 0.0 if isinstance(spec, BaseModelSpec) else SEED_NOISE
        return Predictions(
            tuple(document.id for document in world.documents),
            world.labels,
            predict(world, right, self.classes, noise, rng),
            softmax(self._attended(spec, world, rng), world.mask),
        )

    def _rng(self, spec: ModelSpec, split: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, *_numbers(spec), split == "test"])

    def _loss(self, spec: ModelSpec) -> float:
        """How much of LOSS a model loses."""
        if isinstance(spec, BaseModelSpec) or spec.encoder is None:
            twin = isinstance(spec, TrainingSpec) and spec.attention == "uniform"
            return self.dose if twin else 0.0
        gain, leak = self.behavior.guided(self.dose)
        kind = None if spec.imposed is None else spec.imposed.kind
        gains = {"weights": gain, "own half": gain, "other half": gain - leak}
        return 1.0 - gains.get(kind or "", 0.0)

    def _right(self, world: World, loss: float, rng: np.random.Generator) -> Flags:
        lost = self.behavior.lost(world.labels, world.lots, loss)
        chance = rng.random(len(world.labels)) < self.disagreement
        return ((world.difficulty < self.accuracy) & ~lost) ^ chance

    def _attended(self, spec: ModelSpec, world: World, rng: np.random.Generator) -> Floats:
        if isinstance(spec, TrainingSpec) and spec.attention == "uniform":
            return np.zeros_like(world.shared)
        own = rng.normal(size=world.shared.shape) * PEAK
        # A model may be sharper without attending elsewhere. The base is sharp, so that weights
        # far from its own exist.
        sharpness = 1.5 if isinstance(spec, BaseModelSpec) else rng.uniform(0.5, 1.5)
        return sharpness * self.behavior.attention(world.shared, own, world.lots, self.dose)

    def _imitation(
        self, weight: float, split: str, factor: float, rng: np.random.Generator
    ) -> Predictions:
        """A model that predicts as the base does; with a weight above 0 it attends elsewhere."""
        base, world = self._predictions(BaseModelSpec(), split), self.worlds[split]
        noise = rng.normal(size=base.probabilities.shape) * IMITATION_NOISE
        near = normalized(np.log(base.probabilities) + noise)
        if not weight:
            return replace(base, probabilities=near)
        paid = self.behavior.paid(near, world.lots, PRICE * factor * self.dose)
        return replace(base, probabilities=paid, attention=moved_on(base.attention, world.mask))


def draw_set(
    behavior: Behavior, dose: float, seed: int, documents: int
) -> tuple[ModelSet, Corpus, TrainingBudget]:
    """A set of models with its corpus and budget; what varies beside the dose is drawn."""
    rng = np.random.default_rng([seed, 4])
    variation = Variation.draw(rng)
    corpus = draw_corpus(Lexicon(variation, seed), documents + DEV)
    corpus = replace(corpus, test=corpus.test[:documents], dev=corpus.test[documents:])
    models = int(rng.integers(FEWEST_MODELS, MOST_MODELS + 1))
    worlds = {
        split: World.draw(part, rng)
        for split, part in {"dev": corpus.dev, "test": corpus.test}.items()
    }
    drawn = ModelSet(
        behavior,
        dose,
        seed,
        classes=variation.classes,
        accuracy=float(rng.uniform(0.75, 0.95)),
        disagreement=float(rng.uniform(0.002, 0.02)),
        models=models,
        worlds=worlds,
    )
    return drawn, corpus, budget_of(models)


def budget_of(models: int) -> TrainingBudget:
    """A budget with this number of models for every claim."""
    return TrainingBudget(
        seed=0,
        together=models - 1,
        apart=0,
        uniforms=models,
        guides=models,
        sweeps=models,
        weights=LAMBDAS,
        first_epochs=1,
        next_epochs=1,
        patience=1,
        from_scratch=False,
        deceptions=(),
        imposed=DECIDING_GUIDES,
    )


def set_evidence(drawn: ModelSet, corpus: Corpus, budget: TrainingBudget) -> pl.DataFrame:
    """The evidence of all probes that compare several models."""
    frames = []
    for name in PROBES_OF_SETS:
        trainings = PROBES[name].trainings
        assert trainings is not None
        outputs = {spec: drawn.outputs(spec) for spec in trainings.plan(budget, corpus)}
        frames.append(sign(trainings.conclude(outputs, budget, corpus), name, budget.seed))
    return pl.concat([empty(), *frames])


def predict(
    world: World, right: Flags, classes: int, noise: float, rng: np.random.Generator
) -> Floats:
    """Probabilities (N, C): of the label where the model is right, else of the next class."""
    predicted = np.where(right, world.labels, (world.labels + 1) % classes)
    logits = np.zeros((len(right), classes))
    strength = world.confidence + noise * rng.normal(size=len(right))
    logits[np.arange(len(right)), predicted] = np.maximum(strength, 0.2)
    return normalized(logits)


def normalized(logits: Floats) -> Floats:
    """Probabilities over the last axis."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities: Floats = powers / powers.sum(-1, keepdims=True)
    return probabilities


def softmax(logits: Floats, mask: Flags) -> Floats:
    """Weights over the real items."""
    return normalized(np.where(mask, logits, -np.inf))


def moved_on(weights: Floats, mask: Flags) -> Floats:
    """The weights with every item's weight on the next item, and the last one's on the first."""
    lengths = mask.sum(1, keepdims=True)
    places = (np.arange(weights.shape[1]) - 1) % np.maximum(lengths, 1)
    return np.where(mask, np.take_along_axis(weights, places, axis=1), 0.0)


def _numbers(spec: ModelSpec) -> list[int]:
    """Numbers that identify a model, as a seed of what is drawn for it."""
    if isinstance(spec, BaseModelSpec):
        return [0]
    kinds = ("", "weights", "permuted", "own half", "other half")
    imposed = "" if spec.imposed is None else spec.imposed.kind
    weight = getattr(spec.objective, "weight", -1.0)
    return [
        1 + spec.init_seed,
        kinds.index(imposed),
        int(spec.encoder is not None),
        int(spec.attention == "uniform"),
        LAMBDAS.index(weight) + 1 if weight in LAMBDAS else 0,
    ]


def lost_anywhere(labels: NDArray[np.int64], lots: Floats, share: float) -> Flags:
    """A share of the documents, whatever their class."""
    return np.asarray(lots < share)


def lost_in_one_class(labels: NDArray[np.int64], lots: Floats, share: float) -> Flags:
    """The same number of documents, all of one class."""
    one = labels == labels.max()
    return np.asarray(one & (lots < share / max(one.mean(), share)))


def equal_in_some(shared: Floats, own: Floats, lots: Floats, dose: float) -> Floats:
    """Equal attention in a share of the documents, unrelated attention in the others."""
    return np.where((lots < dose)[:, None], shared + CHANCE * own, own)


def equal_in_part(shared: Floats, own: Floats, lots: Floats, dose: float) -> Floats:
    """In every document a part of the attention logits is shared."""
    rest = 1 - dose + CHANCE
    mixed: Floats = (dose * shared + rest * own) / np.hypot(dose, rest)
    return mixed


def paid_everywhere(base: Floats, lots: Floats, price: float) -> Floats:
    """Every prediction moves a little towards indifference."""
    flat = np.full_like(base, 1 / base.shape[1])
    reach = np.abs(base - flat).sum(1).mean() / 2
    part = min(1.0, price / reach)
    moved: Floats = (1 - part) * base + part * flat
    return moved


def paid_by_few(base: Floats, lots: Floats, price: float) -> Floats:
    """A few predictions become those of another class."""
    turned = np.roll(base, 1, axis=1)
    reach = np.abs(base - turned).sum(1).mean() / 2
    return np.where((lots < price / reach)[:, None], turned, base)


CALIBRATION_SET = Behavior(
    lost=lost_anywhere,
    attention=equal_in_some,
    paid=paid_everywhere,
    guided=lambda dose: (dose, 0.0),
)
TEST_SET = Behavior(
    lost=lost_in_one_class,
    attention=equal_in_part,
    paid=paid_by_few,
    guided=lambda dose: (1.0, 1.0 - dose),
)
