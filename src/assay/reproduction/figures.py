"""Figures of a paper, drawn from finished runs.

A part of a table that names an axis is drawn as dots with intervals. Wiegreffe & Pinter's figure 5
has a drawing of its own: each model is a point, by its distance from the base model's attention and
from its predictions, and the published points are drawn with ours.
"""

from collections.abc import Iterator

from assay.papers.published import OVERALL, Numbers
from assay.report.charts.frontier import Plane, Point, plane_of, planes_figure
from assay.report.charts.intervals import Dots, dot_figure
from assay.report.charts.style import Figure, in_both_inks
from assay.reproduction.comparison import ComparedRow
from assay.reproduction.models import RANDOM
from assay.reproduction.results import ComparedTable, PaperResults
from assay.runs.directory import read_run

FOLDER = "figures"  # in the folder of the page
FRONTIER = "frontier"
FRONTIER_TABLE = "figure5"
SHAPES = {  # the beginning of a published setting -> the mark of its points
    "adversary lambda sweep": "circle",
    "random seed (triangle)": "triangle-up",
    "uniform weights": "square",
    "Jain & Wallace": "cross",
}
FRONTIER_CAPTION = """\
Our points are filled, published points are outlined. The vertical axis is the mean TVD of the \
predictions. Circles are imitation models, with one line for each sweep over lambda. Triangles are \
models with other seeds, the square is a model with uniform weights, and the cross shows the \
adversarial weights of each document."""


def draw_figures(results: PaperResults, numbers: Numbers) -> dict[str, tuple[str, str]]:
    """Table name -> the figure's path relative to the page, and its SVG text."""
    figures = {table.table.name: _figure(results, table, numbers) for table in results.tables}
    return {
        name: (f"{FOLDER}/{figure.name}.svg", in_both_inks(figure))
        for name, figure in figures.items()
        if figure is not None
    }


def _figure(results: PaperResults, table: ComparedTable, numbers: Numbers) -> Figure | None:
    if table.table.drawing == FRONTIER:
        return frontier_figure(results, numbers)
    panels = list(_panels(table))
    return dot_figure(f"{results.paper.name}-{table.table.name}", panels) if panels else None


def _panels(table: ComparedTable) -> Iterator[Dots]:
    for part, rows in table.parts:
        intervals = [(row, number.interval) for row in rows for number in row.numbers]
        lines = tuple(
            (_label(row), interval) for row, interval in intervals if interval is not None
        )
        if part.axis and lines:
            yield Dots(part.title, part.axis, lines)


def _label(row: ComparedRow) -> str:
    model = row.model
    vectors = "" if model.vectors == RANDOM else f", {model.vectors.partition('.')[0]}"
    return f"{model.grid.label}: {row.model_name}{vectors}"


def frontier_figure(results: PaperResults, numbers: Numbers) -> Figure | None:
    """Wiegreffe & Pinter's figure 5: one panel per corpus whose first run swept lambda."""
    panels = [
        ([label], plane, published_plane(numbers, corpus))
        for corpus, label, plane in _planes(results)
    ]
    return planes_figure(f"{results.paper.name}-{FRONTIER_TABLE}", panels) if panels else None


def published_plane(numbers: Numbers, corpus: str) -> Plane:
    """The published points. The paper printed half the TVD; it is doubled to match ours."""
    points = {
        shape: [
            Point(f"published, {setting}", jsd.value, 2 * half_tvd.value)
            for setting in numbers.beginning(FRONTIER_TABLE, corpus, start)
            if (jsd := numbers.find(FRONTIER_TABLE, corpus, setting, OVERALL, "jsd")) is not None
            and (half_tvd := numbers.find(FRONTIER_TABLE, corpus, setting, OVERALL, "half_tvd"))
            is not None
        ]
        for start, shape in SHAPES.items()
    }
    return Plane((), points)


def _planes(results: PaperResults) -> Iterator[tuple[str, str, Plane]]:
    for model, runs in results.runs.items():
        for run in runs[:1]:
            plane = plane_of(read_run(run.folder))
            if plane.sweeps:
                yield model.grid.name, model.grid.label, plane
