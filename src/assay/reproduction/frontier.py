"""Where do our counterfeits stand, and where the published ones? Wiegreffe & Pinter's figure 5."""

from collections.abc import Iterator

from assay.reference.published import OVERALL, Numbers
from assay.report.figures.counterfeits import Plane, Point, plane_of, planes_figure
from assay.report.figures.style import Figure
from assay.report.record import read_run
from assay.reproduction.collected import Collected

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
