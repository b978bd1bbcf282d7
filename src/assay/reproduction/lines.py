"""What does a person at the terminal see of a table? One line per number, so that grep works."""

from collections.abc import Collection, Iterator, Sequence

from assay.reproduction.cells import Cell
from assay.reproduction.collected import Printed
from assay.reproduction.compare import Row
from assay.reproduction.spelled import number


def printed_lines(tables: Sequence[Printed], cells: Collection[Cell]) -> Iterator[str]:
    """The rows of these models."""
    for printed in tables:
        yield printed.table.title
        for part, rows in printed.parts:
            yield f"  {part.title}"
            headings = [measure.heading for measure in part.measures]
            for row in rows:
                if row.cell in cells:
                    yield from (f"    {line}" for line in _row_lines(row, headings))


def _row_lines(row: Row, headings: Sequence[str]) -> Iterator[str]:
    model = f"{row.cell.grid.label} {row.model} {row.cell.vectors} {row.name}"
    if row.not_run:
        yield f"{model}: not run: {row.not_run}"
        return
    for heading, each in zip(headings, row.numbers, strict=True):
        published = "" if each.published is None else f" | published {each.published} {each.mark}"
        seeds = f"{row.seeds} seed{'s' if row.seeds > 1 else ''} {number(each.seeds)}"
        yield f"{model}: {heading}: {seeds} | documents {number(each.instances)}{published}"
