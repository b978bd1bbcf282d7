"""Which order changes the decision with the fewest items, and how many does each waste?

Serrano & Smith's box plots of the fraction erased, over the documents that every order changes; and
the excess of each order over the smallest flipping set.
"""

from collections.abc import Iterator
from itertools import accumulate

import altair as alt
import numpy as np

from assay.report import distributions as spread
from assay.report.distributions import Values
from assay.report.erasure import ORDER, ORDERS
from assay.report.figures.style import (
    ATTENTION,
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

STEP = 26  # the height of a line
BOX, WHISKERS = (0.25, 0.5, 0.75), (0.05, 0.95)
FRACTION = "fraction of the items erased"
MOST_MORE = (0, 1, 4)  # items, of all but the last group
EXCESS = {"none": 1.0, "1 more": 0.75, "2 to 4 more": 0.5, "5 or more": 0.28}  # how strongly drawn
NEVER = "never"


def order_boxes(record: RunRecord) -> Iterator[Figure]:
    """Middle half as a box, median as a stroke, 5 to 95 % as a line."""
    found = _values(record, "fraction_common")
    if found:
        n = len(next(iter(found.values())))
        said = "; ".join(f"{ORDERS[name]}: {spread.in_words(v)}" for name, v in found.items())
        drawn = _boxes(found).properties(title=f"documents that every order changes (n = {n:,})")
        yield Figure("erase_order_boxes", ORDER, drawn, f"{FRACTION.capitalize()}. {said}.")


def excess_bars(record: RunRecord) -> Iterator[Figure]:
    """Of the documents that can be changed, the share by how many items too many it took."""
    rows: list[dict[str, float | str]] = []
    said = []
    possible = record.measured(ORDER, "items_to_flip", "optimal")["value"].count()
    for name, excess in _values(record, "excess_items").items():
        shares = _shares(excess, possible)
        ends = [*accumulate(shares.values(), initial=0.0)]
        for (label, share), low, high in zip(shares.items(), ends, ends[1:], strict=False):
            say = f"{ORDERS[name]}, {label}: {share:.1%} of {possible:,} documents"
            rows.append({"order": ORDERS[name], "low": short(low), "high": short(high),
                         "strength": EXCESS.get(label, 0.0), "say": say})  # fmt: skip
        said.append(f"{ORDERS[name]}: none {shares['none']:.2f}, mean excess {excess.mean():.2f}")
    if rows:
        words = f"Items beyond the smallest flipping set, shares of documents. {'; '.join(said)}."
        yield Figure("erase_order_excess", ORDER, _stacks(rows, len(said), possible), words)


def _values(record: RunRecord, quantity: str) -> dict[str, Values]:
    """Per order, where there are any."""
    found = {name: record.measured(ORDER, quantity, name)["value"].drop_nulls().to_numpy()
             for name in ORDERS}  # fmt: skip
    return {name: values for name, values in found.items() if len(values)}


def _boxes(found: dict[str, Values]) -> alt.LayerChart:
    rows = [_box(name, values) for name, values in found.items()]
    base, y = chart(rows), _lines()
    domain = (0.0, 1.0)
    layers = layered(
        base.mark_rule().encode(x=across("least", FRACTION, domain), x2="most:Q", y=y),
        base.mark_bar(color=ATTENTION, size=STEP // 2).encode(
            x=across("low", FRACTION, domain), x2="high:Q", y=y, tooltip="say:N"
        ),
        base.mark_tick(thickness=2, size=STEP // 2).encode(
            x=across("middle", FRACTION, domain), y=y, tooltip="say:N"
        ),
    )
    return layers.properties(width=WIDTH, height=STEP * len(rows))


def _box(name: str, values: Values) -> dict[str, float | str]:
    low, middle, high = np.quantile(values, BOX)
    least, most = np.quantile(values, WHISKERS)
    ends = {"least": least, "low": low, "middle": middle, "high": high, "most": most}
    say = f"{ORDERS[name]}: {spread.in_words(values)}"
    return {"order": ORDERS[name], **{key: short(end) for key, end in ends.items()}, "say": say}


def _shares(excess: Values, possible: int) -> dict[str, float]:
    """Of all documents that some set changes; those that the order never does stand last."""
    counts = np.bincount(np.searchsorted(MOST_MORE, excess), minlength=len(EXCESS))
    shares = {label: float(count) / possible for label, count in zip(EXCESS, counts, strict=True)}
    return {**shares, NEVER: 1 - len(excess) / possible}


def _stacks(rows: Rows, lines: int, possible: int) -> alt.LayerChart:
    bars = chart(rows).mark_bar(color=RIVAL, size=STEP // 2, stroke=RIVAL, strokeWidth=0.5)
    title = [f"share of documents: {', '.join(EXCESS)},", f"{NEVER} (empty)"]
    shown = bars.encode(
        x=across("low", title, (0.0, 1.0)),
        x2="high:Q",
        y=_lines(),
        fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None),
        tooltip="say:N",
    )
    named = f"items beyond the smallest set (n = {possible:,})"
    return layered(shown).properties(width=WIDTH, height=STEP * lines, title=named)


def _lines() -> alt.Y:
    lines = alt.Y("order:N", title=None, sort=None)
    return lines.axis(grid=False, ticks=False, domain=False)
