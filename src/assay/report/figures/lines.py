"""How are numbers with their intervals drawn, one line below the other on a common scale?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan

import altair as alt

from assay.report.figures.style import ATTENTION, Rows, across, chart, layered, short

POINT = 45
TENTHS = 10  # a scale ends at whole tenths


@dataclass(frozen=True)
class Line:
    """A number and its interval, if it has one; `say` is told where someone points at it."""

    name: str
    value: float
    low: float | None
    high: float | None
    say: str = ""
    hue: str = ATTENTION
    shape: str = "circle"

    @property
    def ends(self) -> tuple[float, float]:
        """Its bounds; the value itself where it has none."""
        if self.low is None or self.high is None or isnan(self.low):
            return self.value, self.value
        return self.low, self.high


def tenths(values: Iterable[float]) -> tuple[float, float]:
    """The narrowest scale of whole tenths, at least one, that shows all of them."""
    shown = list(values)
    low, high = floor(min(shown) * TENTHS), ceil(max(shown) * TENTHS)
    if low == high:
        low, high = (low - 1, high) if high > 0 else (low, high + 1)
    return low / TENTHS, high / TENTHS


def line_chart(
    lines: Sequence[Line],
    upward: alt.Y,
    domain: tuple[float, float],
    title: str | None = None,
    dotted: float | None = None,
    behind: Sequence[alt.Chart] = (),
    point: int = POINT,
) -> alt.LayerChart:
    """`upward` places the lines by `name`; what lies outside the scale is cut off."""
    base = chart(_rows(lines, domain)).encode(y=upward, color=alt.Color("hue:N", scale=None))
    ranges = base.mark_rule(size=2).encode(x=across("low", title, domain), x2="high:Q")
    points = base.mark_point(filled=True, size=point, opacity=1).encode(
        x=across("value", title, domain), shape=alt.Shape("shape:N", scale=None), tooltip="say:N"
    )
    marks = [ranges, *behind, points]
    if dotted is not None:
        marks = [chart([{"at": dotted}]).mark_rule(strokeDash=[1, 2]).encode(x="at:Q"), *marks]
    return layered(*marks)


def by_name(longest: int, room: int | None = None) -> alt.Y:
    """Names left of the scale, in the order of the lines; `room` keeps so much for them."""
    width = alt.Undefined if room is None else room
    upward = alt.Y("name:N", title=None, sort=None)
    return upward.axis(labelLimit=longest, minExtent=width, maxExtent=width, grid=True,
                       ticks=False, domain=False)  # fmt: skip


def _rows(lines: Sequence[Line], domain: tuple[float, float]) -> Rows:
    """Cut off here: a drawing that clips names its clips by a running number."""
    least, most = domain
    return [
        {
            "name": line.name,
            "value": short(line.value),
            "low": short(max(line.ends[0], least)),
            "high": short(min(line.ends[1], most)),
            "say": line.say,
            "hue": line.hue,
            "shape": line.shape,
        }
        for line in lines
    ]
