"""Effects of claims against the conicity of the states, one panel per claim."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    PAGE,
    Figure,
    Rows,
    chart,
    layered,
    short,
)

COLUMNS = 2
WIDTH, HEIGHT = 280, 150


@dataclass(frozen=True)
class ConicityPoint:
    """The effect of one claim for one model, with its 95 % interval."""

    claim: str
    encoder: str
    conicity: float
    effect: float
    low: float
    high: float
    supported_above: float
    contradicted_below: float


def conicity_figure(points: Sequence[ConicityPoint]) -> Figure:
    """A panel per claim; the two lines are its thresholds."""
    claims = list(dict.fromkeys(point.claim for point in points))
    panels = [_panel(claim, [p for p in points if p.claim == claim]) for claim in claims]
    rows = [
        alt.hconcat(*panels[place : place + COLUMNS], spacing=24)
        for place in range(0, len(panels), COLUMNS)
    ]
    described = " ".join(
        f"{p.claim}, {p.encoder}: conicity {p.conicity:.2f}, effect {p.effect:.2f}." for p in points
    )
    return Figure("conicity", "compare", alt.vconcat(*rows, spacing=22), described, PAGE)


def _panel(claim: str, points: Sequence[ConicityPoint]) -> alt.LayerChart:
    rows: Rows = [
        {
            "encoder": point.encoder,
            "conicity": short(point.conicity),
            "effect": short(point.effect),
            "low": short(point.low),
            "high": short(point.high),
        }
        for point in points
    ]
    thresholds = [{"at": points[0].supported_above}, {"at": points[0].contradicted_below}]
    across = alt.X("conicity:Q", title="conicity").scale(zero=False).axis(tickCount=4)
    base = chart(rows).encode(x=across)
    lines = chart(thresholds).mark_rule(strokeDash=[4, 3], opacity=0.5).encode(y="at:Q")
    bars = base.mark_rule(color=COMPARISON).encode(y=alt.Y("low:Q", title="effect"), y2="high:Q")
    dots = base.mark_point(filled=True, size=40, color=ATTENTION, opacity=1).encode(y="effect:Q")
    names = base.mark_text(align="left", dx=5, dy=-6, fontSize=10).encode(
        y="effect:Q", text="encoder:N"
    )
    return layered(lines, bars, dots, names).properties(width=WIDTH, height=HEIGHT, title=claim)
