"""How do single numbers with their intervals compare, model by model?

No single run's to draw: it is for pages of tables made again, such as Jain & Wallace's figure 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from assay.measures.intervals import Interval
from assay.report import words
from assay.report.figures.lines import Line, by_name, line_chart, tenths
from assay.report.figures.style import PAGE, Figure

WIDTH = 420
STEP = 17  # the height of a line
LONGEST_LABEL = 340  # pixels
LETTER = (
    7  # pixels, at most: the page's letters may be wider than those the drawing was laid out by
)


@dataclass(frozen=True)
class Dots:
    """One panel: a line per model."""

    title: str
    axis: str
    lines: tuple[tuple[str, Interval], ...]

    @property
    def drawn(self) -> list[Line]:
        return [
            Line(words.shown(model), each.value, each.low, each.high, _say(model, each))
            for model, each in self.lines
        ]


def dot_figure(name: str, panels: Sequence[Dots]) -> Figure:
    """Panels one below the other on the same scale, which shows zero."""
    domain = tenths([0.0, *(end for panel in panels for line in panel.drawn for end in line.ends)])
    drawn = alt.vconcat(*(_panel(panel, domain) for panel in panels), spacing=16)
    return Figure(name, "agreement", drawn, " ".join(map(_said, panels)), PAGE)


def _panel(panel: Dots, domain: tuple[float, float]) -> alt.LayerChart:
    room = min(LONGEST_LABEL, LETTER * max(len(model) for model, _ in panel.lines))
    upward = by_name(LONGEST_LABEL, room)
    layers = line_chart(panel.drawn, upward, domain, panel.axis, dotted=0.0)
    return layers.properties(width=WIDTH, height=STEP * len(panel.lines), title=panel.title)


def _say(model: str, interval: Interval) -> str:
    return f"{model}: {words.with_interval(interval)}"


def _said(panel: Dots) -> str:
    lines = "; ".join(_say(*line) for line in panel.lines)
    return f"{panel.title}, {panel.axis}. {lines}."
