"""What do all finished runs of a paper come to, table by table?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.reference.declared import Paper, Part, Table
from assay.reference.published import Numbers
from assay.reproduction.cells import RANDOM, Cell, all_cells
from assay.reproduction.compare import Row, rows_of
from assay.reproduction.differences import NO_PARTNER, measured, rows_for
from assay.reproduction.finished import Run, complete_runs, runs_of
from assay.reproduction.why import Why
from assay.vectors import OWN


@dataclass(frozen=True)
class Printed:
    table: Table
    parts: tuple[tuple[Part, tuple[Row, ...]], ...]


@dataclass(frozen=True)
class Collected:
    """Everything the page shows."""

    paper: Paper
    tables: tuple[Printed, ...]
    runs: Mapping[Cell, Sequence[Run]]  # every declared model, with its runs by seed
    not_run: tuple[tuple[str, str], ...]  # models, and why in full


def collect(
    paper: Paper, out: Path, vectors: str | None, published: Numbers, why: Callable[[Cell], Why]
) -> Collected:
    """From the runs below `out`; `vectors` names the file asked for, others are found there."""
    complete = complete_runs(out)
    files = {run.vectors for run in complete} | {vectors or RANDOM}
    cells = all_cells(paper, sorted(files - {RANDOM, OWN}))
    runs = {cell: runs_of(cell, paper, complete) for cell in cells}
    reasons = {cell: why(cell) for cell, found in runs.items() if not found}
    tables = tuple(_printed(table, runs, published, reasons) for table in paper.tables)
    return Collected(paper, tables, runs, _grouped(reasons))


def _printed(
    table: Table,
    runs: Mapping[Cell, Sequence[Run]],
    published: Numbers,
    reasons: Mapping[Cell, Why],
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


def _asked(part: Part, rows: Sequence[Row]) -> Sequence[Row]:
    """Without the models whose runs were not asked for any of these numbers, if some were.

    One that was asked and has no answer stays beside what was published.
    """
    probes = {measure.probe for measure in part.measures if measure.probe is not None}

    def stays(row: Row) -> bool:
        asked = not row.cell.grid.probes or probes <= set(row.cell.grid.probes)
        return bool(row.not_run) or row.measured or (asked and row.published)

    return list(filter(stays, rows)) if any(row.measured for row in rows) else rows


def _told_once(rows: Sequence[Row]) -> Iterator[Row]:
    """Of the models without any number only enough to show that their corpus was not run.

    Models that were run and cannot be compared are told each: no list below the tables has them.
    """
    shown = {row.cell.grid.label for row in rows if not row.empty}
    for row in rows:
        if not row.empty or row.not_run == NO_PARTNER or row.cell.grid.label not in shown:
            shown.add(row.cell.grid.label)
            yield row


def _why_not(part: Part, cell: Cell, reasons: Mapping[Cell, Why]) -> str:
    """In few words, of the first model that is missing."""
    needed = [replace(cell, encoder=name) for name in part.encoders] or [cell]
    short = [reasons[each].short for each in needed if each in reasons]
    return short[0] if short else NO_PARTNER


def _grouped(reasons: Mapping[Cell, Why]) -> tuple[tuple[str, str], ...]:
    """Models of one corpus and kind of vectors that share a reason share a line."""
    lines: dict[tuple[str, str], list[str]] = {}
    for cell, why in reasons.items():
        name = cell.grid.label
        subject = name if cell.vectors == RANDOM else f"{name} with `{cell.vectors}`"
        lines.setdefault((subject, why.whole), []).append(cell.model)
    return tuple((f"{name} ({', '.join(m)})", whole) for (name, whole), m in lines.items())
