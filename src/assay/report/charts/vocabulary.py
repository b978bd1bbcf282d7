"""Figures of the words: attention against the effect of leaving out, and small multiples.

A point of the scatter plots is a word; choosing it lists the documents that contain it.
"""

from collections.abc import Iterator, Sequence
from math import log10

import altair as alt
import polars as pl

from assay.report import text as words
from assay.report.charts.distributions import panels
from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    LABEL_WIDTH,
    TEXT_SIZE,
    WIDTH,
    Figure,
    Rows,
    chart,
    layered,
    short,
)
from assay.report.vocabulary import (
    MOST_WORDS,
    POSITIONS,
    Profile,
    WordUse,
    by_frequency,
    by_length,
    by_position,
    is_measured,
    occurrences,
    over_read,
    plotted_words,
    under_read,
    word_uses,
)
from assay.runs.directory import RunRecord

NAME = "words"
SIDE = 300
FEWEST_WORDS = 3
MOST_OF_CLASS = 80  # words
# Multiples of an equal share; beyond them a point stands at the edge. Attention reaches further
# down than effects do: many words get hardly any.
LOWEST, HIGHEST = 0.05, 20.0
LOWEST_ATTENTION = 0.002
TICKS = [0.01, 0.1, 1, 10]
LONGEST_LABEL = 14  # letters
LETTER = 6.5  # pixels
SHARE = "times an equal share"


def word_figures(record: RunRecord) -> Iterator[Figure]:
    """All documents, then one figure per predicted class, then the small multiples."""
    if not is_measured(record):
        return
    items = occurrences(record)
    yield from _scatter(f"{NAME}_all", "all documents", word_uses(items), MOST_WORDS)
    classes = panels(record)
    for number, panel in enumerate(classes if len(classes) > 1 else [], start=1):
        own = items.filter(items["prediction"].is_in(panel.members))
        title = f"predicted {words.in_figure(panel.title)}"
        yield from _scatter(f"{NAME}_class_{number}", title, word_uses(own), MOST_OF_CLASS)
    if len(items):
        yield from _multiples(items)


def _scatter(name: str, title: str, uses: list[WordUse], most: int) -> Iterator[Figure]:
    if len(uses) < FEWEST_WORDS:
        return
    over, under = over_read(uses), under_read(uses)
    shown = plotted_words(uses, most)
    description = (
        f"{len(shown)} of {len(uses)} words, {title}, by attention and effect of leaving them out. "
        f"Over-read: {_named(over)}. Under-read: {_named(under)}."
    )
    drawn = _plane(shown, [*over, *under]).properties(width=SIDE, height=SIDE, title=title)
    yield Figure(name, NAME, drawn, description)


def _named(uses: Sequence[WordUse]) -> str:
    parts = [f"{_label(use.word)} {use.attention:.2f} / {use.effect:.2f}" for use in uses]
    return ", ".join(parts) if parts else "none"


def _label(word: str) -> str:
    clean = words.in_figure(word)
    return clean if len(clean) <= LONGEST_LABEL else clean[: LONGEST_LABEL - 1] + "…"


def _plane(uses: Sequence[WordUse], labelled: Sequence[WordUse]) -> alt.LayerChart:
    says = (
        "datum.name + ': attention ' + format(datum.y, '.2f') + ', leave-one-out ' + "
        f"format(datum.x, '.2f') + ' {SHARE}; ' + datum.n + ' documents; choose it to list them'"
    )
    base = chart(_rows(uses)).transform_calculate(tooltip=says)
    points = base.mark_point(fill=ATTENTION, stroke=ATTENTION, fillOpacity=0.5, cursor="pointer")
    sized = alt.Size("n:Q").scale(type="sqrt", range=[12, 160]).legend(None)
    text = chart(_rows(_apart(labelled))).mark_text(align="left", dx=6, dy=-4, fontSize=TEXT_SIZE)
    ends: Rows = [{"x": LOWEST, "y": LOWEST}, {"x": HIGHEST, "y": HIGHEST}]
    diagonal = chart(ends).mark_line(strokeDash=[3, 3], opacity=0.5)
    rightward, upward = (
        alt.Scale(type="log", domain=[lowest, HIGHEST], nice=False)
        for lowest in (LOWEST, LOWEST_ATTENTION)
    )
    ticks = alt.Axis(values=TICKS, format="~g")
    across = alt.X("x:Q", title=f"leave-one-out, {SHARE}", scale=rightward, axis=ticks)
    above = alt.Y("y:Q", title=f"attention, {SHARE}", scale=upward, axis=ticks)
    layers = layered(
        diagonal, points.encode(size=sized, tooltip="tooltip:N"), text.encode(text="name:N")
    )
    shown: alt.LayerChart = layers.encode(x=across, y=above)
    return shown


def _apart(uses: Sequence[WordUse]) -> list[WordUse]:
    """The words whose names do not cover those before them."""
    kept: list[WordUse] = []
    for use in uses:
        near = [
            other
            for other in kept
            if abs(_height(use) - _height(other)) < TEXT_SIZE + 2
            and abs(_pixels(use.effect, LOWEST) - _pixels(other.effect, LOWEST))
            < LETTER * LONGEST_LABEL
        ]
        kept += [] if near else [use]
    return kept


def _height(use: WordUse) -> float:
    return _pixels(use.attention, LOWEST_ATTENTION)


def _pixels(share: float, lowest: float) -> float:
    return SIDE * log10(_within(share, lowest) / lowest) / log10(HIGHEST / lowest)


def _rows(uses: Sequence[WordUse]) -> Rows:
    return [
        {
            "x": _within(use.effect, LOWEST),
            "y": _within(use.attention, LOWEST_ATTENTION),
            "n": use.documents,
            "name": _label(use.word),
            "word": words.shown(use.word),
        }
        for use in uses
    ]


def _within(share: float, lowest: float) -> float:
    """A share at the edges of the scale if beyond it, with three digits."""
    bounded = min(HIGHEST, max(lowest, share))
    return round(bounded, 2 - int(log10(bounded)) if bounded < 1 else 2)


PROFILE_HEIGHT = 120
FIRST_WORD = "split(datum.label, ' ')[0]"  # of the name of a bin: "3 of 8" has no room
ROOM = 1.3  # of the highest value: the scale leaves room for the names
ABOVE, END = 12, 16  # pixels from the last point to the name of its line
SPOKEN = {"attention": "attention", "effect": "leave-one-out"}


def _multiples(items: pl.DataFrame) -> Iterator[Figure]:
    mean, largest = f"mean share, {SHARE}", "largest share of a document"
    parts = f"part of the document, of {POSITIONS}"
    yield from _profile("position", by_position(items), parts, mean)
    yield from _profile("length", by_length(items), "items of the document", largest)
    yield from _profile("frequency", by_frequency(items), "occurrences of the word", mean)


def _profile(name: str, found: list[Profile], axis: str, title: str) -> Iterator[Figure]:
    if len(found) < 2:
        return
    numbers = "; ".join(
        f"{one.name}: attention {one.attention:.2f}, leave-one-out {one.effect:.2f}"
        for one in found
    )
    across = alt.X("bin:N", title=axis, sort=None).axis(
        labelAngle=0, grid=False, labelExpr=FIRST_WORD
    )
    highest = max(max(one.attention, one.effect) for one in found)
    upward = alt.Y("share:Q", title=None).scale(domain=[0, short(ROOM * highest)], nice=False)
    upward = upward.axis(minExtent=LABEL_WIDTH, tickCount=4, format="~g")
    layers = [mark for score in SPOKEN for mark in _line(found, score)]
    drawn = layered(*layers).encode(x=across, y=upward)
    drawn = drawn.properties(width=WIDTH, height=PROFILE_HEIGHT, title=title)
    yield Figure(f"{NAME}_{name}", NAME, drawn, f"{title.capitalize()}, by {axis}. {numbers}.")


def _line(profiles: Sequence[Profile], score: str) -> list[alt.Chart]:
    """A line with its points, named at its right end: the upper line above, the lower below."""
    hue = ATTENTION if score == "attention" else COMPARISON
    rows: Rows = [
        {
            "bin": one.name,
            "share": short(getattr(one, score)),
            "tooltip": f"{SPOKEN[score]}, {one.name}: {getattr(one, score):.2f} ({one.count:,})",
        }
        for one in profiles
    ]
    attention_above = profiles[-1].attention >= profiles[-1].effect
    is_upper = attention_above == (score == "attention")
    label = chart([{**rows[-1], "name": SPOKEN[score]}])
    points = chart(rows).mark_point(color=hue, filled=True, size=40, opacity=1)
    return [
        chart(rows).mark_line(color=hue, strokeWidth=2),
        points.encode(tooltip="tooltip:N"),
        label.mark_text(
            color=hue, align="right", dx=END, dy=-ABOVE if is_upper else ABOVE, fontSize=TEXT_SIZE
        ).encode(text="name:N"),
    ]
