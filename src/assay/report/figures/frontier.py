"""How far can weights go as the prediction may move more?"""

from collections.abc import Iterator
from math import log

import altair as alt

from assay.report.adversary import NAME, FrontierPoint, frontier
from assay.report.figures.style import (
    ATTENTION,
    LABEL_WIDTH,
    WIDTH,
    Figure,
    Rows,
    chart,
    layered,
    short,
)
from assay.report.record import RunRecord

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
