"""How good is each kind of model, and how sure is that over seeds?

Wiegreffe & Pinter's tables 2 and 3, drawn.
"""

from collections.abc import Iterator, Mapping

import altair as alt

from assay.report import words
from assay.report.figures.lines import Line, by_name, line_chart, tenths
from assay.report.figures.style import LABEL_WIDTH, WIDTH, Figure, Rows, chart, short
from assay.report.record import RunRecord, SummaryRow
from assay.report.trained import OVER_SEEDS, values_by_model

STEP = 22  # the height of a line
PROBES = ("uniform", "guide")
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
    """The scale shows all models: an interval from two seeds may run far beyond, and is cut off."""
    lines = list(_lines(means))
    strokes: Rows = [
        {"name": words.group(group), "x": short(value), "say": f"seed {seed}: {value:.3f}"}
        for (group, seed), value in single.items()
    ]
    upward = by_name(2 * LABEL_WIDTH)
    each = chart(strokes).mark_tick(thickness=1, size=TICK)
    behind = [each.encode(x="x:Q", y=upward, tooltip="say:N")]
    domain = tenths([*single.values(), *(line.value for line in lines)])
    layers = line_chart(lines, upward, domain, "F1", behind=behind)
    return layers.properties(width=WIDTH, height=STEP * len(means), title="F1 on test")


def _lines(means: Mapping[str, SummaryRow]) -> Iterator[Line]:
    for group, row in means.items():
        if row.value is not None:
            yield Line(words.group(group), row.value, row.low, row.high, _say(group, row))


def _say(group: str, row: SummaryRow) -> str:
    bounds = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{words.group(group)}: {row.value:.3f}{bounds}, {row.n} seeds"
