"""What a probe is: one question about a model's attention, declared with its quantities.

The lists of `assay probes`, the documentation and the headings of the report are generated from
the declaration.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.models.view import View
from assay.scores.cost import Cost
from assay.training.specs import ModelOutputs, ModelSpec, TrainingBudget

# `significant` is the share of p-values at most 0.05, `share` the share of ones among zeros and
# ones. `accuracy`, `f1` (of the second of two classes) and `macro_f1` (of three classes or more)
# compare a predicted class with the label. `mean_over_seeds` is for one number per trained model,
# with Student's t interval. `over_documents` is the F1 of some models minus that of others,
# computed from their rows of `prediction` (see `compares`); `common_f1` is the mean F1 of a group's
# models with the same classes for every group. `mean_shared` is the mean over the documents that
# have all quantities of `shared_with` too, and `mean_by_seed` has one row per model.
Statistic = Literal[
    "mean",
    "median",
    "std",
    "significant",
    "share",
    "accuracy",
    "f1",
    "macro_f1",
    "mean_over_seeds",
    "over_documents",
    "common_f1",
    "mean_shared",
    "mean_by_seed",
    "max",
]
Direction = Literal["higher is more faithful", "lower is more faithful", "neither"]
Scores = Mapping[str, np.ndarray]  # name -> (B, T) float64, zero on padding


@dataclass(frozen=True)
class Quantity:
    """One measured number per instance, and how it is summarized."""

    name: str
    meaning: str
    statistics: tuple[Statistic, ...]
    unit: str = ""
    direction: Direction = "neither"
    binned_by: str | None = None  # another quantity of the probe, cut at `edges`
    edges: tuple[float, ...] = ()
    compares: tuple[str, str] | None = None  # two groups of `prediction`, for `over_documents`
    shared_with: tuple[str, ...] = ()  # quantities that a document must have for `mean_shared`
    detail: bool = False  # one of a large family: summarized, but not listed


@dataclass(frozen=True)
class ProbeOutcome:
    """The result of a probe on a batch: rows of evidence and, rarely, a column of item values."""

    rows: list[pl.DataFrame]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)  # name -> (B, T)


@dataclass(frozen=True)
class Trainings:
    """The two halves of a probe that needs further models: what to train, and what to conclude."""

    plan: Callable[[TrainingBudget, Corpus], Sequence[ModelSpec]]  # or raises NotApplicable
    conclude: Callable[
        [Mapping[ModelSpec, ModelOutputs], TrainingBudget, Corpus], list[pl.DataFrame]
    ]


@dataclass(frozen=True)
class Probe:
    """The declaration of a probe."""

    name: str
    question: str
    null: str  # what one would observe if attention carried no information here
    paper: str
    needs: Literal["model", "model + trainer"]
    scores: tuple[str, ...]  # the scores it reads; those the model cannot give are absent
    quantities: tuple[Quantity, ...]
    measure: Callable[[View, Scores], ProbeOutcome] | None = None
    trainings: Trainings | None = None  # instead of `measure`, if it needs further models
    heads: bool = False  # asked only of models with several heads, which assay does not train
    inputs: tuple[str, ...] = ()  # what else it reads, by name; see `probes.inputs`
    cost: Cost | None = None  # in encoder steps; of a probe that measures a sample of documents
