"""Which further trainings does a probe ask for, and what does it get to see of them?

A probe declares its trainings and never trains. A lesson is a value: two probes that ask for
the same one share it, and a lesson that needs another simply holds it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["weights", "permuted", "tf-idf", "leave_one_out", "other half"]


@dataclass(frozen=True)
class Base:
    """The run's own model: trained already, only looked at."""

    leave_one_out: bool = False  # also look at what each item's deletion changes


@dataclass(frozen=True)
class Task:
    """Learn the labels."""


@dataclass(frozen=True)
class Imitate:
    """Predict as another model does, with attention as far from its own as pays.

    Wiegreffe & Pinter 2019, section 4: half the TVD minus `weight` times KL. No labels.
    """

    base: "Source"
    weight: float


@dataclass(frozen=True)
class Deceive:
    """Learn the labels while keeping attention off the marked items.

    Pruthi et al. 2020: adds -weight * log(1 - mass on the marked items).
    """

    weight: float


@dataclass(frozen=True)
class Guide:
    """Attention is not learnt but imposed, document by document."""

    kind: Kind
    of: tuple["Source", ...] = ()  # whose attention it is made from


@dataclass(frozen=True)
class Lesson:
    """One training. What is None is as in the run's own model."""

    init_seed: int
    order_seed: int
    encoder: str | None = None
    attention: str | None = None
    aim: Task | Imitate | Deceive = Task()
    guide: Guide | None = None
    half: int | None = None  # 0 or 1: train on that half of the documents only
    start: "Lesson | None" = None  # whose weights it starts from, in place of fresh ones
    epochs: int | None = None
    patience: int | None = None  # epochs without a better training loss; None: no early stop


Source = Base | Lesson


def needs(source: Source) -> tuple[Source, ...]:
    """What must be finished before this can begin."""
    if isinstance(source, Base):
        return ()
    return tuple(dict.fromkeys(_needs(source)))


def reads(lesson: Lesson) -> Iterator[Source]:
    """Whose attention and predictions on train it learns from."""
    if isinstance(lesson.aim, Imitate):
        yield lesson.aim.base
    if lesson.guide is not None:
        yield from lesson.guide.of


def _needs(lesson: Lesson) -> Iterator[Source]:
    if lesson.start is not None:
        yield lesson.start
    yield from reads(lesson)


@dataclass(frozen=True)
class Scale:
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
class Looked:
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
class Outputs:
    """Of one finished lesson."""

    dev: Looked
    test: Looked
    unmarked: Looked | None = None  # test without its marked items, where items are marked
