"""Curves of erasure: the share of documents whose decision has changed, by the fraction erased.

A box plot of the fractions would sit at 1 where many decisions never change. A curve shows both how
early an order changes decisions and how many it never changes. Each curve is named at its end.
"""

from collections.abc import Iterator, Mapping

import altair as alt
import numpy as np

from assay.report.charts.distributions import Values
from assay.report.charts.style import (
    ATTENTION,
    COMPARISON,
    LABEL_WIDTH,
    TEXT_SIZE,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.sections.erasure import ORDER, ORDERS
from assay.runs.directory import RunRecord

HEIGHT = 210
STEPS = np.linspace(0.0, 0.95, 20)  # at 1 no item is left to decide from
FRACTION = "fraction of the items erased"
LABEL_ROOM = 150  # pixels right of the curves
BETWEEN = TEXT_SIZE / HEIGHT  # labels are at least a line apart
DASHES: Mapping[str, list[int]] = {"random": [2, 3], "ascending": [6, 3], "optimal": [1, 0]}
TARGET = 15  # pixels around a step of a curve in which the pointer finds it
SPOKEN = (0.1, 0.5)  # fractions named in the description


def flip_curves(record: RunRecord) -> Iterator[Figure]:
    """One curve per order, over all documents with at least two items."""
    found = shares_changed(record)
    if not found:
        return
    numbers = "; ".join(_in_words(name, shares) for name, shares in found.items())
    description = f"Share of documents whose decision has changed, by {FRACTION}. {numbers}."
    yield Figure("erase_order_curves", ORDER, _curves(found), description)


def shares_changed(record: RunRecord) -> dict[str, Values]:
    """For each order, the share of documents that it has changed at every step."""
    found: dict[str, Values] = {}
    for name in ORDERS:
        never = record.measured(ORDER, "never_flips", name)["value"]
        fractions = record.measured(ORDER, "fraction_to_flip", name)["value"].drop_nulls()
        if never.count():
            ranked = np.sort(fractions.to_numpy())
            found[name] = np.searchsorted(ranked, STEPS + 1e-9, side="right") / never.count()
    return found


def _in_words(name: str, shares: Values) -> str:
    parts = [f"{shares[np.searchsorted(STEPS, at - 1e-9)]:.2f} at {at:g}" for at in SPOKEN]
    return f"{ORDERS[name]}: {', '.join(parts)}, {shares[-1]:.2f} at {STEPS[-1]:g}"


def _curves(found: Mapping[str, Values]) -> alt.LayerChart:
    upward = alt.Y("share:Q", title=None).scale(domain=[0, 1], nice=False)
    upward = upward.axis(format=".0%", tickCount=5, minExtent=LABEL_WIDTH)
    rightward = across("at", FRACTION, (0.0, float(STEPS[-1])))
    lines = [
        chart(_rows(shares))
        .mark_line(
            color=_hue(name),
            strokeWidth=3 if name == "attention" else 1.5,
            strokeDash=DASHES.get(name, [1, 0]),
            interpolate="step-after",
        )
        .encode(x=rightward, y=upward)
        for name, shares in _attention_last(found).items()
    ]
    drawn = layered(*lines, *_targets(found), *_labels(found))
    return drawn.properties(width=WIDTH, height=HEIGHT, title="decisions changed, share")


def _targets(found: Mapping[str, Values]) -> Iterator[alt.Chart]:
    """Unseen marks along the curves that carry the tooltips, attention's on top.

    On the line itself a tooltip appeared at few of the places where a pointer rests. A point is as
    wide as a step; tall steps have a rule.
    """
    for name in _attention_last(found):
        steps = _rows(found[name])
        said = [f"{ORDERS[name]}: {step['share']:.0%} at {step['at']:.2g}" for step in steps]
        below = [0.0, *(step["share"] for step in steps[:-1])]
        points = chart([{**s, "tooltip": t} for s, t in zip(steps, said, strict=True)])
        points = points.mark_point(filled=True, size=TARGET**2, opacity=0)
        yield points.encode(x="at:Q", y="share:Q", tooltip="tooltip:N")
        tall: Rows = [
            {**step, "below": before, "tooltip": text}
            for step, before, text in zip(steps, below, said, strict=True)
            if step["share"] - before > TARGET / HEIGHT / 2
        ]
        if tall:
            rule = chart(tall).mark_rule(strokeWidth=TARGET, opacity=0)
            yield rule.encode(x="at:Q", y="below:Q", y2="share:Q", tooltip="tooltip:N")


def _attention_last(found: Mapping[str, Values]) -> dict[str, Values]:
    """The curves in the order in which they are drawn, attention's on top."""
    return {name: found[name] for name in sorted(found, key=lambda name: name == "attention")}


def _hue(name: str) -> str:
    return ATTENTION if name == "attention" else COMPARISON


def _rows(shares: Values) -> list[dict[str, float]]:
    return [{"at": short(x), "share": short(y)} for x, y in zip(STEPS, shares, strict=True)]


def _labels(found: Mapping[str, Values]) -> Iterator[alt.Chart]:
    """The names at the ends of the curves, moved apart, the highest first."""
    ranked = sorted(found, key=lambda name: -found[name].sum())
    place = 1.0 + BETWEEN
    for name in ranked:
        place = min(place - BETWEEN, float(found[name][-1]))
        said = _in_words(name, found[name])
        row: Rows = [{"share": short(place), "name": ORDERS[name], "tooltip": said}]
        text = chart(row).mark_text(
            align="left", dx=4, color=_hue(name), fontSize=TEXT_SIZE, limit=LABEL_ROOM
        )
        yield text.encode(x=alt.value(WIDTH), y="share:Q", text="name:N", tooltip="tooltip:N")
