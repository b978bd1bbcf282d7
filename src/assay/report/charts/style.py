"""What all figures share: size, colors and fonts, and their output for the page and for paper.

Only this folder imports altair and vl-convert. Text from the data enters a chart as titles or as
values of its rows, never as expressions or field names, and without control characters.

The same definition and the same versions give the same SVG and the same script, byte for byte. A
PDF shows the same drawing each time, but its writer orders the parts at random.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import altair as alt
import vl_convert
from markupsafe import Markup

from assay.data.cache import cached_text

ATTENTION = "#c2711a"
COMPARISON = "#3d7fc1"  # everything that attention is compared with
COLUMN = 3.3  # inches: one column of a paper
PAGE = 7.0  # both columns
WIDTH = 270
LABEL_WIDTH = 48  # the same in every figure, so that they line up
TEXT_SIZE = 12
FONT = "system-ui, sans-serif"
LIGHT, DARK = "#1d1f21", "#e6e3dc"  # text colors of the light and the dark scheme
ON_PAGE = "currentColor"  # the color of the text around the figure
FAINT = {"gridOpacity": 0.15, "domainOpacity": 0.4, "tickOpacity": 0.4}
Chart = alt.VConcatChart | alt.LayerChart
Rows = Sequence[Mapping[str, float | str]]


@dataclass(frozen=True)
class Figure:
    """One drawing: its file name, the probe it belongs to, and a description of its numbers."""

    name: str
    probe: str
    chart: Chart
    description: str
    inches: float = COLUMN

    @cached_property
    def definition(self) -> dict[str, Any]:
        """The Vega-Lite definition. Altair validates it each time, so it is kept."""
        return self.chart.to_dict()


def chart(rows: Rows) -> alt.Chart:
    return alt.Chart({"values": list(rows)})


def layered(*marks: alt.Chart | alt.LayerChart) -> alt.LayerChart:
    """Marks in layers, the first at the bottom."""
    return alt.LayerChart(layer=list(marks))


def stacked_definitions(name: str, definitions: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Figures of one kind under each other, each with its title; they may have been stored."""
    datasets: dict[str, Any] = {}
    panels = []
    for title, definition in definitions.items():
        datasets |= definition.get("datasets", {})
        shared = ("$schema", "config", "datasets")
        panel = {key: value for key, value in definition.items() if key not in shared}
        panels.append({**panel, "title": title})
    whole = {"vconcat": panels, "spacing": 24, "datasets": datasets}
    return Figure(name, "", alt.VConcatChart.from_dict(whole), ", ".join(definitions))


def short(value: float) -> float:
    """A value with enough digits for any screen or printer, to save bytes."""
    return round(float(value), 4)


def across(field: str, title: str | list[str] | None, domain: tuple[float, float]) -> alt.X:
    """The horizontal axis of a probe's quantity."""
    scaled = alt.X(f"{field}:Q", title=title).scale(domain=list(domain), nice=False)
    return scaled.axis(tickCount=5, format="~g")


def spec(figure: Figure, ink: str) -> dict[str, Any]:
    """The definition in our fonts and the given text color."""
    return {**figure.definition, "config": _config(ink)}


def _config(ink: str) -> dict[str, Any]:
    lines = {f"{part}Color": ink for part in ("label", "title", "grid", "domain", "tick")}
    sizes = {"labelFontSize": TEXT_SIZE, "titleFontSize": TEXT_SIZE, "titleFontWeight": "normal"}
    return {
        "background": "transparent",
        "font": FONT,
        "aria": False,  # the page describes a figure once
        "view": {"stroke": None},
        "axis": {**lines, **sizes, **FAINT},
        "title": {"color": ink, "fontSize": TEXT_SIZE, "fontWeight": "bold", "anchor": "start"},
        "text": {"color": ink, "fontSize": TEXT_SIZE},
        "rule": {"color": ink},
        "tick": {"color": ink},
        "line": {"color": ink},
        "rect": {"color": ink},
        "point": {"color": ink},
    }


PIXELS, POINTS = 96, 72  # per inch, on a screen and in a PDF
SCALE = 3  # pixels of a PNG for each of a screen: about 290 per inch
VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])  # of Vega-Lite
# Names in the hue of their marks: no one color is legible on both light and dark paper.
TEXTS = {ATTENTION: ("#9c5510", "#dd8c38"), COMPARISON: ("#2b68a6", "#6ba5de")}


def _text_colors(scheme: int) -> str:
    return "".join(f"text[fill='{hue}']{{fill:{inks[scheme]}}}" for hue, inks in TEXTS.items())


BOTH_SCHEMES = (
    f"svg{{color:{LIGHT}}}{_text_colors(0)}"
    f"@media(prefers-color-scheme:dark){{svg{{color:{DARK}}}{_text_colors(1)}}}"
)
IMAGE = "data:image/svg+xml,"
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def svg(figure: Figure, ink: str) -> str:
    drawing: str = vl_convert.vegalite_to_svg(spec(figure, ink), vl_version=VERSION)
    return drawing


def in_both_inks(figure: Figure) -> str:
    """A small SVG that follows the light or dark scheme of the page around it."""
    head, bracket, rest = compact(svg(figure, ON_PAGE)).partition(">")
    return head + bracket + f"<style>{BOTH_SCHEMES}</style>" + rest


LONG_DECIMAL = re.compile(r"\d+\.\d{3,}")
FOR_SCRIPTS = re.compile(r' (?:class|role|pointer-events|aria-[a-z]+)="[^"]*"')
SYMBOL = re.compile(
    r'<path transform="translate\((?P<place>[^)]*)\)" d="M(?P<radius>[\d.]+),0A[^"]*" '
    r'(?P<look>fill="[^"]*"[^/>]*)/>'
)


def compact(drawing: str) -> str:
    """An SVG as a still picture: fewer decimals, no hooks for scripts, and points as dots.

    Circles that follow each other become one path of round dots for each size and look.
    """
    lean = LONG_DECIMAL.sub(lambda found: f"{float(found[0]):.2f}", FOR_SCRIPTS.sub("", drawing))
    return re.sub(f"(?:{SYMBOL_ALONE})+", _as_dots, lean)


SYMBOL_ALONE = re.sub(r"\?P<\w+>", "?:", SYMBOL.pattern)


def _as_dots(run: re.Match[str]) -> str:
    groups: dict[tuple[float, str], list[str]] = {}
    for one in SYMBOL.finditer(run[0]):
        groups.setdefault((round(float(one["radius"])), one["look"]), []).append(one["place"])
    return "".join(_dots(radius, look, places) for (radius, look), places in groups.items())


def _dots(radius: float, look: str, places: Sequence[str]) -> str:
    color = re.search(r'fill="([^"]*)"', look)
    opacity = re.search(r'(?:fill-)?opacity="([^"]*)"', look)
    dots = "".join(f"M{place}h0" for place in places)
    return (
        f'<path d="{dots}" fill="none" stroke="{color[1] if color else ON_PAGE}" '
        f'stroke-linecap="round" stroke-width="{2 * radius:g}" '
        f'stroke-opacity="{opacity[1] if opacity else 1}"/>'
    )


KEPT = " !$'()*+,-./:;=?@[]_~"  # characters that an address within double quotes may hold


def data_uri(figure: Figure) -> Markup:
    """An image that can be written into a page, within double quotes.

    Base64 would be a fifth longer. Nothing in it ends the quotes: all letters of a text that are
    not in `KEPT` stand as their codes.
    """
    drawing = in_both_inks(figure).replace("'", "&apos;").replace('"', "'")
    return Markup(IMAGE + quote(drawing, safe=KEPT))


def live(figure: Figure) -> dict[str, Any]:
    """The definition that the page's script draws with `live_config`."""
    return figure.definition


def live_config() -> dict[str, Any]:
    """What all live figures share: our fonts, in the color of the text around them."""
    return _config(ON_PAGE)


def for_paper(figure: Figure) -> dict[str, bytes]:
    """The files that a paper can include, by suffix."""
    drawing = svg(figure, LIGHT)
    pdf: bytes = vl_convert.svg_to_pdf(_sized(drawing, figure.inches * POINTS))
    png: bytes = vl_convert.svg_to_png(_on_white(drawing), scale=SCALE)
    return {"svg": _sized(drawing, figure.inches * PIXELS).encode(), "pdf": pdf, "png": png}


def _on_white(drawing: str) -> str:
    """A drawing with a white background: not every program shows a transparent PNG on white."""
    head, bracket, rest = drawing.partition(">")
    return f'{head}{bracket}<rect width="100%" height="100%" fill="white"/>{rest}'


def _sized(drawing: str, width: float) -> str:
    """A drawing with another width; the view box keeps the proportions."""

    def resize(size: re.Match[str]) -> str:
        height = width * float(size[2]) / float(size[1])
        return f'width="{width:.2f}" height="{height:.2f}"'

    return SIZE.sub(resize, drawing, count=1)


@cache
def figure_script(snippet: str) -> str:
    """`snippet` with the drawing libraries that vl-convert ships; nothing is downloaded.

    Bundling them takes longer than all drawings of a page, so the result is kept in the cache.
    """
    content = f"{version('vl-convert-python')} {VERSION} {snippet}"
    name = f"figures-{hashlib.sha256(content.encode()).hexdigest()[:16]}.js"
    return cached_text(name, lambda: vl_convert.javascript_bundle(snippet, vl_version=VERSION))
