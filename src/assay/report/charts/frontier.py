"""Frontiers: how far weights can move for a given change of the prediction.

One is for single documents, from the alternative weights. The other is for whole models: what
different attention costs in prediction, Wiegreffe & Pinter's figure 5.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import altair as alt

from assay.evidence import SHOWN_EPS
from assay.report.charts.distributions import JSD
from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    LABEL_WIDTH,
    PAGE,
    TEXT_SIZE,
    WIDTH,
    Chart,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.sections.adversary import NAME, FrontierPoint, eps_group, frontier
from assay.report.sections.tables import EVERYTHING
from assay.report.sections.trained import values_by_model
from assay.runs.directory import RunRecord

HEIGHT = 150
FARTHEST = log(2)  # the JSD of weights that share no item
TICKS = [0.001, 0.01, 0.1, 0.5]


def frontier_figure(record: RunRecord) -> Iterator[Figure]:
    """The mean over all documents with its interval; the bound of a bracket is dashed."""
    if points := frontier(record):
        description = f"Mean largest JSD over all documents. {'; '.join(map(_tooltip, points))}."
        yield Figure("adversary_frontier", NAME, _frontier(points), description)


def _frontier(points: list[FrontierPoint]) -> alt.LayerChart:
    base, mean = chart(_rows(points)), "mean:Q"
    layers = [
        base.mark_area(color=ATTENTION, opacity=0.3).encode(y="low:Q", y2="high:Q"),
        base.mark_line(color=ATTENTION).encode(y=mean),
        base.mark_point(color=ATTENTION, filled=True, size=45, opacity=1).encode(
            y=mean, tooltip="tooltip:N"
        ),
        _highest(),
    ]
    if any(point.upper is not None for point in points):
        bound = base.mark_line(color=ATTENTION, strokeDash=[4, 3]).encode(y="upper:Q")
        layers.insert(1, bound)
    rightward = alt.X("eps:Q", title="eps: allowed change of the prediction (TVD)")
    rightward = rightward.scale(type="log", domain=[points[0].eps, points[-1].eps], nice=False)
    upward = alt.Y(mean, title=None).scale(domain=[0, FARTHEST], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    shared = layered(*layers).encode(x=rightward.axis(values=TICKS, format="~g"), y=upward)
    return shared.properties(width=WIDTH, height=HEIGHT, title="mean of the largest JSD")


def _rows(points: list[FrontierPoint]) -> Rows:
    return [
        {
            "eps": point.eps,
            "mean": short(point.mean),
            "low": short(point.low),
            "high": short(point.high),
            "upper": short(point.mean if point.upper is None else point.upper),
            "tooltip": _tooltip(point),
        }
        for point in points
    ]


def _highest() -> alt.Chart:
    line = chart(
        [{"most": FARTHEST, "tooltip": f"ln 2 = {FARTHEST:.3f}: no weights can be further away"}]
    )
    rule = line.mark_rule(strokeDash=[3, 2]).encode(tooltip="tooltip:N")
    whole: alt.Chart = rule.encode(y="most:Q", x=alt.value(0), x2=alt.value(WIDTH))
    return whole


def _tooltip(point: FrontierPoint) -> str:
    mean = f"eps {point.eps:g}: {point.mean:.3f} [{point.low:.3f}, {point.high:.3f}]"
    return mean if point.upper is None else f"{mean}, at most {point.upper:.3f}"


IMITATION = "imitation"
PLANE_HEIGHT = 190
SIZE = 60  # of a mark
HEADROOM = 1.1  # above the highest point
LAMBDA = "lambda="
TITLE = ["how far the predictions are (mean TVD)"]
AXIS = "how different the attention is (mean JSD)"
SWEEP = "look-alikes"
LABELS: Mapping[str, str] = {  # by the shape of the marks
    "triangle-up": "trained again",
    "square": "equal weights",
    "cross": "furthest weights",
}
LETTER, LINE, ABOVE = 6.5, TEXT_SIZE + 2, 10  # pixels: of a letter, of a line, label above mark


@dataclass(frozen=True)
class Point:
    """A model, or the alternative weights, by the JSD and the TVD from the base model."""

    name: str
    far: float
    moved: float

    def row(self, **further: float | str) -> dict[str, float | str]:
        tooltip = f"{self.name}: mean JSD {self.far:.3f}, mean TVD {self.moved:.3f}"
        return {"x": short(self.far), "y": short(self.moved), "tooltip": tooltip, **further}


@dataclass(frozen=True)
class Plane:
    """The points of one figure: sweeps over lambda, and other points by the shape of their mark."""

    sweeps: Sequence[tuple[int, Point]]  # (seed of the sweep, model)
    others: Mapping[str, Sequence[Point]]

    @property
    def points(self) -> list[Point]:
        swept = [point for _, point in self.sweeps]
        return [*swept, *(point for some in self.others.values() for point in some)]

    @property
    def description(self) -> str:
        points = "; ".join(str(point.row()["tooltip"]) for point in self.points)
        return f"Mean TVD by mean JSD. {points}."


def imitation_figure(record: RunRecord) -> Iterator[Figure]:
    """The sweep over lambda; seeds, uniform and alternative weights where they were measured."""
    plane = plane_of(record)
    if plane.sweeps:
        drawn = drawn_plane(plane, TITLE, labels=mark_labels(plane))
        yield Figure("imitation_frontier", IMITATION, drawn, plane.description)


def planes_figure(name: str, panels: Sequence[tuple[Sequence[str], Plane, Plane]]) -> Figure:
    """Panels of (title, ours, published), two in a row, for the reproduction pages."""
    drawn = [drawn_plane(ours, title, published) for title, ours, published in panels]
    rows = [alt.hconcat(*drawn[i : i + 2], spacing=24) for i in range(0, len(drawn), 2)]
    description = " ".join(f"{title[0]}. {ours.description}" for title, ours, _ in panels)
    return Figure(name, IMITATION, alt.vconcat(*rows, spacing=24), description, PAGE)


def plane_of(record: RunRecord) -> Plane:
    others = {"triangle-up": _seeds(record), "square": _uniform(record), "cross": _exact(record)}
    return Plane(_sweeps(record), others)


def drawn_plane(
    plane: Plane,
    title: Sequence[str],
    published: Plane | None = None,
    labels: Sequence["MarkLabel"] = (),
) -> Chart:
    """Ours in front of the published points, which have the color of the page's text."""
    printed = Plane((), {}) if published is None else published
    behind = [_marks(found, shape, hue=None) for shape, found in printed.others.items() if found]
    shown = plane.points + printed.points
    highest = _highest_of(shown)
    marks = [_marks(found, shape) for shape, found in plane.others.items() if found]
    upward = alt.Y("y:Q", title=None).scale(domain=[0, highest], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    rightward = across("x", AXIS, (0.0, JSD.high))
    drawn = layered(*behind, _curve(plane.sweeps), *marks).encode(x=rightward, y=upward)
    drawn = layered(drawn, *(label.drawn() for label in labels))
    return drawn.properties(width=WIDTH, height=PLANE_HEIGHT, title=list(title))


def _highest_of(points: Sequence[Point]) -> float:
    return HEADROOM * max([0.01, *(point.moved for point in points)])


@dataclass(frozen=True)
class MarkLabel:
    """The name of a kind of mark, in pixels from the left and the top of the plane."""

    text: str
    x: float
    y: float
    hue: str

    def overlaps(self, other: "MarkLabel") -> bool:
        near = LETTER * (len(self.text) + len(other.text)) / 2
        return abs(self.x - other.x) < near and abs(self.y - other.y) < LINE

    def drawn(self) -> alt.Chart:
        text = chart([{"name": self.text}]).mark_text(color=self.hue, fontSize=TEXT_SIZE)
        named: alt.Chart = text.encode(
            x=alt.value(round(self.x, 1)), y=alt.value(round(self.y, 1)), text="name:N"
        )
        return named


def mark_labels(plane: Plane) -> list[MarkLabel]:
    """A label above the highest mark of each kind; one that has no room there moves up."""
    swept = [point for _, point in plane.sweeps]
    kinds = [(SWEEP, swept, ATTENTION)]
    kinds += [
        (LABELS[shape], list(found), COMPARISON) for shape, found in plane.others.items() if found
    ]
    highest, placed = _highest_of(plane.points), list[MarkLabel]()
    for text, points, hue in sorted(kinds, key=lambda kind: max(p.moved for p in kind[1])):
        top = max(points, key=lambda point: point.moved)
        margin = LETTER * len(text) / 2
        x = min(max(WIDTH * top.far / JSD.high, margin), WIDTH - margin)
        label = MarkLabel(text, x, PLANE_HEIGHT * (1 - top.moved / highest) - ABOVE, hue)
        while any(label.overlaps(other) for other in placed):
            label = replace(label, y=label.y - LINE)
        placed.append(label)
    return placed


def _curve(sweeps: Sequence[tuple[int, Point]]) -> alt.LayerChart:
    """One line per sweep, from the lowest lambda to the highest."""
    rows: Rows = [
        point.row(sweep=str(seed), turn=turn) for turn, (seed, point) in enumerate(sweeps)
    ]
    base = chart(rows)
    line = base.mark_line(color=ATTENTION).encode(detail="sweep:N", order="turn:Q")
    dots = base.mark_point(color=ATTENTION, filled=True, size=SIZE, opacity=1)
    return layered(line, dots.encode(tooltip="tooltip:N"))


def _marks(points: Sequence[Point], shape: str, hue: str | None = COMPARISON) -> alt.Chart:
    """Points of one shape; without a hue, outlines in the color of the page's text."""
    marks = chart([point.row() for point in points])
    filled = hue is not None and shape != "square"
    drawn: alt.Chart = marks.mark_point(
        color=alt.Undefined if hue is None else hue,
        shape=shape,
        filled=filled,
        size=SIZE,
        opacity=1,
    ).encode(tooltip="tooltip:N")
    return drawn


def _sweeps(record: RunRecord) -> list[tuple[int, Point]]:
    """The models as (seed of the sweep, model), by seed and lambda."""
    far = values_by_model(record, IMITATION, "mean_jsd")
    moved = values_by_model(record, IMITATION, "mean_tvd")
    found = [
        (seed, float(group.removeprefix(LAMBDA)), far[group, seed], moved[group, seed])
        for group, seed in far
        if group.startswith(LAMBDA) and (group, seed) in moved
    ]
    return [
        (seed, Point(f"lambda {weight:g}, seed {seed}", x, y))
        for seed, weight, x, y in sorted(found)
    ]


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
        Point("equal weights", far, moved[group, seed])
        for (group, seed), far in values_by_model(record, IMITATION, "mean_jsd").items()
        if group == "uniform" and (group, seed) in moved
    ]


def _exact(record: RunRecord) -> list[Point]:
    """The furthest weights of each document; no single model need give them all."""
    eps = SHOWN_EPS
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
