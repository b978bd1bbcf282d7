"""Which of a paper's figures can be drawn from the finished runs?"""

from collections.abc import Iterator

from assay.reference.published import Numbers
from assay.report.figures.dots import Dots, dot_figure
from assay.report.figures.drawn import in_both_inks
from assay.report.figures.style import Figure
from assay.reproduction.cells import RANDOM
from assay.reproduction.collected import Collected, Printed
from assay.reproduction.compare import Row
from assay.reproduction.frontier import frontier_figure

FOLDER = "figures"  # beside the page
FRONTIER = "frontier"


def drawn_figures(collected: Collected, numbers: Numbers) -> dict[str, tuple[str, str]]:
    """Table -> its file, as seen from the page, and its drawing."""
    found = {printed.table.name: _figure(collected, printed, numbers)
             for printed in collected.tables}  # fmt: skip
    return {
        table: (f"{FOLDER}/{figure.name}.svg", in_both_inks(figure))
        for table, figure in found.items()
        if figure is not None
    }


def _figure(collected: Collected, printed: Printed, numbers: Numbers) -> Figure | None:
    """Drawn is what names an axis and has numbers, and what has a drawing of its own."""
    if printed.table.drawing == FRONTIER:
        return frontier_figure(collected, numbers)
    panels = list(_panels(printed))
    return dot_figure(f"{collected.paper.name}-{printed.table.name}", panels) if panels else None


def _panels(printed: Printed) -> Iterator[Dots]:
    for part, rows in printed.parts:
        intervals = [(row, number.interval) for row in rows for number in row.numbers]
        lines = tuple(
            (_label(row), interval) for row, interval in intervals if interval is not None
        )
        if part.axis and lines:
            yield Dots(part.title, part.axis, lines)


def _label(row: Row) -> str:
    vectors = "" if row.cell.vectors == RANDOM else f", {row.cell.vectors.partition('.')[0]}"
    return f"{row.cell.grid.label}: {row.model}{vectors}"
