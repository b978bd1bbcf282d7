"""Grids of the probes whose numbers vary in two respects: a score or order, and what was changed.

In the summary such a number has a group like `attention;share=0.1`: the last part is the column of
the grid, what precedes it is the line. One line per group, as for other probes, would fill pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.report import text as words
from assay.report.sections.tables import EVERYTHING
from assay.report.sections.trained import OVER_SEEDS, OverModels, over_models
from assay.runs.directory import RunRecord, SummaryRow

STEPS: Mapping[str, str] = {**words.GROUPS["sanity"], **words.GROUPS["masked_training"]}
RACU = "RACU"
Cells = dict[tuple[str, str], OverModels]  # by line and column


@dataclass(frozen=True)
class GridLine:
    """One score or order."""

    name: str
    cells: tuple[OverModels | None, ...]
    # That its numbers are means over, counted once; None: they are numbers of models.
    documents: int | None


@dataclass(frozen=True)
class Grid:
    """Numbers by score or order, and by what was changed."""

    label: str
    columns: tuple[str, ...]
    lines: tuple[GridLine, ...]


def grids(run: RunRecord) -> dict[str, tuple[Grid, ...]]:
    """The grids of each probe that was asked."""
    wanted = {
        "sanity": [_grid("order of the items that is kept", _order_kept(run))],
        "roar": [_grid("accuracy by share of masked items, and RACU", _curves(run))],
        "masked_training": [
            _grid(f"{measure} of both models", _cells(run, "masked_training", quantity))
            for measure in ("comprehensiveness", "sufficiency")
            for quantity in [f"way_to_best_{measure}"]
        ],
    }
    found = {probe: tuple(one for one in some if one.lines) for probe, some in wanted.items()}
    return {probe: some for probe, some in found.items() if some}


def _order_kept(run: RunRecord) -> Cells:
    rows = _rows(run, "sanity", "order_kept", "mean")
    return {_place(row): OverModels(row, ()) for row in rows}


def _curves(run: RunRecord) -> Cells:
    """Accuracy by the share of masked items, and the RACU of an order as its last column."""
    cells = _cells(run, "roar", "accuracy")
    for row in _rows(run, "roar", "racu", OVER_SEEDS):
        cells[row.group or "", RACU] = over_models(run, row)
    return cells


def _cells(run: RunRecord, probe: str, quantity: str) -> Cells:
    return {_place(row): over_models(run, row) for row in _rows(run, probe, quantity, OVER_SEEDS)}


def _rows(run: RunRecord, probe: str, quantity: str, statistic: str) -> Iterator[SummaryRow]:
    wanted = (probe, quantity, statistic, EVERYTHING)
    for row in run.summary:
        if (row.probe, row.quantity, row.statistic, row.predicted) == wanted and row.group:
            yield row


def _place(row: SummaryRow) -> tuple[str, str]:
    line, _, column = (row.group or "").rpartition(";")
    return line, column


def _grid(label: str, cells: Cells) -> Grid:
    lines, columns = (tuple(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    return Grid(
        label,
        tuple(_heading(column) for column in columns),
        tuple(_line(name, [cells.get((name, one)) for one in columns]) for name in lines),
    )


def _line(name: str, cells: Sequence[OverModels | None]) -> GridLine:
    counted = [cell.row.n for cell in cells if cell is not None and cell.row.statistic == "mean"]
    # Where several models were trained for a column, its row counts every document several times.
    return GridLine(words.group(name), tuple(cells), min((n or 0 for n in counted), default=None))


def _heading(column: str) -> str:
    share = column.removeprefix("share=")
    if share != column:
        return f"{float(share):.0%} masked".replace("%", " %")
    return STEPS.get(column, words.group(column))
