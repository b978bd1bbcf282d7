"""By how much do two models, or two quantities of one model, differ on the same documents?

Documents are joined by their ids, so that what one document has more or less in it drops out;
those for which one of the two does not exist are left out.

Does the published number lie within what we can tell from our own runs?
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.papers.declared import ALL, Measure, Part
from assay.papers.published import OVERALL, Numbers, Published, beside
from assay.reproduction.models import DeclaredModel, Run
from assay.statistics.intervals import Interval, mean_interval, seeds_interval

NO_PARTNER = "no two runs with the same seed and documents"

NOTHING = "–"


@dataclass(frozen=True)
class Pair:
    """Two finished runs on the same documents; the second's values are taken from the first's."""

    first: Run
    second: Run

    @property
    def classes(self) -> list[str]:
        return self.first.classes

    def value(self, measure: Measure, name: str, score: str) -> Interval | None:
        """The mean difference over documents of all classes; None: not measured."""
        assert measure.probe is not None, "a difference is between quantities of a probe"
        assert measure.quantity is not None, "a difference is between quantities of a probe"
        ours = self.first.documents(measure.probe, measure.quantity)
        theirs = self.second.documents(measure.probe, measure.less or measure.quantity)
        both = ours.join(theirs, on="instance", suffix="_less", maintain_order="left").drop_nulls()
        if both.is_empty():
            return None
        return mean_interval((both["value"] - both["value_less"]).to_numpy(), self.first.seed)


Measured = Run | Pair


def measured(
    part: Part, cell: DeclaredModel, runs: Mapping[DeclaredModel, Sequence[Run]]
) -> Sequence[Measured]:
    """What a row of this part is read from: runs of the model, or pairs of runs, by seed."""
    if part.encoders:
        other = runs.get(replace(cell, encoder=part.encoders[1]), ())
        return [
            Pair(first, second)
            for first in runs[cell]
            for second in other
            if first.seed == second.seed and first.fingerprint == second.fingerprint
        ]
    if any(measure.less is not None for measure in part.measures):
        return [Pair(run, run) for run in runs[cell]]
    return runs[cell]


def rows_for(part: Part, cell: DeclaredModel) -> bool:
    """Two encoders share a row, which stands under the first."""
    return not part.encoders or cell.encoder == part.encoders[0]


Mark = Literal["inside", "outside", "no interval", "not measured", ""]
EVERY = "–"  # a model that was neither run nor published has no classes yet
RULE = """\
A number is **inside** if the published value, as printed and with no allowance for its rounding, \
lies within our 95 % interval, bounds included; otherwise it is **outside**. Where a model was \
trained with two seeds or more that interval is Student's t over the seeds; where it was trained \
once it is the interval over test documents (percentile bootstrap, Wilson for shares), which knows \
nothing of what another seed would give. Numbers of whole models, of which one run trains several, \
have Student's t over those models. Standard deviations have no interval over documents. \
Published numbers without a word beside them were printed; others are marked (recalled: not \
verified; digitised: read off a figure). A number published of another corpus is shown for \
orientation and never judged by."""


@dataclass(frozen=True)
class Compared:
    """One number of ours beside the published one, if there is one."""

    published: Published | None
    seeds: Interval | None  # mean over the seeds that have the number
    instances: Interval | None  # of the first seed

    @property
    def interval(self) -> Interval | None:
        """The one that counts: over seeds if there are several, else over documents."""
        return self.seeds if self.seeds is not None and self.seeds.n > 1 else self.instances

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
    """One model, or two compared, and class; `not_run` says why there are no numbers of ours."""

    cell: DeclaredModel  # of two the first
    model: str
    name: str  # of the class; `all`
    seeds: int
    numbers: tuple[Compared, ...]
    not_run: str = ""

    @property
    def measured(self) -> bool:
        return any(each.seeds is not None for each in self.numbers)

    @property
    def published(self) -> bool:
        return any(each.published is not None for each in self.numbers)

    @property
    def empty(self) -> bool:
        """Neither ours nor published."""
        return bool(self.not_run) and not self.published


def rows_of(
    part: Part, cell: DeclaredModel, runs: Sequence[Measured], published: Numbers, not_run: str
) -> Iterator[ComparedRow]:
    """A row per class: predicted classes where runs name them, else the published ones."""
    rows = part.rows or cell.grid.rows
    for name, group in _classes(part, cell, runs, published, rows):
        numbers = tuple(
            _compared(
                measure,
                cell,
                name,
                runs,
                beside(published, part, cell.grid, cell.model, group, measure),
            )
            for measure in part.measures
        )
        yield ComparedRow(
            cell, _model(part, cell), name, len(runs), numbers, "" if runs else not_run
        )


def _model(part: Part, cell: DeclaredModel) -> str:
    return f"{' − '.join(part.encoders)}, {cell.attention}" if part.encoders else cell.model


def _classes(
    part: Part, cell: DeclaredModel, runs: Sequence[Measured], published: Numbers, rows: str
) -> list[tuple[str, str]]:
    """(the class as we name it, the group under which it was published)."""
    if rows == ALL:
        return [(ALL, OVERALL)]
    if runs:
        return [(name, str(number)) for number, name in enumerate(runs[0].classes)]
    groups = published.groups(part.published, cell.grid.name, cell.model)
    return [(f"class {group}", group) for group in groups] or [(EVERY, OVERALL)]


def _compared(
    measure: Measure,
    cell: DeclaredModel,
    name: str,
    runs: Sequence[Measured],
    published: Published | None,
) -> Compared:
    found = [run.value(measure, name, cell.grid.score) for run in runs]
    there = [interval.times(measure.times) for interval in found if interval is not None]
    if not there:
        return Compared(published, None, None)
    first = None if found[0] is None else there[0]
    return Compared(published, seeds_interval([each.value for each in there]), first)


def number(interval: Interval | None) -> str:
    """Three places: one more than most published numbers have."""
    if interval is None or math.isnan(interval.value):
        return NOTHING
    if math.isnan(interval.low):
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
