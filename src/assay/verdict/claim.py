"""Claims about a model's attention, the notions they belong to, and what their rules share.

A claim stands whole in one file: its question, its thresholds, its rule, its sentence. The
thresholds are judgments. They were checked on control models, whose answer is known: `assay
controls` prints the effects of these models and docs/controls.md shows them. A comment "controls"
beside a threshold says what they showed: first the effect of the model whose attention is the
reason, then the highest (or lowest) effect of the models for which the claim is false.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from assay.evidence import labels_and_predictions
from assay.statistics.intervals import TAILS, Interval, f1_difference

Finding = Literal["supported", "contradicted", "undecided", "not measured", "not applicable"]
NotionName = Literal["transparency", "faithfulness", "plausibility"]
Decision = dict[str, Any]  # finding, effect, low, high, n, why
JAIN_WALLACE = "Jain & Wallace 2019"
SERRANO_SMITH = "Serrano & Smith 2019"
ERASER = "DeYoung et al. 2020"
WIEGREFFE_PINTER = "Wiegreffe & Pinter 2019"

# Thresholds that several claims share.
MAJORITY = 0.5  # of the documents
FAR_JSD = math.log(2) / 2  # from half of the largest JSD on, weights count as very different
ENOUGH_ERASED = 30  # documents; an interval over fewer is not reliable
# Attention must be worth something, by both intervals.
NEEDED_F1 = 0.0
# A gain that no table of the papers would print as one. Controls: 0.2 against 0.00. For `guides`
# the gain from weights that have not seen the label counts as well: in the control that hides its
# cue, the shape of the weights gave the label away.
DISPENSABLE_F1 = 0.01


@dataclass(frozen=True)
class Notion:
    """One meaning of "explanation"."""

    asks: str  # the question that it puts
    would_mean: str  # what a positive answer means for a heat map, as a clause after "that"


NOTIONS: Mapping[str, Notion] = {
    "transparency": Notion(
        "Is attention a working part of the model that one can inspect?",
        "this heat map shows a part that the model works with",
    ),
    "faithfulness": Notion(
        "Are these weights, and no others, the reason for the prediction?",
        "this heat map shows the reason for a prediction",
    ),
    "plausibility": Notion(
        "Would people accept the weights as reasons? This says nothing about the model’s own "
        "reasons.",
        "this heat map shows what people would point at",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim: what it says, how the report words it, and the rule that decides it."""

    name: str
    notion: NotionName
    says: str  # the claim as a sentence
    clause: str  # the same as it stands after "that"
    effect_label: str  # what its effect measures
    probe: str  # the probe whose evidence decides it
    paper: str
    yardstick: str  # what the effect is compared with
    decide: Callable[[pl.DataFrame, int], Decision]  # from the probe's rows and a seed
    also_reads: tuple[str, ...] = ()  # further probes whose rows it reads, where there are any


def decision(
    finding: Finding,
    why: str,
    effect: float | None = None,
    low: float | None = None,
    high: float | None = None,
    n: int = 0,
) -> Decision:
    return {"finding": finding, "effect": effect, "low": low, "high": high, "n": n, "why": why}


def side(low: float, high: float, *, supported: float, contradicted: float) -> Finding:
    """The finding for an interval: the whole of it must lie on one side of a threshold."""
    if low > supported:
        return "supported"
    return "contradicted" if high < contradicted else "undecided"


def as_sentence(reason: str) -> str:
    """A reason with a capital letter and a full stop."""
    return reason[:1].upper() + reason[1:].rstrip(".") + "."


def side_by_side(
    evidence: pl.DataFrame, names: Sequence[str], by: Literal["quantity", "group"] = "quantity"
) -> np.ndarray | None:
    """A row per instance that has all the quantities (or groups), and a column for each of them.

    None if one of them is absent from the evidence.
    """
    frame = evidence.filter(pl.col(by).is_in(names))
    if frame[by].n_unique() < len(names):
        return None
    wide = frame.pivot(by, index="instance", values="value").select(names)
    return wide.drop_nulls().to_numpy()


def ratio_bounds(numerators: np.ndarray, denominators: np.ndarray) -> tuple[float, float]:
    """The 95 % bounds of a ratio over resamples (DRAWS,).

    Resamples with a denominator of zero are left out: a single NaN would become both bounds. The
    caller has made sure that they are few.
    """
    defined = denominators != 0
    low, high = np.quantile(numerators[defined] / denominators[defined], TAILS).tolist()
    return low, high


def two_decimals(value: float) -> str:
    """Two decimals, without a minus sign before a zero."""
    return f"{round(float(value), 2) + 0:.2f}"


def f1_gap(evidence: pl.DataFrame, first: str, second: str, seed: int) -> Interval:
    """F1 of the models of group `first` minus that of `second`, with an interval over documents.

    The value is the mean over seeds. F1 is that of the positive class, or macro F1 with three
    classes or more.
    """
    labels, ones, others = labels_and_predictions(evidence, first, second)
    return f1_difference(labels, ones, others, seed)
