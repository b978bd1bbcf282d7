"""How often does each score put a marked item above an unmarked one?"""

from collections.abc import Iterator
from functools import partial
from math import floor

import altair as alt

from assay.report import words
from assay.report.figures.style import (
    ATTENTION,
    RIVAL,
    WIDTH,
    Figure,
    Rows,
    across,
    bounded,
    chart,
    layered,
)
from assay.report.rationale import NAME, OWN, scores_measured
from assay.report.record import RunRecord, SummaryRow
from assay.report.tables import EVERYTHING

STEP = 20  # the height of a line
LONGEST_LABEL = 170  # pixels
CHANCE, PERFECT = 0.5, 1.0
TENTHS = 10  # the scale begins at a whole tenth


def plausible_forest(record: RunRecord) -> Iterator[Figure]:
    """The mean over documents as a point, its interval as a line; chance is dotted."""
    rows = {
        row.group: row
        for row in record.summary
        if (row.probe, row.quantity, row.predicted) == (NAME, "auc", EVERYTHING)
    }
    measured = {name: rows[name] for name in scores_measured(record)}
    if measured:
        said = "; ".join(_say(name, row) for name, row in measured.items())
        drawn = _forest(measured)
        yield Figure(NAME, NAME, drawn, f"Mean AUC for marked items, by score. {said}.")


def _forest(measured: dict[str, SummaryRow]) -> alt.LayerChart:
    rows = _rows(measured)
    lowest = min([CHANCE, *(float(row["low"]) for row in rows)])
    domain = (floor(lowest * TENTHS) / TENTHS, PERFECT)
    upward = alt.Y("score:N", title=None, sort=None)
    upward = upward.axis(labelLimit=LONGEST_LABEL, grid=True, ticks=False, domain=False)
    hue = alt.Color("hue:N", scale=None)
    base = chart(rows)
    along = partial(across, title="AUC", domain=domain)
    chance = chart([{"low": CHANCE}]).mark_rule(strokeDash=[1, 2])
    ranges = base.mark_rule(size=2).encode(x=along("low"), x2="high:Q", y=upward, color=hue)
    means = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=along("mean"), y=upward, color=hue, tooltip="say:N"
    )
    layers = layered(chance.encode(x=along("low")), ranges, means)
    return layers.properties(width=WIDTH, height=STEP * len(rows), title="AUC for marked items")


def _rows(measured: dict[str, SummaryRow]) -> Rows:
    return [
        {
            "score": words.score(name),
            **bounded(value, row.low, row.high),
            "hue": ATTENTION if name == OWN else RIVAL,
            "say": _say(name, row),
        }
        for name, row in measured.items()
        if (value := row.value) is not None
    ]


def _say(name: str, row: SummaryRow) -> str:
    bounds = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{words.score(name)}: {row.value:.3f}{bounds}, {row.n} documents"
