"""What is a probe: one question about a model's attention, which declares itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.models.view import View
from assay.training.specs import ModelOutputs, ModelSpec, TrainingBudget

# `share` is of ones among zeros and ones. The three after it are for the number of a class that was
# decided: it is held against the label. `f1` is of the second of two classes, `macro_f1` of more.
# `mean_over_seeds` is for a number per trained model, with Student's t interval. `over_documents`
# is the F1 of some models minus that of others, from their rows of `prediction` (see `compares`).
Statistic = Literal["mean", "median", "std", "significant", "share", "accuracy", "f1", "macro_f1",
                    "mean_over_seeds", "over_documents", "max"]  # fmt: skip
Direction = Literal["higher is more faithful", "lower is more faithful", "neither"]
Scores = Mapping[str, np.ndarray]  # name -> (B, T) float64, zero on padding


@dataclass(frozen=True)
class Quantity:
    """One measured number per instance, and how it is summarised."""

    name: str
    meaning: str
    statistics: tuple[Statistic, ...]
    unit: str = ""
    direction: Direction = "neither"
    binned_by: str | None = None  # another quantity of the probe, cut at `edges`
    edges: tuple[float, ...] = ()
    compares: tuple[str, str] | None = None  # two groups of `prediction`, for `over_documents`
    detail: bool = False  # one of a large family: measured and summarised, but not listed


@dataclass(frozen=True)
class ProbeOutcome:
    """What a probe found on a batch: rows of evidence and, rarely, a number per item to keep."""

    rows: list[pl.DataFrame]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)  # name -> (B, T)


@dataclass(frozen=True)
class Trainings:
    """How a probe that needs a trainer goes about it: it declares, and later reads."""

    plan: Callable[[TrainingBudget, Corpus], Sequence[ModelSpec]]  # or raises NotApplicable
    conclude: Callable[
        [Mapping[ModelSpec, ModelOutputs], TrainingBudget, Corpus], list[pl.DataFrame]
    ]


@dataclass(frozen=True)
class Probe:
    """Lists, docs and the report's headings are made from this declaration."""

    name: str
    question: str
    null: str  # what one would see if attention meant nothing here
    paper: str
    needs: Literal["model", "model + trainer"]
    scores: tuple[str, ...]  # those it reads, of the ones the model can give
    quantities: tuple[Quantity, ...]
    measure: Callable[[View, Scores], ProbeOutcome] | None = None
    trainings: Trainings | None = None  # in the place of `measure`, where it needs a trainer
    inputs: tuple[str, ...] = ()  # what else it reads, by name; see `probes.inputs`
