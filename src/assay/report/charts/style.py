"""What do all figures have in common: size, colour, type, and how many bytes a point may cost?

The figures know altair and vl-convert; nothing outside this folder does. Words that come from
the data enter a chart as titles or as values of its rows, never as expressions or field names,
and without control characters.

How does a figure leave this folder: for the page, live or still, and for a paper?

The same spec and the same versions give the same SVG and the same script, byte for byte. A PDF
shows the same drawing each time, but its writer orders the parts by chance.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt
import vl_convert

ATTENTION = "#cc7a1f"
RIVAL = "#3d7fc1"
COLUMN = 3.3  # inches: one column of a paper
PAGE = 7.0  # both columns
WIDTH = 270
LABEL_WIDTH = 48  # the same left of every figure, so that they line up
TEXT_SIZE = 12
FONT = "system-ui, sans-serif"
LIGHT, DARK = "#1d1f21", "#e6e3dc"  # inks, for light and for dark paper
ON_PAGE = "currentColor"  # the ink of the words around the figure
FAINT = {"gridOpacity": 0.15, "domainOpacity": 0.4, "tickOpacity": 0.4}
Chart = alt.VConcatChart | alt.LayerChart
Rows = Sequence[Mapping[str, float | str]]


@dataclass(frozen=True)
class Figure:
    """One drawing: its name on disk, the probe it belongs to, and its numbers in words."""

    name: str
    probe: str
    chart: Chart
    words: str
    inches: float = COLUMN


def chart(rows: Rows) -> alt.Chart:
    return alt.Chart({"values": list(rows)})


def layered(*marks: alt.Chart | alt.LayerChart) -> alt.LayerChart:
    """One over the other, the first lowest."""
    return alt.LayerChart(layer=list(marks))


def short(value: float) -> float:
    """Enough digits for any screen or printer, and no more bytes."""
    return round(float(value), 4)


def across(field: str, title: str | list[str] | None, domain: tuple[float, float]) -> alt.X:
    """The horizontal axis that carries a probe's quantity."""
    scaled = alt.X(f"{field}:Q", title=title).scale(domain=list(domain), nice=False)
    return scaled.axis(tickCount=5, format="~g")


def spec(figure: Figure, ink: str) -> dict[str, Any]:
    """The definition in our type and the given ink."""
    return {**figure.chart.to_dict(), "config": _config(ink)}


def _config(ink: str) -> dict[str, Any]:
    lines = {f"{part}Color": ink for part in ("label", "title", "grid", "domain", "tick")}
    sizes = {"labelFontSize": TEXT_SIZE, "titleFontSize": TEXT_SIZE, "titleFontWeight": "normal"}
    return {
        "background": "transparent", "font": FONT,
        "aria": False,  # the words of a figure are said once, by the page
        "view": {"stroke": None},
        "axis": {**lines, **sizes, **FAINT},
        "title": {"color": ink, "fontSize": TEXT_SIZE, "fontWeight": "bold", "anchor": "start"},
        "text": {"color": ink, "fontSize": TEXT_SIZE},
        "rule": {"color": ink}, "tick": {"color": ink}, "line": {"color": ink},
        "rect": {"color": ink}, "point": {"color": ink},
    }  # fmt: skip


PIXELS, POINTS = 96, 72  # an inch on a screen and in a PDF
VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])  # of Vega-Lite
BOTH_INKS = f"svg{{color:{LIGHT}}}@media(prefers-color-scheme:dark){{svg{{color:{DARK}}}}}"
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def svg(figure: Figure, ink: str) -> str:
    drawing: str = vl_convert.vegalite_to_svg(spec(figure, ink), vl_version=VERSION)
    return drawing


def in_both_inks(figure: Figure) -> str:
    """A drawing that asks by itself whether the page around it is dark."""
    head, bracket, rest = svg(figure, ON_PAGE).partition(">")
    return head + bracket + f"<style>{BOTH_INKS}</style>" + rest


def data_uri(figure: Figure) -> str:
    """An image that can stand inside a page."""
    drawing = in_both_inks(figure)
    return "data:image/svg+xml;base64," + base64.b64encode(drawing.encode()).decode()


def live(figure: Figure) -> dict[str, Any]:
    """The definition that the page's script draws, in the ink of the words around it."""
    return spec(figure, ON_PAGE)


def for_paper(figure: Figure) -> dict[str, bytes]:
    """By suffix, the files that a paper can include."""
    drawing = svg(figure, LIGHT)
    pdf: bytes = vl_convert.svg_to_pdf(_sized(drawing, figure.inches * POINTS))
    return {"svg": _sized(drawing, figure.inches * PIXELS).encode(), "pdf": pdf}


def _sized(drawing: str, width: float) -> str:
    """As wide as a column of a paper; the view box keeps the proportions."""

    def resize(size: re.Match[str]) -> str:
        height = width * float(size[2]) / float(size[1])
        return f'width="{width:.2f}" height="{height:.2f}"'

    return SIZE.sub(resize, drawing, count=1)


@cache
def figure_script(snippet: str) -> str:
    """`snippet` with the libraries it draws by, as vl-convert ships them: nothing is fetched."""
    bundle: str = vl_convert.javascript_bundle(snippet, vl_version=VERSION)
    return bundle
