"""What a claim is: its question, its thresholds, and how it reads the evidence.

A claim stands whole in one file: its question, its two thresholds, and a function that turns rows
of evidence into measures. It decides nothing itself: `decision` does that, for all claims alike.

The thresholds are two numbers with a zone between them. They were chosen on the calibration
families of `assay controls`, which are models whose answer is known; docs/controls.md shows how
often they err on other families.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import polars as pl

from assay.statistics.estimates import Estimate
from assay.statistics.intervals import Interval

Finding = Literal["supported", "contradicted", "undecided", "not measured", "not applicable"]
NotionName = Literal["transparency", "faithfulness", "plausibility"]
Reason = Literal[
    "between the thresholds",
    "interval too wide",
    "reference too weak",
    "nothing to measure",
    "the model guesses",
    "too few models",
    "too few documents",
    "search too weak",
]
JAIN_WALLACE = "Jain & Wallace 2019"
SERRANO_SMITH = "Serrano & Smith 2019"
ERASER = "DeYoung et al. 2020"
FAITHFULNESS_VIOLATION = "Liu et al. 2022"
WIEGREFFE_PINTER = "Wiegreffe & Pinter 2019"
# Thresholds of all effects on the scale from 0 (shuffled weights) to 1 (the best possible): a claim
# holds if its effect is clearly more than half of the way, and fails if it is clearly less. One
# pair for all of them leaves no room to fit a rule to a model. On the calibration families of
# `assay controls`, 500 documents suffice to tell dose 0 and dose 1 from the zone between.
HOLDS_ABOVE = 0.6
FAILS_BELOW = 0.4
FEWEST_DOCUMENTS = 30  # in the denominator of every decision
FEWEST_MODELS = 3  # for a claim about several models
SHARE_BOUNDS = (0.0, 1.0)
SIGNED_BOUNDS = (-1.0, 1.0)


@dataclass(frozen=True)
class Notion:
    """One meaning of "explanation"."""

    asks: str  # the question that it puts
    would_mean: str  # what a positive answer means for a heat map, as a clause after "that"
    refrain: str  # what not to do if the answer is no


NOTIONS: Mapping[str, Notion] = {
    "transparency": Notion(
        "Is attention a working part of the model that one can inspect?",
        "this heat map shows a part that the model works with",
        "Do not say that this heat map shows a part that the model works with.",
    ),
    "faithfulness": Notion(
        "Are these weights, and no others, the reason for the prediction?",
        "this heat map shows the reason for a prediction",
        "Do not show this heat map as the reason for a prediction.",
    ),
    "plausibility": Notion(
        "Would people accept the weights as reasons? This says nothing about the model’s own "
        "reasons.",
        "this heat map shows what people would point at",
        "Do not say that this heat map shows what people would point at.",
    ),
}


@dataclass(frozen=True)
class Measure:
    """One estimate that is tested against the claim's thresholds."""

    name: str
    estimate: Estimate
    formula: str  # how it is recomputed from the rows of summary.csv; see docs/verdict.md
    says: str = ""  # its name in plain words; empty where the name is plain

    @property
    def said(self) -> str:
        """What sentences call it."""
        return self.says or self.name


class Beside(NamedTuple):
    """A published number for the same question. It is shown and decides nothing."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, name: str, estimate: Estimate | Interval) -> "Beside":
        """With its 95 % interval."""
        if isinstance(estimate, Interval):
            return cls(name, estimate.value, estimate.low, estimate.high)
        return cls(name, estimate.value, *estimate.interval())


class Bar(NamedTuple):
    """Why a claim cannot be supported although its effect may lie above the threshold."""

    reason: Reason
    says: str  # a sentence


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the evidence says about a claim, before it is decided.

    Where several measures are joined, all of them must support the claim and all of them must
    contradict it; with `any_contradicts` a single one contradicts.
    """

    says: str  # the numbers, in one or two sentences
    measures: tuple[Measure, ...] = ()
    beside: tuple[Beside, ...] = ()
    reason: Reason | None = None  # why there is nothing to decide
    applicable: bool = True
    n: int = 0  # documents, where there is no measure
    fixed_sample: bool = False  # the documents are a sample whose size does not grow with the run
    considered: int | None = None  # documents of which only those of the measures could be asked
    any_contradicts: bool = False
    support_barred: Bar | None = None  # why the evidence cannot support, whatever the effect


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim: what it says, how the report words it, and what decides it."""

    name: str
    notion: NotionName
    says: str  # the claim as a sentence
    # For the page's first screen, in words that one says aloud; {word} and {words} stand for an
    # item and for several. The first if the claim is supported, the second if it is contradicted:
    # what to refrain from, a colon, and the finding as a sentence that can stand alone.
    may_be_said: str
    may_not_be_said: str
    effect_label: str  # what its effect measures
    unit: str  # of the effect
    probe: str  # the probe whose evidence decides it
    paper: str
    yardstick: str  # what the effect is compared with
    supported_above: float
    contradicted_below: float
    formulas: tuple[str, ...]  # of its measures, in their plainest form; see `formula`
    read: Callable[[pl.DataFrame, int], Reading]  # from the probe's rows and a seed for bootstraps
    several_models: bool = False  # the claim is about several models
    also_reads: tuple[str, ...] = ()  # further probes whose rows it reads, where there are any
    quantities: tuple[str, ...] = ()  # the only ones it reads, of a probe that has many; else all

    def __post_init__(self) -> None:
        if not self.contradicted_below < self.supported_above:
            raise ValueError(
                f"{self.name}: contradicted below {self.contradicted_below} and supported above "
                f"{self.supported_above} leave no zone between them"
            )

    @property
    def question(self) -> str:
        """What stays open if the claim is undecided, as it stands after "whether"."""
        first = self.may_be_said.partition(". ")[0].rstrip(".")
        return first[:1].lower() + first[1:]

    @property
    def contrary(self) -> str:
        """What was found if the claim is contradicted, as a sentence."""
        finding = self.may_not_be_said.partition(": ")[2]
        return finding[:1].upper() + finding[1:]


def as_sentence(reason: str) -> str:
    """A reason with a capital letter and a full stop."""
    return reason[:1].upper() + reason[1:].rstrip(".") + "."
