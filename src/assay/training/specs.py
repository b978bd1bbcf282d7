"""Specifications of the further trainings that probes ask for, and how many there are.

A probe declares the models it needs and never trains. A specification is a value: two probes
that declare the same one share it, and one that builds on another model contains it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

SPLITS = ("train", "dev", "test")
WeightKind = Literal["weights", "permuted", "tf-idf", "leave_one_out", "own half", "other half"]


@dataclass(frozen=True)
class SampledProbe:
    """A probe that is asked of a finished model, on a sample of the test documents."""

    probe: str
    scores: tuple[str, ...]  # that it reads
    documents: int
    seed: int


@dataclass(frozen=True)
class SampledScores:
    """Costly scores of a finished model, each on a seeded sample of the test documents."""

    sizes: tuple[tuple[str, int], ...]  # the number of documents of each score
    seed: int


@dataclass(frozen=True)
class BaseModelSpec:
    """The run's own model, which is trained already and only predicts."""

    leave_one_out: bool = False  # also compute leave-one-out on every split
    scores: tuple[str, ...] = ()  # further scores to compute, by name
    randomized: tuple[str, ...] = ()  # parts of the network with fresh weights; see `randomized`
    without_train: bool = False  # predict dev and test only
    sampled_probe: SampledProbe | None = None
    sampled: SampledScores | None = None


@dataclass(frozen=True)
class TaskObjective:
    """Learn the labels."""


@dataclass(frozen=True)
class ImitationObjective:
    """Predict as another model does while attending elsewhere; see `objectives.Imitation`."""

    base: "ModelSpec"
    weight: float


@dataclass(frozen=True)
class DeceptionObjective:
    """Learn the labels with attention pushed off the marked items; see `AttentionPenalty`."""

    weight: float


@dataclass(frozen=True)
class ImposedWeights:
    """Attention is not learned but imposed, document by document."""

    kind: WeightKind
    of: tuple["ModelSpec", ...] = ()  # the models whose attention the weights are made from


@dataclass(frozen=True)
class ErasedItems:
    """Documents without their most important items, or with these alone; see `erased_items`."""

    share: float  # of the items of a document
    keep: bool = False  # keep these items alone; otherwise mask them
    of: "ModelSpec | None" = None  # the model whose score is the importance; None: random items
    score: str = "attention"


@dataclass(frozen=True)
class TrainingSpec:
    """One training. A field that is None is the same as for the run's own model."""

    init_seed: int
    order_seed: int
    encoder: str | None = None
    attention: str | None = None
    objective: TaskObjective | ImitationObjective | DeceptionObjective = TaskObjective()
    imposed: ImposedWeights | None = None
    half: int | None = None  # 0 or 1: train on that half of the documents only
    start: "TrainingSpec | None" = None  # continue from this model instead of fresh weights
    epochs: int | None = None
    patience: int | None = None  # epochs without a better training loss; None: no early stop
    erased: ErasedItems | None = None  # train and predict on documents changed in this way
    shuffled_labels: bool = False  # the labels of train and dev are dealt out at random
    scores: tuple[str, ...] = ()  # scores to compute beside the predictions, by name
    masked_copies: bool = False  # train also on a copy of each document with items masked
    sampled_probe: SampledProbe | None = None
    sampled: SampledScores | None = None


ModelSpec = BaseModelSpec | TrainingSpec


def prerequisites(spec: ModelSpec) -> tuple[ModelSpec, ...]:
    """The models that must be finished before this one can start."""
    if isinstance(spec, BaseModelSpec):
        return ()
    return tuple(dict.fromkeys(_prerequisites(spec)))


def models_read(spec: TrainingSpec) -> Iterator[ModelSpec]:
    """The models whose attention and predictions on train this training uses."""
    if isinstance(spec.objective, ImitationObjective):
        yield spec.objective.base
    if spec.imposed is not None:
        yield from spec.imposed.of
    if spec.erased is not None and spec.erased.of is not None:
        yield spec.erased.of


def _prerequisites(spec: TrainingSpec) -> Iterator[ModelSpec]:
    if spec.start is not None:
        yield spec.start
    yield from models_read(spec)


@dataclass(frozen=True)
class Predictions:
    """The predictions and attention of a model on one split, in the order of the documents."""

    ids: tuple[str, ...]
    labels: np.ndarray  # (N,)
    probabilities: np.ndarray  # (N, C >= 2)
    attention: np.ndarray  # (N, T), zero after the end of a document
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)  # (N, T), if any were computed

    @property
    def predictions(self) -> np.ndarray:
        predicted: np.ndarray = self.probabilities.argmax(1)
        return predicted


@dataclass(frozen=True)
class ModelOutputs:
    """The predictions of one finished model."""

    dev: Predictions
    test: Predictions
    unmarked: Predictions | None = None  # on test without its marked items, where there are any
    converged: bool | None = None  # whether training had stopped improving; None: not known
    probe_rows: pl.DataFrame | None = None  # of the sampled probe, if there is one
    # `id` and one column of lists per score; null where a document is not in the score's sample.
    sampled: pl.DataFrame | None = None


# The guide's kinds of weights. A claim reads those of `DECIDING_GUIDES`; `leak` is an older name
# of `unseen` and costs nothing beside it.
ALL_GUIDES = (
    "uniform",
    "trained",
    "base",
    "adversary",
    "permuted",
    "tf-idf",
    "leave_one_out",
    "leak",
    "seen",
    "unseen",
)
DECIDING_GUIDES = ("uniform", "base", "permuted", "leak", "seen", "unseen")


@dataclass(frozen=True)
class TrainingBudget:
    """How many further models are trained; the preset's numbers with the run's seed."""

    seed: int
    together: int  # models whose two seeds both differ from the base's
    apart: int  # models in which only one of the seeds differs, of either kind
    uniforms: int  # seeds with attention and with uniform weights
    guides: int  # seeds per kind of imposed weights
    sweeps: int  # imitation: over lambda, each with its own seed
    weights: tuple[float, ...]  # imitation: lambda, ascending
    first_epochs: int  # imitation: of the first lambda, and of each when from scratch
    next_epochs: int  # imitation: of each further lambda, which continues the one before
    patience: int
    from_scratch: bool
    deceptions: tuple[float, ...]  # weights of the penalty on the marked items
    imposed: tuple[str, ...] = ALL_GUIDES  # guide: the names of the weights that are imposed
    retrainings: int = 3  # roar, fresh, sanity: seeds of every training on changed documents
    masked_shares: tuple[float, ...] = (0.1, 0.25, 0.5)  # roar: ascending, below 1
    kept_share: float = 0.2  # fresh
    # sanity: the number of test documents on which each costly score of every model is computed
    score_sample: tuple[tuple[str, int], ...] = ()


# Wiegreffe & Pinter name 2e-4 to 1e-3; the ends show where the frontier begins and breaks.
PAPER_WEIGHTS = (0.0, 1e-4, 2e-4, 3e-4, 5e-4, 8e-4, 1e-3, 2e-3, 5e-3, 1e-2)
# With three epochs each, 7e-3 gets far at a low price on `reviews` (0.4 nats), while 5e-3 does not
# (0.2); 1e-2 gets far (0.6) where 7e-3 is too little.
QUICK_WEIGHTS = (0.0, 7e-3, 1e-2)


def training_budget(
    preset: str, seed: int, seeds: int | None, from_scratch: bool = False
) -> TrainingBudget:
    """The number of further models under a preset.

    `paper` trains the papers' numbers of models, and at least 5 where a claim is decided. `quick`
    trains 3 models for each claim that is decided from several, which is the least a claim needs,
    and no model that decides nothing. `seeds` replaces the preset's numbers of models that differ
    by seed. Models in which only one of the two seeds differs are trained with the paper's own
    numbers only.
    """
    if preset == "paper":
        return TrainingBudget(
            seed=seed,
            together=seeds or 8,
            apart=0 if seeds else 4,
            uniforms=seeds or 5,
            guides=seeds or 5,
            sweeps=seeds or 5,
            weights=PAPER_WEIGHTS,
            first_epochs=80 if from_scratch else 20,
            next_epochs=6,
            patience=10,
            from_scratch=from_scratch,
            deceptions=(0.1, 1.0),
            retrainings=seeds or 5,
            masked_shares=tuple(step / 10 for step in range(1, 10)),
        )
    return TrainingBudget(
        seed=seed,
        together=seeds or 2,  # with the base: 3 models
        apart=0,
        uniforms=seeds or 3,
        guides=seeds or 3,
        sweeps=seeds or 3,
        weights=QUICK_WEIGHTS,
        first_epochs=4,  # on `reviews`, the TVD of lambda 0 hardly falls afterwards
        next_epochs=3,
        patience=10,
        from_scratch=from_scratch,
        deceptions=(1.0,),
        imposed=DECIDING_GUIDES,
        retrainings=seeds or 3,
    )
