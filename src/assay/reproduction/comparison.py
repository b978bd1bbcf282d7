"""Comparison of measured values with published ones, row by row.

A row is read from the runs of one model or, for a difference, from pairs of runs on the same
documents. Documents of a pair are joined by their ids, so that variation between documents cancels;
documents for which one of the two values does not exist are left out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scipy.special import ndtri

from assay.papers.declared import ALL, Measure, Part
from assay.papers.published import OVERALL, Numbers, Published, Reruns, beside, rerun_key
from assay.reproduction.criterion import SAME_TEST, Difference, Verdict
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.models import DeclaredModel
from assay.statistics.intervals import TAILS, Interval, seeds_interval

NO_PAIR = "no two runs with the same seed and documents"
NOTHING = "–"
NO_CLASSES = "–"  # a model that was neither run nor published has no classes yet
RULE = """\
Every number stands beside the printed one and, for Jain & Wallace, beside the results of the \
authors' own program: *their later run* is what they publish today, and *their program* is that \
program on our data, with the same kind of vectors. Ours is the mean over seeds with Student's \
95 % interval. The difference is ours minus print, with the prediction interval that [the \
criterion](criterion.md) fixed before the runs: it contains the variance between seeds on both \
sides, pooled over models of a kind, and the rounding of print. **equivalent**: smaller than the \
margin of the quantity. **compatible**: the interval contains zero. **different**: it does not. \
**too imprecise**: it contains zero only because it is wide. Numbers that are recalled or read \
off a figure, and numbers for another sample of documents, are shown and not judged."""


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
        return self.first.difference(measure, self.second)


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
class Judgement:
    """Our number minus the printed one, and what the criterion says of it."""

    difference: Difference
    verdict: Verdict
    reason: str = ""  # why it is not judged


@dataclass(frozen=True)
class ComparedNumber:
    """One measured number, and the numbers beside it, if there are any."""

    published: Published | None
    seeds: Interval | None  # mean over the seeds that have the number
    documents: Interval | None  # of the first seed
    values: tuple[float, ...] = ()  # by seed, or by model if one run trained several
    documents_variance: float = 0.0  # what other test documents would change
    later: float | None = None  # the authors' later run
    program: tuple[float, ...] = ()  # their program on our data, by seed
    judgement: Judgement | None = None  # None without a printed and a measured number

    @property
    def is_compared(self) -> bool:
        """Whether a number of the authors stands beside it."""
        return self.published is not None or self.later is not None or bool(self.program)

    @property
    def interval(self) -> Interval | None:
        """The interval to show: over seeds if there are several, otherwise over documents."""
        return self.seeds if self.seeds is not None and self.seeds.n > 1 else self.documents


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
    def is_compared(self) -> bool:
        """Whether a number of the authors stands beside one of them."""
        return any(number.is_compared for number in self.numbers)

    @property
    def is_empty(self) -> bool:
        """Whether it was neither run nor published."""
        return bool(self.not_run) and not self.is_published


@dataclass(frozen=True)
class Beside:
    """The published numbers of a paper and the results of the authors' own program."""

    published: Numbers
    reruns: Reruns = field(default_factory=lambda: Reruns({}, {}))

    def number(
        self, part: Part, model: DeclaredModel, group: str, measure: Measure
    ) -> Published | None:
        return beside(self.published, part, model.grid, model.name, group, measure)

    def later(self, model: DeclaredModel, group: str, measure: Measure) -> float | None:
        return self.reruns.later.get(rerun_key(measure, model.grid, model.name, group))

    def program(self, model: DeclaredModel, group: str, measure: Measure) -> tuple[float, ...]:
        """Runs of their program with the same kind of vectors as the model's."""
        runs = self.reruns.program.get(rerun_key(measure, model.grid, model.name, group), {})
        return next((own for kind, own in runs.items() if kind in model.vectors), ())


def compared_rows(
    part: Part,
    model: DeclaredModel,
    sources: Sequence[ValueSource],
    numbers: Beside,
    not_run: str,
) -> Iterator[ComparedRow]:
    """One row per class: the predicted classes of the runs or, without runs, the published ones."""
    name = f"{' − '.join(part.encoders)}, {model.attention}" if part.encoders else model.name
    for class_name, group in _classes(part, model, sources, numbers.published):
        compared = tuple(
            _compare(
                measure, model, class_name, sources, _printed(numbers, part, model, group, measure)
            )
            for measure in part.measures
        )
        reason = "" if sources else not_run
        yield ComparedRow(model, name, class_name, len(sources), compared, reason)


def _printed(
    numbers: Beside, part: Part, model: DeclaredModel, group: str, measure: Measure
) -> ComparedNumber:
    """What is known of a number before any run is read."""
    if part.encoders:  # no program has these differences
        return ComparedNumber(numbers.number(part, model, group, measure), None, None)
    return ComparedNumber(
        numbers.number(part, model, group, measure),
        None,
        None,
        later=numbers.later(model, group, measure),
        program=numbers.program(model, group, measure),
    )


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
    printed: ComparedNumber,
) -> ComparedNumber:
    values = [source.value(measure, class_name, model.grid.score) for source in sources]
    scaled = [interval.times(measure.times) for interval in values if interval is not None]
    if not scaled:
        return printed
    by_seed = tuple(each.value for each in scaled)
    first = None if values[0] is None else scaled[0]
    only = sources[0]
    if measure.of_models and len(sources) == 1 and isinstance(only, FinishedRun):
        models = only.model_values(measure).values()
        by_seed = tuple(value * measure.times for value in models) or by_seed
    return replace(
        printed,
        seeds=seeds_interval([each.value for each in scaled]),
        documents=first,
        values=by_seed,
        documents_variance=_documents_variance(measure, model, only, first)
        if printed.published is not None
        else 0.0,
    )


def _documents_variance(
    measure: Measure, model: DeclaredModel, source: ValueSource, documents: Interval | None
) -> float:
    """The variance over test documents; for numbers of whole models, that of the base's score.

    It is zero if the test documents are the paper's.
    """
    if model.grid.name in SAME_TEST:
        return 0.0
    if measure.of_models and isinstance(source, FinishedRun):
        documents = source.score(model.grid.score)
    if documents is None or documents.n < 2:
        return 0.0
    if measure.statistic == "std":
        return documents.value**2 / (2 * documents.n)
    if math.isnan(documents.low):
        return 0.0
    return ((documents.high - documents.low) / (2 * float(ndtri(TAILS[1])))) ** 2


def format_interval(interval: Interval | None) -> str:
    """A value with its bounds to three decimals, one more than most published numbers have."""
    if interval is None or math.isnan(interval.value):
        return NOTHING
    if math.isnan(interval.low):
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
