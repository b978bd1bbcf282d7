"""Figures of the erasure probes, after Serrano & Smith.

For single removals: every document as a point, by the difference of weights and of effects, and the
weights of the documents where the top item had less effect than the random one. For orders: box
plots of the fraction erased over the documents that every order changes, and the number of items
that each order erases beyond the smallest flipping set.
"""

from collections.abc import Iterator
from itertools import accumulate
from math import ceil, log

import altair as alt
import numpy as np
import polars as pl

from assay.report import text as words
from assay.report.charts import distributions as spread
from assay.report.charts.distributions import AxisScale, Values
from assay.report.charts.documents import plotted, points_of
from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    LABEL_WIDTH,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.sections.erasure import ONE, ORDER, ORDERS
from assay.runs.directory import RunRecord

RANKING = "attention"
HEIGHT, BAR_HEIGHT = 190, 84
STEPS = 20
TENTHS, LEAST_SCALE = 10, 0.1  # effects: the scale ends at a whole tenth
TITLE = "weight of the top item − that of the random one"
SHORT_EFFECT = "difference of effects (JS, nats)"
EFFECT = "JS without the top item − JS without the random one, nats"


def delta_js_points(record: RunRecord) -> Iterator[Figure]:
    """Each document by the difference of the two weights and that of their effects."""
    known = _pairs(record)
    if known.is_empty():
        return
    rows: Rows = [
        {
            "x": short(row["gap"]),
            "y": short(row["value"]),
            "place": row["place"],
            "id": words.in_figure(row["id"]),
        }
        for row in plotted(known, record).iter_rows(named=True)
    ]
    below = int((known["value"] < 0).sum())
    description = (
        f"{len(rows):,} of {len(known):,} documents by {TITLE} and {EFFECT}. In {below:,} "
        f"({below / len(known):.1%}) the random item has the larger effect; median effect "
        f"{float(np.median(known['value'])):.2f}."
    )
    yield Figure("erase_one_points", ONE, _scatter(rows, known["value"].to_numpy()), description)


def negative_histogram(record: RunRecord) -> Iterator[Figure]:
    """The difference of weights where the random item had the larger effect."""
    known = _pairs(record)
    gaps = known.filter(pl.col("value") < 0)["gap"].to_numpy()
    if not len(gaps):
        return
    opening = f"Histogram of {TITLE}, for those of {len(known):,} documents with a negative effect"
    drawn = _bars(gaps, AxisScale(0.0, 1.0, STEPS), len(known))
    yield Figure("erase_one_negatives", ONE, drawn, f"{opening}: {spread.in_words(gaps)}.")


def _pairs(record: RunRecord) -> pl.DataFrame:
    effects = record.measured(ONE, "delta_js", RANKING).with_row_index("place")
    gaps = record.measured(ONE, "weight_difference", RANKING)["value"].alias("gap")
    return effects.with_columns(gaps).drop_nulls(["value", "gap"])


def _scatter(rows: Rows, effects: Values) -> alt.LayerChart:
    points = points_of(rows, "weights differ by", "effects by")
    low, high = min(0.0, float(effects.min())), float(effects.max(initial=0.0))
    top = min(log(2), max(LEAST_SCALE, ceil(high * TENTHS) / TENTHS))
    upward = alt.Y("y:Q", title=None).scale(domain=[low, top], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    zero = chart([{"y": 0.0}]).mark_rule(strokeDash=[1, 2]).encode(y="y:Q")
    shared = points.encode(x=across("x", TITLE, (0.0, 1.0)), y=upward)
    return layered(zero, shared).properties(width=WIDTH, height=HEIGHT, title=SHORT_EFFECT)


def _bars(values: Values, scale: AxisScale, of: int) -> alt.LayerChart:
    shares = spread.histogram(values, scale)
    edges = zip(scale.edges[:-1], scale.edges[1:], strict=True)
    rows: Rows = [
        {
            "low": short(low),
            "high": short(high),
            "share": short(share),
            "tooltip": f"{low:.2f} to {high:.2f}: "
            f"{round(share * len(values)):,} of {len(values):,}",
        }
        for (low, high), share in zip(edges, shares, strict=True)
        if share > 0
    ]
    upward = alt.Y("share:Q", title=None).axis(format=".0%", tickCount=3, minExtent=LABEL_WIDTH)
    bars = (
        chart(rows)
        .mark_rect(color=COMPARISON)
        .encode(x2="high:Q", y2=alt.datum(0), tooltip="tooltip:N")
    )
    shown = layered(bars).encode(x=across("low", TITLE, (scale.low, scale.high)), y=upward)
    named = f"negative effects (n = {len(values):,} of {of:,})"
    return shown.properties(width=WIDTH, height=BAR_HEIGHT, title=named)


STEP = 26  # the height of a line
BOX, WHISKERS = (0.25, 0.5, 0.75), (0.05, 0.95)
FRACTION = "fraction of the items erased"
MOST_MORE = (0, 1, 4)  # items, of all but the last group
EXCESS = {"none": 1.0, "1 more": 0.75, "2 to 4 more": 0.5, "5 or more": 0.28}  # how strongly drawn
NEVER = "never"


def order_boxes(record: RunRecord) -> Iterator[Figure]:
    """The middle half as a box, the median as a stroke, 5 to 95 % as a line."""
    found = _values(record, "fraction_common")
    if found:
        n = len(next(iter(found.values())))
        numbers = "; ".join(f"{ORDERS[name]}: {spread.in_words(v)}" for name, v in found.items())
        drawn = _boxes(found).properties(title=f"documents that every order changes (n = {n:,})")
        yield Figure("erase_order_boxes", ORDER, drawn, f"{FRACTION.capitalize()}. {numbers}.")


def excess_bars(record: RunRecord) -> Iterator[Figure]:
    """Shares of the documents that can be changed, by the items beyond the smallest set."""
    rows: list[dict[str, float | str]] = []
    numbers = []
    possible = record.measured(ORDER, "items_to_flip", "optimal")["value"].count()
    for name, excess in _values(record, "excess_items").items():
        shares = _shares(excess, possible)
        ends = [*accumulate(shares.values(), initial=0.0)]
        for (label, share), low, high in zip(shares.items(), ends, ends[1:], strict=False):
            tooltip = f"{ORDERS[name]}, {label}: {share:.1%} of {possible:,} documents"
            rows.append(
                {
                    "order": ORDERS[name],
                    "low": short(low),
                    "high": short(high),
                    "strength": EXCESS.get(label, 0.0),
                    "hue": ATTENTION if name == RANKING else COMPARISON,
                    "tooltip": tooltip,
                }
            )
        mean = f"mean excess {excess.mean():.2f}"
        numbers.append(f"{ORDERS[name]}: none {shares['none']:.2f}, {mean}")
    if rows:
        opening = "Items beyond the smallest flipping set, shares of documents."
        drawn = _stacks(rows, len(numbers), possible)
        yield Figure("erase_order_excess", ORDER, drawn, f"{opening} {'; '.join(numbers)}.")


def _values(record: RunRecord, quantity: str) -> dict[str, Values]:
    """The values of each order that has any."""
    found = {
        name: record.measured(ORDER, quantity, name)["value"].drop_nulls().to_numpy()
        for name in ORDERS
    }
    return {name: values for name, values in found.items() if len(values)}


def _boxes(found: dict[str, Values]) -> alt.LayerChart:
    rows = [_box(name, values) for name, values in found.items()]
    base, y = chart(rows), _lines()
    domain = (0.0, 1.0)
    layers = layered(
        base.mark_rule().encode(x=across("least", FRACTION, domain), x2="most:Q", y=y),
        base.mark_bar(size=STEP // 2).encode(
            x=across("low", FRACTION, domain),
            x2="high:Q",
            y=y,
            color=alt.Color("hue:N", scale=None),
            tooltip="tooltip:N",
        ),
        base.mark_tick(thickness=2, size=STEP // 2).encode(
            x=across("middle", FRACTION, domain), y=y, tooltip="tooltip:N"
        ),
    )
    return layers.properties(width=WIDTH, height=STEP * len(rows))


def _box(name: str, values: Values) -> dict[str, float | str]:
    low, middle, high = np.quantile(values, BOX)
    least, most = np.quantile(values, WHISKERS)
    ends = {"least": least, "low": low, "middle": middle, "high": high, "most": most}
    tooltip = f"{ORDERS[name]}: {spread.in_words(values)}"
    return {
        "order": ORDERS[name],
        **{key: short(end) for key, end in ends.items()},
        "hue": ATTENTION if name == RANKING else COMPARISON,
        "tooltip": tooltip,
    }


def _shares(excess: Values, possible: int) -> dict[str, float]:
    """Shares of all documents that some set changes; last, those that the order never changes."""
    counts = np.bincount(np.searchsorted(MOST_MORE, excess), minlength=len(EXCESS))
    shares = {label: float(count) / possible for label, count in zip(EXCESS, counts, strict=True)}
    return {**shares, NEVER: 1 - len(excess) / possible}


def _stacks(rows: Rows, lines: int, possible: int) -> alt.LayerChart:
    bars = chart(rows).mark_bar(size=STEP // 2, strokeWidth=0.5)
    title = [f"share of documents: {', '.join(EXCESS)},", f"{NEVER} (empty)"]
    shown = bars.encode(
        x=across("low", title, (0.0, 1.0)),
        x2="high:Q",
        y=_lines(),
        color=alt.Color("hue:N", scale=None),
        stroke=alt.Stroke("hue:N", scale=None),
        fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None),
        tooltip="tooltip:N",
    )
    named = f"items beyond the smallest set (n = {possible:,})"
    return layered(shown).properties(width=WIDTH, height=STEP * lines, title=named)


def _lines() -> alt.Y:
    lines = alt.Y("order:N", title=None, sort=None)
    return lines.axis(grid=False, ticks=False, domain=False)
