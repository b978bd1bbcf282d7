"""Does a larger difference of weights mean a larger difference of effect?

Serrano & Smith's figures of single removals: every document as a point, and the weights of those
where the top item had less effect than the random one.
"""

from collections.abc import Iterator
from math import log

import altair as alt
import numpy as np
import polars as pl

from assay.report import distributions as spread
from assay.report import words
from assay.report.distributions import Scale, Values
from assay.report.erasure import ONE
from assay.report.figures.style import (
    ATTENTION,
    LABEL_WIDTH,
    RIVAL,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.record import RunRecord

RANKING = "attention"
MOST_POINTS = 500  # drawn by lot where there are more documents
HEIGHT, BAR_HEIGHT = 190, 84
STEPS = 20
TITLE = "weight of the top item − that of the random one"
SHORT_EFFECT = "difference of effects (JS, nats)"
EFFECT = "JS without the top item − JS without the random one, nats"


def delta_js_points(record: RunRecord) -> Iterator[Figure]:
    """Each document: the difference of the two weights against that of their effects."""
    known = _pairs(record)
    if known.is_empty():
        return
    seed = record.run.section("seeds").count("bootstrap") or 0
    drawn = known.sample(min(len(known), MOST_POINTS), seed=seed)
    rows: Rows = [
        {"x": short(row["gap"]), "y": short(row["value"]), "place": row["place"],
         "say": f"{words.in_figure(row['id'])}: weights differ by {row['gap']:.3f}, effects by "
                f"{row['value']:.3f}; click to open it"}
        for row in drawn.iter_rows(named=True)
    ]  # fmt: skip
    below = int((known["value"] < 0).sum())
    said = (
        f"{len(rows):,} of {len(known):,} documents by {TITLE} and {EFFECT}. In {below:,} "
        f"({below / len(known):.1%}) the random item has the larger effect; median effect "
        f"{float(np.median(known['value'])):.2f}."
    )
    yield Figure("erase_one_points", ONE, _scatter(rows, known["value"].to_numpy()), said)


def negative_histogram(record: RunRecord) -> Iterator[Figure]:
    """The difference of weights where the random item had the larger effect."""
    known = _pairs(record)
    gaps = known.filter(pl.col("value") < 0)["gap"].to_numpy()
    if not len(gaps):
        return
    said = f"Histogram of {TITLE}, of {len(known):,} documents those with a negative effect: "
    drawn = _bars(gaps, Scale(0.0, 1.0, STEPS), len(known))
    yield Figure("erase_one_negatives", ONE, drawn, f"{said}{spread.in_words(gaps)}.")


def _pairs(record: RunRecord) -> pl.DataFrame:
    effects = record.measured(ONE, "delta_js", RANKING).with_row_index("place")
    gaps = record.measured(ONE, "weight_difference", RANKING)["value"].alias("gap")
    return effects.with_columns(gaps).drop_nulls(["value", "gap"])


def _scatter(rows: Rows, effects: Values) -> alt.LayerChart:
    points = chart(rows).mark_point(
        color=ATTENTION, filled=True, size=30, opacity=0.5, cursor="pointer"
    )
    low = min(0.0, float(effects.min()))
    upward = alt.Y("y:Q", title=None).scale(domain=[low, log(2)], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    zero = chart([{"y": 0.0}]).mark_rule(strokeDash=[1, 2]).encode(y="y:Q")
    shared = points.encode(x=across("x", TITLE, (0.0, 1.0)), y=upward, tooltip="say:N")
    return layered(zero, shared).properties(width=WIDTH, height=HEIGHT, title=SHORT_EFFECT)


def _bars(values: Values, scale: Scale, of: int) -> alt.LayerChart:
    shares = spread.histogram(values, scale)
    edges = zip(scale.edges[:-1], scale.edges[1:], strict=True)
    rows: Rows = [
        {"low": short(low), "high": short(high), "share": short(share),
         "say": f"{low:.2f} to {high:.2f}: {round(share * len(values)):,} of {len(values):,}"}
        for (low, high), share in zip(edges, shares, strict=True) if share > 0
    ]  # fmt: skip
    upward = alt.Y("share:Q", title=None).axis(format=".0%", tickCount=3, minExtent=LABEL_WIDTH)
    bars = chart(rows).mark_rect(color=RIVAL).encode(x2="high:Q", y2=alt.datum(0), tooltip="say:N")
    shown = layered(bars).encode(x=across("low", TITLE, (scale.low, scale.high)), y=upward)
    named = f"negative effects (n = {len(values):,} of {of:,})"
    return shown.properties(width=WIDTH, height=BAR_HEIGHT, title=named)
