"""Figures of a paper, drawn from finished runs.

A part of a table that names an axis is drawn as dots with intervals. Wiegreffe & Pinter's figure 5
has a drawing of its own: each model is a point, by its distance from the base model's attention and
from its predictions, and the published points are drawn with ours. Other figures are those of the
report, for the first seed of one model per corpus.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay.papers.declared import Table
from assay.papers.published import OVERALL, Numbers
from assay.report.charts.documents import heat_pair
from assay.report.charts.erasure import delta_js_points
from assay.report.charts.frontier import Plane, Point, planes_figure
from assay.report.charts.histograms import jsd_histogram, tau_figures
from assay.report.charts.intervals import Dots, dot_figure
from assay.report.charts.style import Figure, in_both_inks, stacked_definitions
from assay.reproduction.comparison import ComparedRow
from assay.reproduction.models import RANDOM
from assay.reproduction.results import ComparedTable, PaperResults
from assay.reproduction.stored_runs import Drawings
from assay.runs.directory import RunRecord, read_run

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


DOTS_CAPTION = """\
Dots are means and lines are 95 % intervals: over seeds if a model was trained with several seeds, \
otherwise over documents."""
RUN_CAPTION = "The figure is drawn from the first seed of the first model of each corpus."
WITH_WORDS = "heat_pair"  # texts of corpora are not ours to store
# Drawing -> the figures of a run; the first is shown.
OF_RUNS: dict[str, Callable[[RunRecord], Iterator[Figure]]] = {
    WITH_WORDS: heat_pair,
    "tau_histogram": tau_figures,
    "jsd_histogram": jsd_histogram,
    "delta_js": delta_js_points,
}


def caption(table: Table) -> str:
    """What the figure of a table shows."""
    if table.drawing in OF_RUNS:
        return RUN_CAPTION
    return FRONTIER_CAPTION if table.drawing == FRONTIER else DOTS_CAPTION


def draw_figures(
    results: PaperResults, numbers: Numbers, stored: Mapping[str, Drawings] | None = None
) -> dict[str, tuple[str, str]]:
    """Table name -> the figure's path relative to the page, and its SVG text.

    `stored` are figures of runs that are not here, by table.
    """
    stored = stored or {}
    figures = {
        table.table.name: _figure(results, table, numbers, stored.get(table.table.name, {}))
        for table in results.tables
    }
    return {
        name: (f"{FOLDER}/{results.paper.name}-{name}.svg", in_both_inks(figure))
        for name, figure in figures.items()
        if figure is not None
    }


def document_drawings(results: PaperResults) -> dict[str, Drawings]:
    """Table -> the figures of single runs, except those with words of a document."""
    return {
        table.table.name: run_drawings(results, table.table)
        for table in results.tables
        if table.table.drawing in OF_RUNS and table.table.drawing != WITH_WORDS
    }


def _figure(
    results: PaperResults, table: ComparedTable, numbers: Numbers, stored: Drawings
) -> Figure | None:
    if table.table.drawing == FRONTIER:
        return frontier_figure(results, numbers)
    if table.table.drawing in OF_RUNS:
        return run_figure(results, table.table, stored)
    panels = list(_panels(table))
    return dot_figure(f"{results.paper.name}-{table.table.name}", panels) if panels else None


def run_figure(
    results: PaperResults, table: Table, stored: Drawings | None = None
) -> Figure | None:
    """The figure of the report for one run per corpus, one under the other, as declared."""
    drawn = {**(stored or {}), **run_drawings(results, table)}
    labels = dict.fromkeys(model.grid.label for model in results.runs)
    ordered = {label: drawn[label] for label in labels if label in drawn}
    return stacked_definitions(f"{results.paper.name}-{table.name}", ordered) if ordered else None


def run_drawings(results: PaperResults, table: Table) -> Drawings:
    """Corpus -> the definition of the report's figure for its first finished run."""
    drawn: dict[str, dict[str, Any]] = {}
    for model, runs in results.runs.items():
        kept = [run for run in runs if (run.folder / "evidence.parquet").is_file()]
        if kept and model.grid.name in table.drawn and model.grid.label not in drawn:
            found = next(OF_RUNS[table.drawing](read_run(kept[0].folder)), None)
            if found is not None:
                drawn[model.grid.label] = found.definition
    return drawn


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
            if run.plane.sweeps:
                yield model.grid.name, model.grid.label, run.plane
