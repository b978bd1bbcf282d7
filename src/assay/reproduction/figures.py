"""Which of a paper's figures can be drawn from the finished runs?"""

from collections.abc import Iterator

from assay.report.figures.dots import Dots, dot_figure
from assay.report.figures.drawn import in_both_inks
from assay.reproduction.cells import RANDOM
from assay.reproduction.collected import Collected, Printed
from assay.reproduction.compare import Row

FOLDER = "figures"  # beside the page


def drawn_figures(collected: Collected) -> dict[str, tuple[str, str]]:
    """Table -> its file, as seen from the page, and its drawing.

    Drawn is what names an axis and has numbers.
    """
    found = {printed.table.name: list(_panels(printed)) for printed in collected.tables}
    drawn: dict[str, tuple[str, str]] = {}
    for table, panels in found.items():
        if panels:
            name = f"{collected.paper.name}-{table}"
            drawn[table] = (f"{FOLDER}/{name}.svg", in_both_inks(dot_figure(name, panels)))
    return drawn


def _panels(printed: Printed) -> Iterator[Dots]:
    for part, rows in printed.parts:
        intervals = [(row, number.interval) for row in rows for number in row.numbers]
        lines = tuple(
            (_label(row), interval) for row, interval in intervals if interval is not None
        )
        if part.axis and lines:
            yield Dots(part.title, part.axis, lines)


def _label(row: Row) -> str:
    vectors = "" if row.cell.vectors == RANDOM else f", {row.cell.vectors}"
    return f"{row.cell.grid.name}: {row.model}{vectors}"
