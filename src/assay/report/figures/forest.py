"""How good is each kind of model, and how sure is that over seeds?

Wiegreffe & Pinter's tables 2 and 3, drawn.
"""

from collections.abc import Iterator, Mapping
from math import ceil, floor

import altair as alt

from assay.report import words
from assay.report.figures.style import (
    ATTENTION,
    LABEL_WIDTH,
    WIDTH,
    Figure,
    Rows,
    across,
    bounded,
    chart,
    layered,
    short,
)
from assay.report.record import RunRecord, SummaryRow
from assay.report.trained import OVER_SEEDS, values_by_model

STEP = 22  # the height of a line
PROBES = ("uniform", "guide")
TENTHS = 10  # the scale ends at whole tenths
TICK = 10  # the height of one model's stroke


def forests(record: RunRecord) -> Iterator[Figure]:
    """The mean as a point, Student's interval as a line, each model as a stroke."""
    for probe in PROBES:
        means = {
            row.group: row
            for row in record.summary
            if (row.probe, row.quantity, row.statistic) == (probe, "f1", OVER_SEEDS)
            and row.group is not None
            and row.value is not None
        }
        if means:
            single = values_by_model(record, probe, "f1")
            said = "; ".join(_say(group, row) for group, row in means.items())
            drawn = _forest(means, single)
            yield Figure(f"{probe}_forest", probe, drawn, f"F1 on test by kind of model. {said}.")


def _forest(
    means: Mapping[str, SummaryRow], single: Mapping[tuple[str, int], float]
) -> alt.LayerChart:
    domain = _domain([*single.values(), *(row.value or 0.0 for row in means.values())])
    upward = alt.Y("kind:N", title=None, sort=None)
    upward = upward.axis(labelLimit=2 * LABEL_WIDTH, grid=True, ticks=False, domain=False)
    base = chart(_rows(means))
    strokes: Rows = [
        {"kind": words.group(group), "x": short(value), "say": f"seed {seed}: {value:.3f}"}
        for (group, seed), value in single.items()
    ]
    ranges = base.mark_rule(color=ATTENTION, size=2, clip=True).encode(
        x=across("low", "F1", domain), x2="high:Q"
    )
    each = chart(strokes).mark_tick(thickness=1, size=TICK).encode(x="x:Q", tooltip="say:N")
    points = base.mark_point(color=ATTENTION, filled=True, size=45, opacity=1)
    layers = layered(ranges, each, points.encode(x="mean:Q", tooltip="say:N")).encode(y=upward)
    return layers.properties(width=WIDTH, height=STEP * len(means), title="F1 on test")


def _domain(values: list[float]) -> tuple[float, float]:
    """Where the models lie: an interval from two seeds may run far beyond, and is cut off."""
    low, high = floor(min(values) * TENTHS), ceil(max(values) * TENTHS)
    return (low if low < high else low - 1) / TENTHS, high / TENTHS


def _rows(means: Mapping[str, SummaryRow]) -> Rows:
    return [
        {
            "kind": words.group(group),
            **bounded(value, row.low, row.high),
            "say": _say(group, row),
        }
        for group, row in means.items()
        if (value := row.value) is not None
    ]


def _say(group: str, row: SummaryRow) -> str:
    bounds = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{words.group(group)}: {row.value:.3f}{bounds}, {row.n} seeds"
