"""Comparison of measured values with published ones, row by row.

A row is read from the runs of one model or, for a difference, from pairs of runs on the same
documents. Documents of a pair are joined by their ids, so that variation between documents cancels;
documents for which one of the two values does not exist are left out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.papers.declared import ALL, Measure, Part
from assay.papers.published import OVERALL, Numbers, Published, beside
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.models import DeclaredModel
from assay.statistics.intervals import Interval, mean_interval, seeds_interval

NO_PAIR = "no two runs with the same seed and documents"
NOTHING = "–"
NO_CLASSES = "–"  # a model that was neither run nor published has no classes yet
Mark = Literal["inside", "outside", "no interval", "not measured", ""]
RULE = """\
A published number is marked **inside** if it lies within our 95 % interval, bounds included, and \
**outside** otherwise. It is taken as printed, with no allowance for rounding. If a model was \
trained with two or more seeds, the interval is Student's t over seeds. If it was trained once, \
the interval is over test documents (percentile bootstrap; Wilson for proportions) and does not \
include the variation between seeds. If a number describes whole models and one run trains several \
of them, the interval is Student's t over those models. Standard deviations have no interval over \
documents. Published numbers without a remark were printed in the paper. The remark "recalled" \
means not verified, and "digitised" means read off a figure. A number published for another corpus \
is shown for orientation and is not marked."""


@dataclass(frozen=True)
class RunPair:
    """Two finished runs on the same documents; a value is the first's minus the second's."""

    first: FinishedRun
    second: FinishedRun

    @property
    def classes(self) -> tuple[str, ...]:
        return self.first.classes

    def value(self, measure: Measure, class_name: str, score: str) -> Interval | None:
        """The mean difference over documents of all classes; None if it was not measured."""
        assert measure.probe is not None, "a difference is between quantities of a probe"
        assert measure.quantity is not None, "a difference is between quantities of a probe"
        minuend = self.first.documents(measure.probe, measure.quantity)
        subtrahend = self.second.documents(measure.probe, measure.less or measure.quantity)
        joined = minuend.join(subtrahend, on="instance", suffix="_less", maintain_order="left")
        joined = joined.drop_nulls()
        if joined.is_empty():
            return None
        differences = (joined["value"] - joined["value_less"]).to_numpy()
        return mean_interval(differences, self.first.seed)


ValueSource = FinishedRun | RunPair


def value_sources(
    part: Part, model: DeclaredModel, runs: Mapping[DeclaredModel, Sequence[FinishedRun]]
) -> Sequence[ValueSource]:
    """What a row is read from, by seed: runs of the model, or pairs of runs for a difference."""
    if part.encoders:
        other = runs.get(replace(model, encoder=part.encoders[1]), ())
        return [
            RunPair(first, second)
            for first in runs[model]
            for second in other
            if first.seed == second.seed and first.fingerprint == second.fingerprint
        ]
    if any(measure.less is not None for measure in part.measures):
        return [RunPair(run, run) for run in runs[model]]
    return runs[model]


def has_rows(part: Part, model: DeclaredModel) -> bool:
    """Whether the model has its own rows; two compared encoders share the row of the first."""
    return not part.encoders or model.encoder == part.encoders[0]


@dataclass(frozen=True)
class ComparedNumber:
    """One measured number and the published one, if there is one."""

    published: Published | None
    seeds: Interval | None  # mean over the seeds that have the number
    documents: Interval | None  # of the first seed

    @property
    def interval(self) -> Interval | None:
        """The interval that decides: over seeds if there are several, otherwise over documents."""
        return self.seeds if self.seeds is not None and self.seeds.n > 1 else self.documents

    @property
    def mark(self) -> Mark:
        if self.published is None or self.published.of:
            return ""
        if self.seeds is None:
            return "not measured"
        interval = self.interval
        if interval is None or math.isnan(interval.low):
            return "no interval"
        return "inside" if interval.low <= self.published.value <= interval.high else "outside"


@dataclass(frozen=True)
class ComparedRow:
    """The numbers of one model, or of two compared ones, for one class."""

    model: DeclaredModel  # of two compared models the first
    model_name: str
    class_name: str  # or `all`
    seeds: int
    numbers: tuple[ComparedNumber, ...]
    not_run: str = ""  # why nothing was measured

    @property
    def is_measured(self) -> bool:
        return any(number.seeds is not None for number in self.numbers)

    @property
    def is_published(self) -> bool:
        return any(number.published is not None for number in self.numbers)

    @property
    def is_empty(self) -> bool:
        """Whether it was neither run nor published."""
        return bool(self.not_run) and not self.is_published


def compared_rows(
    part: Part,
    model: DeclaredModel,
    sources: Sequence[ValueSource],
    published: Numbers,
    not_run: str,
) -> Iterator[ComparedRow]:
    """One row per class: the predicted classes of the runs or, without runs, the published ones."""
    name = f"{' − '.join(part.encoders)}, {model.attention}" if part.encoders else model.name
    for class_name, group in _classes(part, model, sources, published):
        numbers = tuple(
            _compare(
                measure,
                model,
                class_name,
                sources,
                beside(published, part, model.grid, model.name, group, measure),
            )
            for measure in part.measures
        )
        reason = "" if sources else not_run
        yield ComparedRow(model, name, class_name, len(sources), numbers, reason)


def _classes(
    part: Part, model: DeclaredModel, sources: Sequence[ValueSource], published: Numbers
) -> list[tuple[str, str]]:
    """Pairs of the class name and the group under which the class was published."""
    if (part.rows or model.grid.rows) == ALL:
        return [(ALL, OVERALL)]
    if sources:
        return [(name, str(number)) for number, name in enumerate(sources[0].classes)]
    groups = published.groups(part.published, model.grid.name, model.name)
    return [(f"class {group}", group) for group in groups] or [(NO_CLASSES, OVERALL)]


def _compare(
    measure: Measure,
    model: DeclaredModel,
    class_name: str,
    sources: Sequence[ValueSource],
    published: Published | None,
) -> ComparedNumber:
    values = [source.value(measure, class_name, model.grid.score) for source in sources]
    scaled = [interval.times(measure.times) for interval in values if interval is not None]
    if not scaled:
        return ComparedNumber(published, None, None)
    first = None if values[0] is None else scaled[0]
    return ComparedNumber(published, seeds_interval([each.value for each in scaled]), first)


def format_interval(interval: Interval | None) -> str:
    """A value with its bounds to three decimals, one more than most published numbers have."""
    if interval is None or math.isnan(interval.value):
        return NOTHING
    if math.isnan(interval.low):
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
