"""Figures of single documents: scatter plots whose points open a document, and a heat map pair.

The pair is Jain & Wallace's figure 1: a document under the model's weights and under alternative
ones. It is for paper only, because the page writes the same pair as words. Its font has a fixed
width, so that lines can be broken without knowing the reader's fonts.
"""

import unicodedata
from collections.abc import Iterator

import altair as alt
import numpy as np
import polars as pl

from assay.evidence import SHOWN_EPS
from assay.report import text as words
from assay.report.charts.distributions import JSD, TVD, AxisScale, in_words
from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    LABEL_WIDTH,
    PAGE,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.document_view import by_lot
from assay.report.documents import Heat, ShownDocument, typical
from assay.report.sections.adversary import NAME, eps_group
from assay.runs.directory import RunRecord

HEIGHT = 190
MOST_POINTS = 300
FEWEST_POINTS = 3
WEIGHT = AxisScale(0.0, 1.0)


def permutation_points(record: RunRecord) -> Iterator[Figure]:
    """The largest weight and the change under shuffled weights, document by document."""
    title = "median change of the prediction (TVD)"
    yield from _points(record, ("permutation", "median_tvd", None), TVD, title)


def adversary_points(record: RunRecord) -> Iterator[Figure]:
    """The largest weight and the largest distance of alternative weights, document by document."""
    quantity = ("adversary", "max_jsd", eps_group(SHOWN_EPS))
    yield from _points(record, quantity, JSD, f"largest JSD, prediction within {SHOWN_EPS:g}")


def _points(
    record: RunRecord, quantity: tuple[str, str, str | None], scale: AxisScale, title: str
) -> Iterator[Figure]:
    probe = quantity[0]
    table = record.measured(*quantity)
    largest = record.measured(probe, "max_attention")["value"].alias("largest")
    known = table.with_columns(largest).with_row_index("place").drop_nulls(["value", "largest"])
    if len(known) < FEWEST_POINTS:
        return
    rows: Rows = [
        {
            "x": short(row["value"]),
            "y": short(row["largest"]),
            "place": row["place"],
            "id": words.in_figure(row["id"]),
        }
        for row in plotted(known, record).iter_rows(named=True)
    ]
    spread = in_words(known["value"].to_numpy())
    description = f"{len(rows):,} documents by {title} ({spread}) and largest weight."
    if min(known["value"].n_unique(), known["largest"].n_unique()) > 1:  # else it is undefined
        correlation = float(np.corrcoef(known["value"], known["largest"])[0, 1])
        description += f" Their correlation is {correlation:.2f}."
    plot = _scatter(rows, scale, title)
    yield Figure(f"{probe}_points", probe, plot, description)


def plotted(known: pl.DataFrame, record: RunRecord) -> pl.DataFrame:
    """The documents of a scatter plot: the first by lot, as the document view takes them."""
    turn = {place: rank for rank, place in enumerate(by_lot(record))}
    ranked = known.with_columns(turn=pl.col("place").replace_strict(turn, return_dtype=pl.Int64))
    return ranked.sort("turn").head(MOST_POINTS)


def points_of(rows: Rows, across_: str, upward: str) -> alt.Chart:
    """Points that open their document; hollow where the page does not hold it (`gone`).

    The tooltip is put together in the page, to save bytes. The two names are our own words.
    """
    says = (
        f"datum.id + ': {across_} ' + format(datum.x, '.3f') + ', {upward} ' + "
        "format(datum.y, '.3f') + (datum.gone ? '; not in this page' : '; choose it to open it')"
    )
    marks = chart(rows).mark_point(fill=ATTENTION, stroke=ATTENTION, size=30, cursor="pointer")
    filled = alt.condition("datum.gone", alt.value(0), alt.value(0.55))
    described = marks.encode(fillOpacity=filled, tooltip="tooltip:N")
    shown: alt.Chart = described.transform_calculate(tooltip=says)
    return shown


def _scatter(rows: Rows, scale: AxisScale, title: str) -> alt.LayerChart:
    upward = alt.Y("y:Q", title=None).scale(domain=[WEIGHT.low, WEIGHT.high], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    shared = layered(points_of(rows, scale.name, "largest weight"))
    shared = shared.encode(x=across("x", title, (scale.low, scale.high)), y=upward)
    named = f"largest weight of a document (n = {len(rows):,})"
    return shared.properties(width=WIDTH, height=HEIGHT, title=named)


LETTER, LINE, TYPE = 6.7, 20, 11  # pixels: a letter's width, a line's height, the size of type
LETTERS = 92  # a line
LONGEST_WORD = 30
MONOSPACE = "DejaVu Sans Mono, Menlo, Consolas, monospace"
DEEPEST = 0.85  # opacity of a full shade: the word on it stays readable
HUES = {"attention": ATTENTION, "comparison": COMPARISON}


def heat_pair(record: RunRecord) -> Iterator[Figure]:
    """The document that `typical` chooses, under both sets of weights."""
    chosen = typical(record)
    if chosen is not None:
        pair = chosen.heats[:2]
        drawn = alt.vconcat(*(_shaded(heat) for heat in pair), spacing=14)
        outcomes = "; ".join(f"{heat.name}: {words.in_figure(heat.outcome)}" for heat in pair)
        yield Figure("adversary_heat_pair", NAME, drawn, _opening(chosen) + outcomes, PAGE)


def _opening(chosen: ShownDocument) -> str:
    return f"Document {words.in_figure(chosen.id)} under two sets of weights. "


def _shaded(heat: Heat) -> alt.LayerChart:
    rows = _laid_out(heat)
    lines = 1 + max(int(row["line"]) for row in rows)
    height, width = LINE * lines, LETTER * LETTERS
    base = chart(rows).encode(tooltip="tooltip:N")
    shades = base.mark_rect(color=HUES[heat.hue], cornerRadius=2).encode(
        x=alt.X("left:Q").scale(domain=[0, width], nice=False).axis(None),
        y=alt.Y("top:Q").scale(domain=[height, 0], nice=False).axis(None),
        x2="right:Q",
        y2="bottom:Q",
        opacity=alt.Opacity("shade:Q", scale=None, legend=None),
    )
    text = base.mark_text(font=MONOSPACE, fontSize=TYPE).encode(
        x="middle:Q", y="center:Q", text="word:N"
    )
    title = f"{heat.name}: {heat.outcome}" if heat.outcome else heat.name
    return layered(shades, text).properties(width=width, height=height, title=title)


def _laid_out(heat: Heat) -> Rows:
    """The words one after the other, with a new line where the next would not fit."""
    rows: list[dict[str, float | str]] = []
    line = column = 0
    for item in heat.items:
        word = words.shown(item.text, LONGEST_WORD)
        letters = _letters(word)
        if column and column + letters > LETTERS:
            line, column = line + 1, 0
        rows.append(_position(word, line, column, letters) | _shade(item.value, heat, word))
        column += letters + 1
    return rows


def _position(word: str, line: int, column: int, letters: int) -> dict[str, float | str]:
    left, right = LETTER * column, LETTER * (column + letters)
    return {
        "word": word,
        "line": line,
        "left": short(left),
        "right": short(right),
        "middle": short((left + right) / 2),
        "top": LINE * line + 1,
        "bottom": LINE * (line + 1) - 1,
        "center": LINE * (line + 0.5),
    }


def _shade(value: float, heat: Heat, word: str) -> dict[str, float | str]:
    share = max(0.0, value) / heat.largest if heat.largest > 0 else 0.0
    return {"shade": short(DEEPEST * share), "tooltip": f"{word}: {value:.3f}"}


def _letters(word: str) -> int:
    """The width in letters: letters of some scripts and pictures take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)
