"""How do single numbers with their intervals compare, model by model?

No single run's to draw: it is for pages of tables made again, such as Jain & Wallace's figure 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan

import altair as alt

from assay.measures.intervals import Interval
from assay.report import words
from assay.report.figures.style import (
    ATTENTION,
    PAGE,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)

WIDTH = 420
STEP = 17  # the height of a line
LONGEST_LABEL = 340  # pixels
LETTER = (
    7  # pixels, at most: the page's letters may be wider than those the drawing was laid out by
)
TENTHS = 10  # the scale ends at whole tenths


@dataclass(frozen=True)
class Dots:
    """One panel: a line per model."""

    title: str
    axis: str
    lines: tuple[tuple[str, Interval], ...]


def dot_figure(name: str, panels: Sequence[Dots]) -> Figure:
    """Panels one below the other on the same scale, which shows zero."""
    shown = [interval for panel in panels for _, interval in panel.lines]
    low = min([0.0, *(end for each in shown for end in _ends(each))])
    high = max([0.0, *(end for each in shown for end in _ends(each))])
    domain = (floor(low * TENTHS) / TENTHS, ceil(high * TENTHS) / TENTHS)
    drawn = alt.vconcat(*(_panel(panel, domain) for panel in panels), spacing=16)
    return Figure(name, "agreement", drawn, " ".join(map(_said, panels)), PAGE)


def _panel(panel: Dots, domain: tuple[float, float]) -> alt.LayerChart:
    base = chart(_rows(panel))
    upward = alt.Y("model:N", title=None, sort=None)
    room = min(LONGEST_LABEL, LETTER * max(len(model) for model, _ in panel.lines))
    upward = upward.axis(labelLimit=LONGEST_LABEL, minExtent=room, grid=True, ticks=False,
                         domain=False)  # fmt: skip
    ranges = base.mark_rule(color=ATTENTION, size=2).encode(x2="high:Q")
    means = base.mark_point(color=ATTENTION, filled=True, size=45, opacity=1)
    layers = layered(
        chart([{"low": 0.0}]).mark_rule(strokeDash=[1, 2]).encode(x="low:Q"),
        ranges.encode(x=across("low", panel.axis, domain), y=upward),
        means.encode(x=across("value", panel.axis, domain), y=upward, tooltip="say:N"),
    )
    return layers.properties(width=WIDTH, height=STEP * len(panel.lines), title=panel.title)


def _rows(panel: Dots) -> Rows:
    return [
        {
            "model": words.shown(model),
            "value": short(interval.value),
            "low": short(_ends(interval)[0]),
            "high": short(_ends(interval)[1]),
            "say": f"{model}: {words.with_interval(interval)}",
        }
        for model, interval in panel.lines
    ]


def _ends(interval: Interval) -> tuple[float, float]:
    """Its bounds; the value itself where it has none."""
    if isnan(interval.low):
        return interval.value, interval.value
    return interval.low, interval.high


def _said(panel: Dots) -> str:
    lines = [f"{model}: {words.with_interval(interval)}" for model, interval in panel.lines]
    return f"{panel.title}, {panel.axis}. {'; '.join(lines)}."
