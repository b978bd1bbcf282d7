"""Which of a paper's figures can be drawn from the finished runs?

Where do our counterfeits stand, and where the published ones? Wiegreffe & Pinter's figure 5.
"""

from collections.abc import Iterator

from assay.papers.published import OVERALL, Numbers
from assay.report.charts.frontier import Plane, Point, plane_of, planes_figure
from assay.report.charts.intervals import Dots, dot_figure
from assay.report.charts.style import Figure, in_both_inks
from assay.reproduction.comparison import ComparedRow
from assay.reproduction.models import RANDOM
from assay.reproduction.results import Collected, Printed
from assay.runs.directory import read_run

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


def _label(row: ComparedRow) -> str:
    vectors = "" if row.cell.vectors == RANDOM else f", {row.cell.vectors.partition('.')[0]}"
    return f"{row.cell.grid.label}: {row.model}{vectors}"


TABLE = "figure5"
SHAPES = {  # how published settings begin: the mark that stands for them
    "adversary lambda sweep": "circle",
    "random seed (triangle)": "triangle-up",
    "uniform weights": "square",
    "Jain & Wallace": "cross",
}
CAPTION = """\
In colour ours, in outline published; upwards the mean TVD of the predictions. Circles are \
counterfeits, one line for each sweep over lambda; triangles other seeds; the square uniform \
weights; the cross the furthest weights of each document."""


def frontier_figure(collected: Collected, numbers: Numbers) -> Figure | None:
    """One panel per corpus whose first run swept lambda."""
    panels = [
        ([label], ours, published_plane(numbers, corpus))
        for corpus, label, ours in _planes(collected)
    ]
    return planes_figure(f"{collected.paper.name}-{TABLE}", panels) if panels else None


def published_plane(numbers: Numbers, corpus: str) -> Plane:
    """Published as half the TVD; here doubled, to stand beside ours."""
    others = {
        shape: [
            Point(f"published, {setting}", far.value, 2 * moved.value)
            for setting in numbers.beginning(TABLE, corpus, start)
            if (far := numbers.find(TABLE, corpus, setting, OVERALL, "jsd")) is not None
            and (moved := numbers.find(TABLE, corpus, setting, OVERALL, "half_tvd")) is not None
        ]
        for start, shape in SHAPES.items()
    }
    return Plane((), others)


def _planes(collected: Collected) -> Iterator[tuple[str, str, Plane]]:
    for cell, runs in collected.runs.items():
        for run in runs[:1]:
            plane = plane_of(read_run(run.folder))
            if plane.sweeps:
                yield cell.grid.name, cell.grid.label, plane
