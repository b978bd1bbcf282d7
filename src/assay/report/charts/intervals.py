"""Forest plots: numbers with their intervals, one line below the other on a common scale.

`forests` shows Wiegreffe & Pinter's tables 2 and 3: how good each kind of model is over seeds. Two
figures need several runs: `effect_forest`, the effect of a claim in each of them, where the shape
of a point is that of the finding's mark, and `dot_figure` for the reproduction pages, such as Jain
& Wallace's figure 5. Means over the documents of one run are drawn in `means`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan

import altair as alt

from assay.report import text as words
from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    PAGE,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.sections.trained import (
    FEWEST_FOR_INTERVAL,
    OVER_SEEDS,
    values_by_model,
    without_repeated,
)
from assay.report.text import number
from assay.runs.directory import ClaimFinding, RunRecord, SummaryRow
from assay.statistics.intervals import Interval

POINT = 45
ARROW = 70
TENTHS = 10  # a scale ends at whole tenths


@dataclass(frozen=True)
class IntervalLine:
    """A number and its interval, if it has one, with a tooltip."""

    name: str
    value: float
    low: float | None
    high: float | None
    tooltip: str = ""
    hue: str = ATTENTION
    shape: str = "circle"

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds of the interval; the value itself where it has none."""
        if self.low is None or self.high is None or isnan(self.low):
            return self.value, self.value
        return self.low, self.high


def tenths(values: Iterable[float]) -> tuple[float, float]:
    """The narrowest scale of whole tenths, at least one wide, that shows all values."""
    shown = list(values)
    low, high = floor(min(shown) * TENTHS), ceil(max(shown) * TENTHS)
    if low == high:
        low, high = (low - 1, high) if high > 0 else (low, high + 1)
    return low / TENTHS, high / TENTHS


def line_chart(
    lines: Sequence[IntervalLine],
    upward: alt.Y,
    domain: tuple[float, float],
    title: str | None = None,
    dotted: float | None = None,
    behind: Sequence[alt.Chart] = (),
    point: int = POINT,
) -> alt.LayerChart:
    """Lines and points, placed by `name` on the axis `upward`.

    An interval that goes on beyond the scale ends there with an arrow.
    """
    base = chart(_rows(lines, domain)).encode(y=upward, color=alt.Color("hue:N", scale=None))
    ranges = base.mark_rule(size=2).encode(x=across("low", title, domain), x2="high:Q")
    points = base.mark_point(filled=True, size=point, opacity=1).encode(
        x=across("value", title, domain),
        shape=alt.Shape("shape:N", scale=None),
        tooltip="tooltip:N",
    )
    marks = [ranges, *behind, points, *_arrows(lines, upward, domain)]
    if dotted is not None:
        marks = [chart([{"at": dotted}]).mark_rule(strokeDash=[1, 2]).encode(x="at:Q"), *marks]
    return layered(*marks)


def _arrows(
    lines: Sequence[IntervalLine], upward: alt.Y, domain: tuple[float, float]
) -> Iterator[alt.Chart]:
    """A triangle at each end of the scale where an interval is cut off."""
    least, most = domain
    ends = [(line, least, "triangle-left") for line in lines if line.ends[0] < least]
    ends += [(line, most, "triangle-right") for line in lines if line.ends[1] > most]
    cut: Rows = [
        {"name": line.name, "end": end, "shape": shape, "hue": line.hue, "tooltip": line.tooltip}
        for line, end, shape in ends
    ]
    if cut:
        yield (
            chart(cut)
            .mark_point(filled=True, size=ARROW, opacity=1)
            .encode(
                x=alt.X("end:Q"),
                y=upward,
                color=alt.Color("hue:N", scale=None),
                shape=alt.Shape("shape:N", scale=None),
                tooltip="tooltip:N",
            )
        )


def by_name(longest: int, room: int | None = None) -> alt.Y:
    """An axis with the names of the lines; `room` fixes its width in pixels."""
    width = alt.Undefined if room is None else room
    upward = alt.Y("name:N", title=None, sort=None)
    return upward.axis(
        labelLimit=longest,
        minExtent=width,
        maxExtent=width,
        grid=True,
        ticks=False,
        domain=False,
    )


def _rows(lines: Sequence[IntervalLine], domain: tuple[float, float]) -> Rows:
    """The rows, cut off here, because a drawing that clips differs from time to time."""
    least, most = domain
    return [
        {
            "name": line.name,
            "value": short(line.value),
            "low": short(max(line.ends[0], least)),
            "high": short(min(line.ends[1], most)),
            "tooltip": line.tooltip,
            "hue": line.hue,
            "shape": line.shape,
        }
        for line in lines
    ]


DOT_WIDTH = 420
DOT_STEP = 17  # the height of a line
DOT_LABEL = 340  # pixels
# Pixels, at most: the letters of the page may be wider than those of the layout.
LETTER = 7


@dataclass(frozen=True)
class Dots:
    """One panel: a line per model."""

    title: str
    axis: str
    lines: tuple[tuple[str, Interval], ...]

    @property
    def drawn(self) -> list[IntervalLine]:
        return [
            IntervalLine(
                words.shown(model), each.value, each.low, each.high, _tooltip_dot(model, each)
            )
            for model, each in self.lines
        ]


@dataclass(frozen=True)
class Marks:
    """One panel in which several marks may share a line, told apart by color and shape."""

    title: str
    axis: str
    drawn: list[IntervalLine]


def dot_figure(name: str, panels: Sequence[Dots]) -> Figure:
    """Panels one below the other on the same scale, which includes zero."""
    marks = [Marks(panel.title, panel.axis, panel.drawn) for panel in panels]
    return Figure(name, "agreement", _stacked(marks), " ".join(map(_panel_in_words, panels)), PAGE)


def marks_figure(name: str, panels: Sequence[Marks]) -> Figure:
    """As `dot_figure`; the description lists every mark."""
    described = [
        f"{panel.title}. {'; '.join(line.tooltip for line in panel.drawn)}." for panel in panels
    ]
    return Figure(name, "agreement", _stacked(panels), " ".join(described), PAGE)


def _stacked(panels: Sequence[Marks]) -> alt.VConcatChart:
    domain = tenths([0.0, *(end for panel in panels for line in panel.drawn for end in line.ends)])
    stacked: alt.VConcatChart = alt.vconcat(
        *(_panel(panel, domain) for panel in panels), spacing=16
    )
    return stacked


def _panel(panel: Marks, domain: tuple[float, float]) -> alt.LayerChart:
    names = dict.fromkeys(line.name for line in panel.drawn)
    room = min(DOT_LABEL, LETTER * max(map(len, names)))
    upward = by_name(DOT_LABEL, room)
    layers = line_chart(panel.drawn, upward, domain, panel.axis, dotted=0.0)
    return layers.properties(width=DOT_WIDTH, height=DOT_STEP * len(names), title=panel.title)


def _tooltip_dot(model: str, interval: Interval) -> str:
    return f"{model}: {words.with_interval(interval)}"


def _panel_in_words(panel: Dots) -> str:
    lines = "; ".join(_tooltip_dot(*line) for line in panel.lines)
    return f"{panel.title}, {panel.axis}. {lines}."


EFFECT_STEP = 24  # the height of a line
EFFECT_WIDTH = 230  # of the scale; with its labels, the figure fits on a phone
EFFECT_POINT = 70  # larger than elsewhere, because its shape has a meaning
LABELS = 112  # pixels left of the scale: browsers differ in how wide they set a letter
EFFECT_LETTERS = 13  # letters that fit there; the table above has the whole name
SHAPES: Mapping[str, str] = {
    "supported": "circle",
    "contradicted": "square",
    "undecided": "diamond",
}


@dataclass(frozen=True)
class Effect:
    """A run and its finding; None where it did not measure the claim."""

    run: str
    claim: ClaimFinding | None


def effect_forest(says: str, lines: Sequence[Effect]) -> Figure:
    """A line per run on one scale, which includes zero; a run without an effect keeps its line."""
    found = [_line(line, line.claim) for line in lines if line.claim is not None]
    upward = by_name(LABELS, LABELS)
    upward = upward.scale(domain=[_label(line.run) for line in lines])
    domain = tenths([0.0, *(end for line in found for end in line.ends)])
    drawn = line_chart(found, upward, domain, dotted=0.0, point=EFFECT_POINT)
    numbers = "; ".join(_tooltip_effect(line) for line in lines)
    drawn = drawn.properties(width=EFFECT_WIDTH, height=EFFECT_STEP * len(lines))
    return Figure("effects", "", drawn, f"{words.shown(says)} {numbers}.")


def _line(line: Effect, claim: ClaimFinding) -> IntervalLine:
    shape, tooltip = SHAPES.get(claim.finding, "circle"), _tooltip_effect(line)
    return IntervalLine(
        _label(line.run), claim.effect or 0.0, claim.low, claim.high, tooltip, shape=shape
    )


def _label(run: str) -> str:
    whole = words.in_figure(run)
    return whole if len(whole) <= EFFECT_LETTERS else whole[: EFFECT_LETTERS - 1] + "…"


def _tooltip_effect(line: Effect) -> str:
    claim, run = line.claim, words.in_figure(line.run)
    if claim is None:
        return f"{run}: not measured"
    bounds = "" if claim.low is None else f" [{number(claim.low)}, {number(claim.high)}]"
    return f"{run}: {claim.finding}, {number(claim.effect)}{bounds}"


FOREST_STEP = 22  # the height of a line
FOREST_LABEL = 190  # pixels
PROBES = ("uniform", "guide", "deception", "fresh")
OWN_GROUPS = ("base", "attention")  # of this model's attention
TICK = 10  # the height of one model's stroke


def forests(record: RunRecord) -> Iterator[Figure]:
    """The mean as a point, each model as a stroke, and Student's interval of five and more."""
    for probe in PROBES:
        means = {
            row.group: row
            for row in without_repeated(record.summary)
            if (row.probe, row.quantity, row.statistic) == (probe, "f1", OVER_SEEDS)
            and row.group is not None
            and row.value is not None
        }
        if means:
            single = values_by_model(record, probe, "f1")
            numbers = "; ".join(_tooltip_group(row) for row in means.values())
            drawn = _forest(means, single)
            description = f"F1 on test by kind of model. {numbers}."
            yield Figure(f"{probe}_forest", probe, drawn, description)


def _forest(
    means: Mapping[str, SummaryRow], single: Mapping[tuple[str, int], float]
) -> alt.LayerChart:
    """The scale shows all models; an interval may be wider and is cut off."""
    lines = list(_forest_lines(means))
    strokes: Rows = [
        {
            "name": words.group(group, means[group].probe),
            "x": short(value),
            "tooltip": f"seed {seed}: {value:.3f}",
        }
        for (group, seed), value in single.items()
        if group in means
    ]
    upward = by_name(FOREST_LABEL)
    each = chart(strokes).mark_tick(thickness=1, size=TICK)
    behind = [each.encode(x="x:Q", y=upward, tooltip="tooltip:N")]
    domain = tenths([*single.values(), *(line.value for line in lines)])
    layers = line_chart(lines, upward, domain, "F1", behind=behind)
    return layers.properties(width=WIDTH, height=FOREST_STEP * len(means), title="F1 on test")


def _forest_lines(means: Mapping[str, SummaryRow]) -> Iterator[IntervalLine]:
    for group, row in means.items():
        if row.value is not None:
            hue = ATTENTION if group in OWN_GROUPS else COMPARISON
            enough = (row.n or 0) >= FEWEST_FOR_INTERVAL  # else the models' own strokes say more
            low, high = (row.low, row.high) if enough else (None, None)
            name = words.group(group, row.probe)
            yield IntervalLine(name, row.value, low, high, _tooltip_group(row), hue)


def _tooltip_group(row: SummaryRow) -> str:
    few = row.low is None or row.high is None or (row.n or 0) < FEWEST_FOR_INTERVAL
    bounds = "" if few else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{words.group(row.group or '', row.probe)}: {row.value:.3f}{bounds}, {row.n} seeds"
