"""What is a probe: one question about a model's attention, which declares itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from assay.models.view import View

Statistic = Literal["mean", "median", "std", "significant"]
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
    detail: bool = False  # one of a large family: measured and summarised, but not listed


@dataclass(frozen=True)
class Outcome:
    """What a probe found on a batch: rows of evidence and, rarely, a number per item to keep."""

    rows: list[pl.DataFrame]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)  # name -> (B, T)


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
    measure: Callable[[View, Scores], Outcome]
