"""Which further trainings does a probe ask for, and what does it get to see of them?

A probe declares its trainings and never trains. A lesson is a value: two probes that ask for
the same one share it, and a lesson that needs another simply holds it.

How much is trained for the probes that need a trainer, under each preset?

`paper` holds the papers' numbers; `quick` is for a first look on a laptop and says so by its
wide intervals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

WeightKind = Literal["weights", "permuted", "tf-idf", "leave_one_out", "other half"]


@dataclass(frozen=True)
class BaseModelSpec:
    """The run's own model: trained already, only looked at."""

    leave_one_out: bool = False  # also look at what each item's deletion changes


@dataclass(frozen=True)
class TaskObjective:
    """Learn the labels."""


@dataclass(frozen=True)
class ImitationObjective:
    """Predict as another model does, with attention as far from its own as pays.

    Wiegreffe & Pinter 2019, section 4: half the TVD minus `weight` times KL. No labels.
    """

    base: "ModelSpec"
    weight: float


@dataclass(frozen=True)
class DeceptionObjective:
    """Learn the labels while keeping attention off the marked items.

    Pruthi et al. 2020: adds -weight * log(1 - mass on the marked items).
    """

    weight: float


@dataclass(frozen=True)
class ImposedWeights:
    """Attention is not learnt but imposed, document by document."""

    kind: WeightKind
    of: tuple["ModelSpec", ...] = ()  # whose attention it is made from


@dataclass(frozen=True)
class TrainingSpec:
    """One training. What is None is as in the run's own model."""

    init_seed: int
    order_seed: int
    encoder: str | None = None
    attention: str | None = None
    aim: TaskObjective | ImitationObjective | DeceptionObjective = TaskObjective()
    guide: ImposedWeights | None = None
    half: int | None = None  # 0 or 1: train on that half of the documents only
    start: "TrainingSpec | None" = None  # whose weights it starts from, in place of fresh ones
    epochs: int | None = None
    patience: int | None = None  # epochs without a better training loss; None: no early stop


ModelSpec = BaseModelSpec | TrainingSpec


def prerequisites(source: ModelSpec) -> tuple[ModelSpec, ...]:
    """What must be finished before this can begin."""
    if isinstance(source, BaseModelSpec):
        return ()
    return tuple(dict.fromkeys(_prerequisites(source)))


def models_read(lesson: TrainingSpec) -> Iterator[ModelSpec]:
    """Whose attention and predictions on train it learns from."""
    if isinstance(lesson.aim, ImitationObjective):
        yield lesson.aim.base
    if lesson.guide is not None:
        yield from lesson.guide.of


def _prerequisites(lesson: TrainingSpec) -> Iterator[ModelSpec]:
    if lesson.start is not None:
        yield lesson.start
    yield from models_read(lesson)


@dataclass(frozen=True)
class TrainingBudget:
    """How much is trained: the preset's numbers and the run's seed."""

    seed: int
    together: int  # further models in which both seeds differ from the run's
    apart: int  # and in which only one of them does, of either kind
    uniforms: int  # seeds with attention and with uniform weights
    guides: int  # seeds per guide
    chains: int  # imitation: sweeps over the weights, each with its own seed
    weights: tuple[float, ...]  # imitation: lambda, ascending
    first_epochs: int  # imitation: of the first weight, and of each when from scratch
    next_epochs: int  # imitation: of each further weight, which goes on from the one before
    patience: int
    from_scratch: bool
    deceptions: tuple[float, ...]  # weights of the penalty on the marked items


@dataclass(frozen=True)
class Predictions:
    """What a model says of one split, in the documents' order."""

    ids: tuple[str, ...]
    labels: np.ndarray  # (N,)
    probabilities: np.ndarray  # (N, C >= 2)
    attention: np.ndarray  # (N, T), zero behind a document's end

    @property
    def predictions(self) -> np.ndarray:
        predicted: np.ndarray = self.probabilities.argmax(1)
        return predicted


@dataclass(frozen=True)
class ModelOutputs:
    """Of one finished lesson."""

    dev: Predictions
    test: Predictions
    unmarked: Predictions | None = None  # test without its marked items, where items are marked


# Wiegreffe & Pinter name 2e-4 to 1e-3; the ends show where the frontier begins and breaks.
PAPER_WEIGHTS = (0.0, 1e-4, 2e-4, 3e-4, 5e-4, 8e-4, 1e-3, 2e-3, 5e-3, 1e-2)
QUICK_WEIGHTS = (0.0, 1e-3, 1e-2)


def training_budget(
    preset: str, seed: int, seeds: int | None, from_scratch: bool = False
) -> TrainingBudget:
    """`seeds` takes the place of the preset's numbers of models that differ by seed.

    Those in which only one seed differs are the exception: they come with the paper's own numbers.
    """
    if preset == "paper":
        return TrainingBudget(
            seed=seed, together=seeds or 8, apart=0 if seeds else 4, uniforms=seeds or 3,
            guides=seeds or 3, chains=seeds or 3, weights=PAPER_WEIGHTS,
            first_epochs=80 if from_scratch else 20, next_epochs=6,
            patience=10, from_scratch=from_scratch, deceptions=(0.1, 1.0),
        )  # fmt: skip
    return TrainingBudget(
        seed=seed, together=seeds or 2, apart=0, uniforms=seeds or 2, guides=seeds or 1,
        chains=seeds or 1, weights=QUICK_WEIGHTS, first_epochs=3, next_epochs=2, patience=10,
        from_scratch=from_scratch, deceptions=(1.0,),
    )  # fmt: skip
