"""How do the long rows of a summary become tables that a reader can compare down a column?"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from assay.report import words
from assay.report.record import SummaryRow

EVERYTHING = "all"
MOST_CLASSES = 12  # rows of classes in one table; the rest stay in summary.csv


@dataclass(frozen=True)
class Row:
    """The statistics over one set of documents, which `n` and `skipped` count."""

    group: str | None
    predicted: str
    n: int | None
    skipped: int | None
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class Table:
    """One quantity of one probe."""

    quantity: str
    caption: str
    statistics: tuple[str, ...]
    grouped: bool
    rows: tuple[Row, ...]
    classes_left_out: int


def tables(summary: Iterable[SummaryRow]) -> dict[str, list[Table]]:
    """Tables by probe, both in the order in which the summary names them."""
    found: dict[str, dict[str, list[SummaryRow]]] = {}
    for row in summary:
        found.setdefault(row.probe, {}).setdefault(row.quantity, []).append(row)
    return {
        probe: [_table(name, rows) for name, rows in quantities.items()]
        for probe, quantities in found.items()
    }


def _table(quantity: str, rows: list[SummaryRow]) -> Table:
    shown, left_out = _most_predicted(rows)
    names = tuple(dict.fromkeys(row.statistic for row in rows))
    return Table(
        quantity=quantity,
        caption=words.quantity(quantity),
        statistics=tuple(words.statistic(name) for name in names),
        grouped=any(row.group for row in shown),
        rows=tuple(_rows(shown, names)),
        classes_left_out=left_out,
    )


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


def _documents(row: SummaryRow) -> tuple[str | None, str, int | None, int | None]:
    return row.group, row.predicted, row.n, row.skipped
