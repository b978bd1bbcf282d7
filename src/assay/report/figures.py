"""What do the probes' measurements look like, drawn as the papers draw them?

The only file that knows altair. `figures` gives the charts by name; `data_uri` draws one as SVG
for a page that needs no script. Words that come from the data (class names) enter a chart as
titles only, never as expressions or field names, and without control characters.
"""

import base64
import io
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from assay.report import distributions as spread
from assay.report import words
from assay.report.distributions import Bin
from assay.report.record import RunRecord
from assay.report.words import TAU_PAIRS, in_figure

ATTENTION = "#cc7a1f"
RIVAL = "#3d7fc1"
WIDTH = 270
TAU_HEIGHT = 84
SCALE_STEPS = 10  # shares of documents: the scale ends at a whole tenth
VIOLIN_STEP = 36
VIOLIN_REACH = 0.42  # half the height of the widest point, in steps
INKS = {"light": ("#1d1f21", "#d9d6cf"), "dark": ("#e6e3dc", "#43464b")}  # words, lines
FONT = "system-ui, sans-serif"
TEXT_SIZE = 12
LABEL_WIDTH = 48  # the same left of every figure, so that they line up

Figure = alt.VConcatChart | alt.LayerChart
Rows = Sequence[Mapping[str, float | str]]


def figures(record: RunRecord) -> dict[str, Figure]:
    """Every figure this run has the evidence for, by the name it has on disk.

    One per pair of measures, with a row for each predicted class; one per predicted class for
    the permutations. Each carries its numbers in words as its description.
    """
    return {**_tau_figures(record), **_permutation_figures(record)}


def data_uri(figure: Figure, ink: str) -> str:
    """The figure as an image that can stand inside a page, inked for `light` or `dark`."""
    words, lines = INKS[ink]
    themed = (
        figure.configure(background="transparent", font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=words, titleColor=words, gridColor=lines, domainColor=lines, tickColor=lines,
            labelFontSize=TEXT_SIZE, titleFontSize=TEXT_SIZE, titleFontWeight="normal",
        )
        .configure_title(color=words, fontSize=TEXT_SIZE, fontWeight="bold", anchor="start")
        .configure_text(color=words, fontSize=TEXT_SIZE)
        .configure_rule(color=words)
        .configure_tick(color=words)
    )  # fmt: skip
    drawing = io.StringIO()
    themed.save(drawing, format="svg")
    return "data:image/svg+xml;base64," + base64.b64encode(drawing.getvalue().encode()).decode()


def _tau_figures(record: RunRecord) -> dict[str, Figure]:
    """Histograms with one scale for all pairs and classes, so that heights can be compared."""
    shown = spread.panels(record)
    taus = {quantity: record.measured("agreement", quantity) for quantity in TAU_PAIRS}
    values = {
        quantity: {panel.title: panel.of(table)["value"].to_numpy() for panel in shown}
        for quantity, table in taus.items()
    }
    drawn = [part for panels in values.values() for part in panels.values() if len(part)]
    highest = max((float(spread.histogram(part).max()) for part in drawn), default=1.0)
    top = np.ceil(highest * SCALE_STEPS) / SCALE_STEPS
    rows = {quantity: _tau_rows(quantity, panels, top) for quantity, panels in values.items()}
    return {
        quantity: alt.vconcat(*charts, spacing=12, description=words.tau_figure(record, quantity))
        for quantity, charts in rows.items()
        if charts
    }


def _permutation_figures(record: RunRecord) -> dict[str, Figure]:
    drawn: dict[str, Figure] = {}
    for number, panel in enumerate(spread.panels(record), start=1):
        if bins := spread.permutation_bins(record, panel):
            said = words.permutation_figure(record, panel)
            drawn[f"permutation_{number}"] = _violins(bins, panel.title, said)
    return drawn


def _tau_rows(
    quantity: str, panels: Mapping[str, spread.Values], top: float
) -> list[alt.LayerChart]:
    drawn = [(title, values) for title, values in panels.items() if len(values)]
    hue = ATTENTION if "attention" in quantity else RIVAL
    return [
        _histogram(values, top, hue, TAU_PAIRS[quantity] if row == len(drawn) else None)
        .properties(title=f"{in_figure(title)} (n = {len(values):,})")
        for row, (title, values) in enumerate(drawn, start=1)
    ]  # fmt: skip


def _histogram(
    values: spread.Values, top: float, hue: str, axis_title: str | None
) -> alt.LayerChart:
    edges = spread.TAU_EDGES
    data = [
        {
            "low": round(float(low), 3),
            "high": round(float(high), 3),
            "share": round(float(share), 5),
        }
        for low, high, share in zip(edges[:-1], edges[1:], spread.histogram(values), strict=True)
    ]
    across = alt.X("low:Q", title=axis_title).bin("binned").scale(domain=[-1, 1])
    across = across.axis(tickCount=5, format="~g")
    upward = alt.Y("share:Q", title=None).scale(domain=[0, top])
    upward = upward.axis(format=".0%", tickCount=3, minExtent=LABEL_WIDTH)
    bars = _chart(data).mark_bar(color=hue)
    median = _chart([{"median": float(np.median(values))}])
    middle = median.mark_rule(strokeDash=[3, 2], size=1.5).encode(x="median:Q")
    layers: alt.LayerChart = bars.encode(x=across, x2="high:Q", y=upward) + middle
    return layers.properties(width=WIDTH, height=TAU_HEIGHT)


def _violins(bins: list[Bin], title: str, description: str) -> alt.LayerChart:
    names = ", ".join(f"'{name}'" for name in spread.WEIGHT_BINS)  # ours, not the data's
    places = list(range(len(spread.WEIGHT_BINS)))
    across = (
        alt.X("x:Q", title="median change of the prediction (TVD)")
        .scale(domain=[0, 1])
        .axis(tickCount=5, format="~g")
    )
    upward = alt.Y("low:Q", title=None).scale(domain=[-0.5, len(places) - 0.5])
    labels = f"[{names}][datum.value]"
    upward = upward.axis(values=places, labelExpr=labels, grid=False, minExtent=LABEL_WIDTH)
    shapes = _chart(_violin_shapes(bins)).mark_area(color=ATTENTION)
    marks = _chart(_violin_marks(bins)).encode(y="bin:Q")
    layers: alt.LayerChart = (
        shapes.encode(x=across, y=upward, y2="high:Q", detail="bin:N")
        + marks.mark_tick(thickness=2, size=18, orient="vertical").encode(x="median:Q")
        + marks.mark_text(align="right", dy=-10).encode(x="right:Q", text="n:N")
    )
    return layers.properties(
        title=in_figure(title),
        description=description,
        width=WIDTH,
        height=VIOLIN_STEP * len(places),
    )


def _violin_shapes(bins: list[Bin]) -> Rows:
    return [
        {
            "bin": part.number,
            "x": round(float(x), 3),
            "low": round(part.number - VIOLIN_REACH * float(height), 4),
            "high": round(part.number + VIOLIN_REACH * float(height), 4),
        }
        for part in bins
        for x, height in zip(spread.TVD_GRID, spread.smoothed(part.values), strict=True)
    ]


def _violin_marks(bins: list[Bin]) -> Rows:
    return [
        {
            "bin": part.number,
            "median": float(np.median(part.values)),
            "right": float(spread.TVD_GRID[-1]),
            "n": f"n = {len(part.values):,}",
        }
        for part in bins
    ]


def _chart(rows: Rows) -> alt.Chart:
    return alt.Chart({"values": list(rows)})
