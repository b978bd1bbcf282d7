"""How does a figure leave this folder: for the page, live or still, and for a paper?

The same spec and the same versions give the same SVG and the same script, byte for byte. A PDF
shows the same drawing each time, but its writer orders the parts by chance.
"""

import base64
import re
from functools import cache
from typing import Any

import altair as alt
import vl_convert

from assay.report.figures.style import DARK, LIGHT, ON_PAGE, Figure, spec

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
def script(snippet: str) -> str:
    """`snippet` with the libraries it draws by, as vl-convert ships them: nothing is fetched."""
    bundle: str = vl_convert.javascript_bundle(snippet, vl_version=VERSION)
    return bundle
