"""Results of a paper: the rows of every table, from all finished runs below one folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.config import OWN_VECTORS
from assay.data.catalog import corpora_table
from assay.papers.declared import Paper, Part, Table
from assay.reproduction.comparison import (
    NO_PAIR,
    Beside,
    ComparedRow,
    compared_rows,
    has_rows,
    value_sources,
)
from assay.reproduction.finished_runs import FinishedRun, runs_of
from assay.reproduction.judgement import judged_parts
from assay.reproduction.models import RANDOM, DeclaredModel, declared_models

NOT_YET = "not yet: `assay reproduce` without `--only`, `--encoder` and `--seeds` trains it"


@dataclass(frozen=True)
class Reason:
    """Why a model has no runs: a few words for a row, and a sentence for the list below."""

    short: str
    full: str


def missing_files(data: Path | None) -> dict[str, str]:
    """Corpus -> what is missing and where to get it, for corpora that cannot be read."""
    return {
        row["name"]: f"its files are missing. It reads {row['reads']}. {row['get']}"
        for row in corpora_table(data)
        if row["status"] == "missing"
    }


@dataclass(frozen=True)
class Reasons:
    """Reasons for missing runs: failures of this call, the declaration, and missing files."""

    missing: Mapping[str, str]
    failures: Mapping[DeclaredModel, str]

    def of(self, model: DeclaredModel) -> Reason:
        corpus = model.grid.name
        if model in self.failures and corpus not in self.missing:
            return Reason("could not be run", self.failures[model])
        if model.grid.unless_named:
            return Reason("see below", model.grid.unless_named)
        if corpus in self.missing:
            return Reason("files missing", self.missing[corpus])
        return Reason("not yet", NOT_YET)


@dataclass(frozen=True)
class ComparedTable:
    """A declared table with the rows of each of its parts."""

    table: Table
    parts: tuple[tuple[Part, tuple[ComparedRow, ...]], ...]


@dataclass(frozen=True)
class PaperResults:
    """Everything that the page of a paper shows."""

    paper: Paper
    tables: tuple[ComparedTable, ...]
    runs: Mapping[DeclaredModel, Sequence[FinishedRun]]  # every declared model, runs by seed
    not_run: tuple[tuple[str, str], ...]  # models, and the full reason


def collect_results(
    paper: Paper,
    complete: list[FinishedRun],
    vectors: str | None,
    numbers: Beside,
    reason_of: Callable[[DeclaredModel], Reason],
) -> PaperResults:
    """Collect and judge the numbers of complete runs.

    `vectors` names the selected vectors file. Other vectors files are found in the runs.
    """
    files = {run.vectors for run in complete} | {vectors or RANDOM}
    models = declared_models(paper, sorted(files - {RANDOM, OWN_VECTORS}))
    runs = {model: runs_of(model, paper, complete) for model in models}
    reasons = {model: reason_of(model) for model, found in runs.items() if not found}
    tables = [_compared_table(table, runs, numbers, reasons) for table in paper.tables]
    return PaperResults(paper, _judged(tables), runs, _group_by_reason(reasons))


def _judged(tables: Sequence[ComparedTable]) -> tuple[ComparedTable, ...]:
    """The tables with judgements; the variance between seeds is pooled over all of them."""
    judged = iter(judged_parts([part for table in tables for part in table.parts]))
    return tuple(replace(table, parts=tuple(next(judged) for _ in table.parts)) for table in tables)


def _compared_table(
    table: Table,
    runs: Mapping[DeclaredModel, Sequence[FinishedRun]],
    numbers: Beside,
    reasons: Mapping[DeclaredModel, Reason],
) -> ComparedTable:
    parts = []
    for part in table.parts:
        rows = [
            row
            for model in runs
            if has_rows(part, model)
            for row in compared_rows(
                part,
                model,
                value_sources(part, model, runs),
                numbers,
                _short_reason(part, model, reasons),
            )
        ]
        parts.append((part, tuple(_without_repetition(with_probe(part, rows)))))
    return ComparedTable(table, tuple(parts))


def with_probe(part: Part, rows: Sequence[ComparedRow]) -> Sequence[ComparedRow]:
    """Drop models that are declared without the probe of this part, if other rows have numbers.

    A model with the probe but without a number stays, if there is a published number.
    """
    probes = {measure.probe for measure in part.measures if measure.probe is not None}

    def is_shown(row: ComparedRow) -> bool:
        declared = row.model.grid.probes
        has_probe = not declared or probes <= set(declared)
        return bool(row.not_run) or row.is_measured or (has_probe and row.is_published)

    return list(filter(is_shown, rows)) if any(row.is_measured for row in rows) else rows


def _without_repetition(rows: Sequence[ComparedRow]) -> Iterator[ComparedRow]:
    """Show at most one empty row per corpus: enough to see that the corpus was not run.

    Models that were run but have no partner are all shown, because no list below the tables has
    them.
    """
    shown = {row.model.grid.label for row in rows if not row.is_empty}
    for row in rows:
        label = row.model.grid.label
        if not row.is_empty or row.not_run == NO_PAIR or label not in shown:
            shown.add(label)
            yield row


def _short_reason(part: Part, model: DeclaredModel, reasons: Mapping[DeclaredModel, Reason]) -> str:
    """The short reason of the first missing model of this part."""
    needed = [replace(model, encoder=name) for name in part.encoders] or [model]
    short = [reasons[each].short for each in needed if each in reasons]
    return short[0] if short else NO_PAIR


def _group_by_reason(reasons: Mapping[DeclaredModel, Reason]) -> tuple[tuple[str, str], ...]:
    """One line for all models of one corpus and kind of vectors that share a reason."""
    lines: dict[tuple[str, str], list[str]] = {}
    for model, reason in reasons.items():
        label = model.grid.label
        subject = label if model.vectors == RANDOM else f"{label} with `{model.vectors}`"
        lines.setdefault((subject, reason.full), []).append(model.name)
    return tuple(
        (f"{subject} ({', '.join(names)})", full) for (subject, full), names in lines.items()
    )
