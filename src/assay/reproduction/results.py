"""Which runs are there, and what did they measure?

Only `run.json` and `summary.json` are read, two columns of `instances.parquet` for the score's
interval, and single quantities of `evidence.parquet`: a grid of large runs must fit into memory.

What do all finished runs of a paper come to, table by table?
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.config import OWN_VECTORS
from assay.data.catalog import corpora_table
from assay.papers.declared import Paper, Part, Table
from assay.papers.published import Numbers
from assay.reproduction.comparison import NO_PARTNER, ComparedRow, measured, rows_for, rows_of
from assay.reproduction.models import (
    RANDOM,
    DeclaredModel,
    Run,
    complete_runs,
    declared_models,
    runs_of,
)

NOT_YET = "not yet: the same command without `--only`, `--encoder` and `--seeds` trains it"


@dataclass(frozen=True)
class Why:
    """A few words for a table's row, and the whole for the list below the tables."""

    short: str
    whole: str


def missing_files(data: Path | None) -> dict[str, str]:
    """Corpus -> what is missing and where to get it, for those that cannot be read here."""
    return {
        row["name"]: f"its files are not here. It reads {row['reads']}. {row['get']}"
        for row in corpora_table(data)
        if row["status"] == "missing"
    }


@dataclass(frozen=True)
class Reasons:
    """What is known of the models without runs: from this call, the declaration and the files."""

    missing: Mapping[str, str]
    failures: Mapping[DeclaredModel, str]

    def of(self, cell: DeclaredModel) -> Why:
        corpus = cell.grid.name
        if cell in self.failures and corpus not in self.missing:
            return Why("could not be run", self.failures[cell])
        if cell.grid.unless_named:
            return Why("see below", cell.grid.unless_named)
        if corpus in self.missing:
            return Why("files missing", self.missing[corpus])
        return Why("not yet", NOT_YET)


@dataclass(frozen=True)
class Printed:
    table: Table
    parts: tuple[tuple[Part, tuple[ComparedRow, ...]], ...]


@dataclass(frozen=True)
class Collected:
    """Everything the page shows."""

    paper: Paper
    tables: tuple[Printed, ...]
    runs: Mapping[DeclaredModel, Sequence[Run]]  # every declared model, with its runs by seed
    not_run: tuple[tuple[str, str], ...]  # models, and why in full


def collect(
    paper: Paper,
    out: Path,
    vectors: str | None,
    published: Numbers,
    why: Callable[[DeclaredModel], Why],
) -> Collected:
    """From the runs below `out`; `vectors` names the file asked for, others are found there."""
    complete = complete_runs(out)
    files = {run.vectors for run in complete} | {vectors or RANDOM}
    cells = declared_models(paper, sorted(files - {RANDOM, OWN_VECTORS}))
    runs = {cell: runs_of(cell, paper, complete) for cell in cells}
    reasons = {cell: why(cell) for cell, found in runs.items() if not found}
    tables = tuple(_printed(table, runs, published, reasons) for table in paper.tables)
    return Collected(paper, tables, runs, _grouped(reasons))


def _printed(
    table: Table,
    runs: Mapping[DeclaredModel, Sequence[Run]],
    published: Numbers,
    reasons: Mapping[DeclaredModel, Why],
) -> Printed:
    parts = []
    for part in table.parts:
        rows = [
            row
            for cell in runs
            if rows_for(part, cell)
            for row in rows_of(part, cell, measured(part, cell, runs), published,
                               _why_not(part, cell, reasons))
        ]  # fmt: skip
        parts.append((part, tuple(_told_once(_asked(part, rows)))))
    return Printed(table, tuple(parts))


def _asked(part: Part, rows: Sequence[ComparedRow]) -> Sequence[ComparedRow]:
    """Without the models whose runs were not asked for any of these numbers, if some were.

    One that was asked and has no answer stays beside what was published.
    """
    probes = {measure.probe for measure in part.measures if measure.probe is not None}

    def stays(row: ComparedRow) -> bool:
        asked = not row.cell.grid.probes or probes <= set(row.cell.grid.probes)
        return bool(row.not_run) or row.measured or (asked and row.published)

    return list(filter(stays, rows)) if any(row.measured for row in rows) else rows


def _told_once(rows: Sequence[ComparedRow]) -> Iterator[ComparedRow]:
    """Of the models without any number only enough to show that their corpus was not run.

    Models that were run and cannot be compared are told each: no list below the tables has them.
    """
    shown = {row.cell.grid.label for row in rows if not row.empty}
    for row in rows:
        if not row.empty or row.not_run == NO_PARTNER or row.cell.grid.label not in shown:
            shown.add(row.cell.grid.label)
            yield row


def _why_not(part: Part, cell: DeclaredModel, reasons: Mapping[DeclaredModel, Why]) -> str:
    """In few words, of the first model that is missing."""
    needed = [replace(cell, encoder=name) for name in part.encoders] or [cell]
    short = [reasons[each].short for each in needed if each in reasons]
    return short[0] if short else NO_PARTNER


def _grouped(reasons: Mapping[DeclaredModel, Why]) -> tuple[tuple[str, str], ...]:
    """Models of one corpus and kind of vectors that share a reason share a line."""
    lines: dict[tuple[str, str], list[str]] = {}
    for cell, why in reasons.items():
        name = cell.grid.label
        subject = name if cell.vectors == RANDOM else f"{name} with `{cell.vectors}`"
        lines.setdefault((subject, why.whole), []).append(cell.model)
    return tuple((f"{name} ({', '.join(m)})", whole) for (name, whole), m in lines.items())
