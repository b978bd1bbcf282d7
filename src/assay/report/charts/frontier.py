"""How far can weights go as the prediction may move more?

What does another attention cost in prediction? Wiegreffe & Pinter's figure 5.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import altair as alt

from assay.report.charts.distributions import JSD
from assay.report.charts.style import (
    ATTENTION,
    LABEL_WIDTH,
    PAGE,
    RIVAL,
    WIDTH,
    Chart,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.sections.adversary import NAME, PAPER_EPS, FrontierPoint, eps_group, frontier
from assay.report.sections.tables import EVERYTHING
from assay.report.sections.trained import values_by_model
from assay.runs.directory import RunRecord

HEIGHT = 150
FARTHEST = log(2)  # the JSD of weights that share no item
TICKS = [0.001, 0.01, 0.1, 0.5]


def frontier_figure(record: RunRecord) -> Iterator[Figure]:
    """The mean over all documents with its interval; dashed, the bound of a bracket."""
    if points := frontier(record):
        said = "Mean largest JSD over all documents. " + "; ".join(map(_say, points)) + "."
        yield Figure("adversary_frontier", NAME, _frontier(points), said)


def _frontier(points: list[FrontierPoint]) -> alt.LayerChart:
    base, mean = chart(_rows(points)), "mean:Q"
    layers = [
        base.mark_area(color=ATTENTION, opacity=0.3).encode(y="low:Q", y2="high:Q"),
        base.mark_line(color=ATTENTION).encode(y=mean),
        base.mark_point(color=ATTENTION, filled=True, size=45, opacity=1).encode(
            y=mean, tooltip="say:N"
        ),
        _highest(),
    ]
    if any(point.upper is not None for point in points):
        bound = base.mark_line(color=ATTENTION, strokeDash=[4, 3]).encode(y="upper:Q")
        layers.insert(1, bound)
    across = alt.X("eps:Q", title="eps: change of the prediction allowed (TVD)")
    across = across.scale(type="log", domain=[points[0].eps, points[-1].eps], nice=False)
    upward = alt.Y(mean, title=None).scale(domain=[0, FARTHEST], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    shared = layered(*layers).encode(x=across.axis(values=TICKS, format="~g"), y=upward)
    return shared.properties(width=WIDTH, height=HEIGHT, title="mean of the largest JSD")


def _rows(points: list[FrontierPoint]) -> Rows:
    return [
        {
            "eps": point.eps,
            "mean": short(point.mean),
            "low": short(point.low),
            "high": short(point.high),
            "upper": short(point.mean if point.upper is None else point.upper),
            "say": _say(point),
        }
        for point in points
    ]


def _highest() -> alt.Chart:
    line = chart([{"most": FARTHEST, "say": f"ln 2 = {FARTHEST:.3f}: no weights can be further"}])
    rule = line.mark_rule(strokeDash=[3, 2]).encode(tooltip="say:N")
    whole: alt.Chart = rule.encode(y="most:Q", x=alt.value(0), x2=alt.value(WIDTH))
    return whole


def _say(point: FrontierPoint) -> str:
    said = f"eps {point.eps:g}: {point.mean:.3f} [{point.low:.3f}, {point.high:.3f}]"
    return said if point.upper is None else f"{said}, at most {point.upper:.3f}"


IMITATION = "imitation"
PLANE_HEIGHT = 190
SIZE = 60  # of a mark
HEADROOM = 1.1  # above the highest point
LAMBDA = "lambda="
TITLE = [
    "mean TVD of the predictions",
    "circles: counterfeits, by lambda",
    "triangles: other seeds; square: uniform",
    "cross: furthest weights per document",
]


@dataclass(frozen=True)
class Point:
    """A model, or the exact adversary, by how far it attends and predicts from the base."""

    name: str
    far: float
    moved: float

    def row(self, **further: float | str) -> dict[str, float | str]:
        say = f"{self.name}: mean JSD {self.far:.3f}, mean TVD {self.moved:.3f}"
        return {"x": short(self.far), "y": short(self.moved), "say": say, **further}


@dataclass(frozen=True)
class Plane:
    """All that stands in one figure: sweeps over lambda, and marks by their shape."""

    sweeps: Sequence[tuple[int, Point]]  # (seed of the sweep, model)
    others: Mapping[str, Sequence[Point]]

    @property
    def points(self) -> list[Point]:
        swept = [point for _, point in self.sweeps]
        return [*swept, *(point for some in self.others.values() for point in some)]

    @property
    def words(self) -> str:
        said = "; ".join(str(point.row()["say"]) for point in self.points)
        return f"Mean TVD against mean JSD. {said}."


def imitation_figure(record: RunRecord) -> Iterator[Figure]:
    """Drawn where there is a sweep; seeds, uniform and adversary where they were measured."""
    plane = plane_of(record)
    if plane.sweeps:
        drawn = drawn_plane(plane, TITLE)
        yield Figure("imitation_frontier", IMITATION, drawn, plane.words)


def planes_figure(name: str, panels: Sequence[tuple[Sequence[str], Plane, Plane]]) -> Figure:
    """For pages of tables made again: (title, ours, published), two beside each other."""
    drawn = [drawn_plane(ours, title, published) for title, ours, published in panels]
    rows = [alt.hconcat(*drawn[i : i + 2], spacing=24) for i in range(0, len(drawn), 2)]
    said = " ".join(f"{title[0]}. {ours.words}" for title, ours, _ in panels)
    return Figure(name, IMITATION, alt.vconcat(*rows, spacing=24), said, PAGE)


def plane_of(record: RunRecord) -> Plane:
    others = {"triangle-up": _seeds(record), "square": _uniform(record), "cross": _exact(record)}
    return Plane(_sweeps(record), others)


def drawn_plane(plane: Plane, title: Sequence[str], published: Plane | None = None) -> Chart:
    """Published points stand behind ours, in the ink of the page."""
    behind = [] if published is None else [
        _marks(found, shape, ink=None) for shape, found in published.others.items() if found
    ]  # fmt: skip
    shown = plane.points + ([] if published is None else published.points)
    highest = HEADROOM * max([0.01, *(point.moved for point in shown)])
    marks = [_marks(found, shape) for shape, found in plane.others.items() if found]
    upward = alt.Y("y:Q", title=None).scale(domain=[0, highest], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    rightward = across("x", "mean JSD to the model’s own weights", (0.0, JSD.high))
    drawn = layered(*behind, _curve(plane.sweeps), *marks).encode(x=rightward, y=upward)
    return drawn.properties(width=WIDTH, height=PLANE_HEIGHT, title=list(title))


def _curve(sweeps: Sequence[tuple[int, Point]]) -> alt.LayerChart:
    """One line per sweep, from the lowest lambda to the highest."""
    rows: Rows = [
        point.row(sweep=str(seed), turn=turn) for turn, (seed, point) in enumerate(sweeps)
    ]
    base = chart(rows)
    line = base.mark_line(color=ATTENTION).encode(detail="sweep:N", order="turn:Q")
    dots = base.mark_point(color=ATTENTION, filled=True, size=SIZE, opacity=1)
    return layered(line, dots.encode(tooltip="say:N"))


def _marks(points: Sequence[Point], shape: str, ink: str | None = RIVAL) -> alt.Chart:
    """Without an ink of their own they are outlines in that of the page."""
    marks = chart([point.row() for point in points])
    filled = ink is not None and shape != "square"
    drawn: alt.Chart = marks.mark_point(
        color=alt.Undefined if ink is None else ink,
        shape=shape,
        filled=filled,
        size=SIZE,
        opacity=1,
    ).encode(tooltip="say:N")
    return drawn


def _sweeps(record: RunRecord) -> list[tuple[int, Point]]:
    """(seed of the sweep, model), seed by seed and lambda by lambda."""
    far = values_by_model(record, IMITATION, "mean_jsd")
    moved = values_by_model(record, IMITATION, "mean_tvd")
    found = [
        (seed, float(group.removeprefix(LAMBDA)), far[group, seed], moved[group, seed])
        for group, seed in far
        if group.startswith(LAMBDA) and (group, seed) in moved
    ]
    return [(seed, Point(f"lambda {weight:g}, seed {seed}", x, y))
            for seed, weight, x, y in sorted(found)]  # fmt: skip


def _seeds(record: RunRecord) -> list[Point]:
    moved = values_by_model(record, "seeds", "mean_tvd")
    return [
        Point(f"trained again, seed {seed}", far, moved[group, seed])
        for (group, seed), far in values_by_model(record, "seeds", "mean_jsd").items()
        if group == "both" and (group, seed) in moved
    ]


def _uniform(record: RunRecord) -> list[Point]:
    moved = values_by_model(record, IMITATION, "mean_tvd")
    return [
        Point("uniform weights", far, moved[group, seed])
        for (group, seed), far in values_by_model(record, IMITATION, "mean_jsd").items()
        if group == "uniform" and (group, seed) in moved
    ]


def _exact(record: RunRecord) -> list[Point]:
    """Each document's own furthest weights: no single model need give them."""
    eps = PAPER_EPS[0]
    means = {
        row.quantity: row.value
        for row in record.summary
        if (row.probe, row.group, row.predicted, row.statistic)
        == ("adversary", eps_group(eps), EVERYTHING, "mean")
    }
    far, moved = means.get("max_jsd"), means.get("adversary_tvd")
    if far is None or moved is None:
        return []
    return [Point(f"furthest weights per document, prediction within {eps:g}", far, moved)]
