"""Figures of the probes that train the model again on masked texts.

`roar_curves` shows how the accuracy falls as more items are masked, one curve per order, named at
its end. `masked_training_marks` shows where erasing by a score lies between a random order and the
best one, for the model itself and for models that were trained with masked texts.
"""

from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from assay.report import text as words
from assay.report.charts.intervals import IntervalLine, by_name, line_chart, tenths
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
from assay.report.sections.tables import EVERYTHING
from assay.report.sections.trained import FEWEST_FOR_INTERVAL, OVER_SEEDS
from assay.runs.directory import RunRecord, SummaryRow

ROAR, MASKED = "roar", "masked_training"
OWN, RANDOM, RECURSIVE = "attention", "random", "recursive"
SHARE = ";share="
HEIGHT = 210
LABEL_ROOM = 150  # pixels right of the curves
DOTTED, DASHED, SOLID = [2, 3], [6, 3], [1, 0]
POINT = 40
Curve = Mapping[float, SummaryRow]  # by the share of masked items


def roar_curves(record: RunRecord) -> Iterator[Figure]:
    """The accuracy of models without the first items of each order, by how many were masked."""
    curves = _curves(record)
    if not curves:
        return
    numbers = "; ".join(
        f"{words.group(name)}: " + ", ".join(f"{row.value:.3f} at {x:g}" for x, row in one.items())
        for name, one in curves.items()
    )
    said = f"Accuracy on the test documents, by the share of masked items. {numbers}."
    yield Figure("roar_curves", ROAR, _drawn(curves), said)


def _curves(record: RunRecord) -> dict[str, Curve]:
    found: dict[str, dict[float, SummaryRow]] = {}
    for row in _rows(record, ROAR, "accuracy"):
        name, _, share = (row.group or "").partition(SHARE)
        found.setdefault(name, {})[float(share)] = row
    return {name: dict(sorted(one.items())) for name, one in found.items()}


def _rows(record: RunRecord, probe: str, quantity: str) -> Iterator[SummaryRow]:
    wanted = (probe, quantity, OVER_SEEDS, EVERYTHING)
    for row in record.summary:
        found = (row.probe, row.quantity, row.statistic, row.predicted) == wanted
        if found and row.group and row.value is not None:
            yield row


def _drawn(curves: Mapping[str, Curve]) -> alt.LayerChart:
    """The curves end before all items are masked: there they meet, at the dotted line."""
    values = [row.value or 0.0 for one in curves.values() for row in one.values()]
    low, high = tenths(values)
    ends = {x for one in curves.values() for x in one if x < 1}
    upward = alt.Y("y:Q", title=None).scale(domain=[low, high], nice=False)
    upward = upward.axis(tickCount=5, minExtent=LABEL_WIDTH)
    rightward = alt.X("x:Q", title="share of masked items").scale(domain=[0, max(ends)], nice=False)
    rightward = rightward.axis(values=sorted(ends), format=".0%", labelOverlap=True)
    nothing = [row.value for one in curves.values() for x, row in one.items() if x == 1]
    layers: list[alt.Chart | alt.LayerChart] = []
    if nothing:
        every: Rows = [{"y": short(nothing[0] or 0.0), "tooltip": "all items masked"}]
        layers.append(
            chart(every).mark_rule(strokeDash=[1, 2]).encode(y=upward, tooltip="tooltip:N")
        )
    for name in sorted(curves, key=lambda name: _score(name) == OWN):  # attention's on top
        points = _points(name, curves[name])
        line = chart(points).mark_line(
            color=_hue(name), strokeWidth=3 if name == OWN else 1.5, strokeDash=_dash(name)
        )
        marks = chart(points).mark_point(filled=True, size=POINT, opacity=1, color=_hue(name))
        layers.append(line.encode(x=rightward, y=upward))
        layers.append(marks.encode(x=rightward, y=upward, tooltip="tooltip:N"))
    drawn = layered(*layers, *_labels(curves, upward, (low, high)))
    return drawn.properties(width=WIDTH, height=HEIGHT, title="accuracy after training again")


def _points(name: str, curve: Curve) -> Rows:
    return [
        {
            "x": share,
            "y": short(row.value or 0.0),
            "tooltip": f"{words.group(name)}: {row.value:.3f} with {100 * share:.0f} % masked, "
            f"n = {row.n}",
        }
        for share, row in curve.items()
        if share < 1
    ]


def _labels(
    curves: Mapping[str, Curve], upward: alt.Y, domain: tuple[float, float]
) -> Iterator[alt.Chart]:
    """The names at the ends of the curves, the highest first, at least a line apart."""
    low, high = domain
    last = {name: _points(name, one)[-1] for name, one in curves.items()}
    ranked = sorted(last, key=lambda name: -float(last[name]["y"]))
    places = apart([float(last[name]["y"]) for name in ranked], (high - low) * TEXT_SIZE / HEIGHT)
    raised = max(0.0, low - min(places))  # names do not run into the axis
    for name, place in zip(ranked, places, strict=True):
        row: Rows = [{"y": short(place + raised), "name": words.group(name)}]
        text = chart(row).mark_text(
            align="left", dx=6, color=_hue(name), fontSize=TEXT_SIZE, limit=LABEL_ROOM
        )
        yield text.encode(x=alt.value(WIDTH), y=upward, text="name:N")


def apart(descending: Sequence[float], least: float) -> list[float]:
    """The same places, each at least so far below the one before."""
    places: list[float] = []
    for value in descending:
        places.append(min(value, places[-1] - least) if places else value)
    return places


def _score(name: str) -> str:
    return name.partition(";")[0]


def _hue(name: str) -> str:
    return ATTENTION if _score(name) == OWN else COMPARISON


def _dash(name: str) -> list[int]:
    if name == RANDOM:
        return DOTTED
    return DASHED if name.endswith(RECURSIVE) else SOLID


SHAPES = {"trained=as_is": "circle", "trained=masked": "diamond"}
STEP = 22  # the height of a line
LABEL = 190  # pixels


def masked_training_marks(record: RunRecord) -> Iterator[Figure]:
    """Where each score's order lies between random (0) and best (1), for both kinds of model."""
    for measure in ("comprehensiveness", "sufficiency"):
        lines = [_line(row) for row in _rows(record, MASKED, f"way_to_best_{measure}")]
        if not lines:
            continue
        domain = tenths([0.0, 1.0, *(end for line in lines for end in line.ends)])
        axis = "0: random order, 1: best order found"
        drawn = line_chart(lines, by_name(LABEL), domain, axis, dotted=0.0, point=POINT)
        names = {line.name for line in lines}
        drawn = drawn.properties(width=WIDTH, height=STEP * len(names), title=measure)
        numbers = "; ".join(line.tooltip for line in lines)
        said = f"{measure.capitalize()} by score and kind of erasure, {axis}. {numbers}."
        yield Figure(f"masked_training_{measure}", MASKED, drawn, said)


def _line(row: SummaryRow) -> IntervalLine:
    group, _, trained = (row.group or "").rpartition(";")
    enough = (row.n or 0) >= FEWEST_FOR_INTERVAL
    low, high = (row.low, row.high) if enough else (None, None)
    name, value = words.group(group), row.value or 0.0
    said = f"{name}, {words.group(trained, MASKED)}: {value:.3f}, n = {row.n}"
    return IntervalLine(name, value, low, high, said, _hue(group), SHAPES.get(trained, "circle"))
