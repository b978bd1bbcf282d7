"""How do the long rows of a summary become tables that a reader can compare down a column?"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from assay.report import words
from assay.report.record import SummaryRow

EVERYTHING = "all"
MOST_CLASSES = 12  # rows of classes in one table; the rest stay in summary.csv

Subject = tuple[str, str | None]


@dataclass(frozen=True)
class Row:
    """The statistics over one set of documents, which `n` and `skipped` count."""

    predicted: str
    n: int | None
    skipped: int | None
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class Part:
    """One quantity, and one of the groups if the probe varied something."""

    caption: str
    rows: tuple[Row, ...]
    classes_left_out: int


@dataclass(frozen=True)
class Table:
    """Quantities of one probe that are summarised alike."""

    statistics: tuple[str, ...]
    parts: tuple[Part, ...]


def tables(summary: Iterable[SummaryRow]) -> dict[str, list[Table]]:
    """Tables by probe, both in the order in which the summary names them."""
    found: dict[str, dict[Subject, list[SummaryRow]]] = {}
    for row in filter(_is_shown, summary):
        found.setdefault(row.probe, {}).setdefault(subject_of(row), []).append(row)
    return {probe: list(_tables(probe, subjects)) for probe, subjects in found.items()}


def _is_shown(row: SummaryRow) -> bool:
    """Not what a matrix shows; and a class that was never predicted has nothing to say."""
    said = row.predicted == EVERYTHING or row.n != 0 or row.skipped != 0
    return said and not words.is_detail(row.quantity)


def subject_of(row: SummaryRow) -> Subject:
    """Quantity and group; the p of a tau stands in the tau's own row."""
    name = row.quantity
    return (f"tau_{name.removeprefix('p_')}" if name.startswith("p_") else name), row.group


def _tables(probe: str, subjects: dict[Subject, list[SummaryRow]]) -> Iterable[Table]:
    for names, alike in groupby(subjects.items(), key=lambda pair: _statistics(pair[1])):
        yield Table(
            statistics=tuple(words.statistic(name) for name in names),
            parts=tuple(_part(probe, subject, rows, names) for subject, rows in alike),
        )


def _statistics(rows: list[SummaryRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.statistic for row in rows))


def _part(probe: str, subject: Subject, rows: list[SummaryRow], names: tuple[str, ...]) -> Part:
    quantity, group = subject
    caption = words.quantity(quantity, probe) + (f": {words.group(group)}" if group else "")
    shown, left_out = _most_predicted(rows)
    return Part(caption, tuple(_rows(shown, names)), left_out)


def _most_predicted(rows: list[SummaryRow]) -> tuple[list[SummaryRow], int]:
    """The rows over everything, and those of the classes with the most documents."""
    sizes: dict[str, int] = {}
    for row in rows:
        if row.predicted != EVERYTHING:
            sizes[row.predicted] = max(sizes.get(row.predicted, 0), row.n or 0)
    kept = {EVERYTHING, *sorted(sizes, key=lambda name: -sizes[name])[:MOST_CLASSES]}
    return [row for row in rows if row.predicted in kept], max(0, len(sizes) - MOST_CLASSES)


def _rows(rows: list[SummaryRow], names: tuple[str, ...]) -> Iterable[Row]:
    """Statistics stand side by side only if they were taken over the same documents."""
    order = {key: place for place, key in enumerate(dict.fromkeys(map(_documents, rows)))}
    in_order = sorted(rows, key=lambda row: order[_documents(row)])
    for key, members in groupby(in_order, key=_documents):
        cells = {row.statistic: row for row in members}
        yield Row(*key, cells=tuple(cells.get(name) for name in names))


def _documents(row: SummaryRow) -> tuple[str, int | None, int | None]:
    return row.predicted, row.n, row.skipped
