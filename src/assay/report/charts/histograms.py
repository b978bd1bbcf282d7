"""Histograms over documents: Jain & Wallace's figures 2, 3, 4 and 7.

Panels of one figure, and figures of one kind, share their vertical scale, so that heights can be
compared.
"""

from collections.abc import Iterator, Sequence
from math import ceil

import altair as alt
import numpy as np

from assay.report import text as words
from assay.report.charts import distributions as spread
from assay.report.charts.distributions import AxisScale, Panel, Values
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
from assay.report.sections.adversary import PAPER_EPS, eps_group
from assay.runs.directory import RunRecord
from assay.statistics.intervals import Interval, mean_interval

HEIGHT = 84
TENTHS = 10  # shares of documents: the scale ends at a whole tenth
GAP = 0.08  # of a step: the space between two bars
UNIT = AxisScale(0.0, 1.0, name="conicity")
CEILING = "tau_gradient_leave_one_out"
DIFFERENCES = {  # figure: the quantity subtracted from the ceiling
    "difference_leave_one_out": "tau_attention_leave_one_out",
    "difference_gradient": "tau_attention_gradient",
}
Spreads = list[tuple[Panel, Values]]


def tau_figures(record: RunRecord) -> Iterator[Figure]:
    """Figure 2: one figure per pair of scores, a row for each predicted class."""
    spreads = {name: _by_class(record, "agreement", name) for name in words.TAU_PAIRS}
    shown = [values for rows in spreads.values() for _, values in rows]
    top = _top([spread.histogram(values, spread.TAU) for values in shown])
    for name, rows in spreads.items():
        if rows:
            hue = ATTENTION if "attention" in name else COMPARISON
            title = words.TAU_PAIRS[name]
            layers = [_bars(values, spread.TAU, hue, "τ") + _median(values) for _, values in rows]
            drawn = _stacked(rows, layers, title, spread.TAU, top)
            description = spread.by_class(f"Histogram of {title}.", rows)
            yield Figure(name, "agreement", drawn, description)


def difference_figures(record: RunRecord) -> Iterator[Figure]:
    """Figures 3 and 4: how much better gradient and leave-one-out agree with each other."""
    ceiling = record.measured("agreement", CEILING).select("id", "prediction", ceiling="value")
    everyone = Panel("all documents", record.classes)
    found = {}
    for name, quantity in DIFFERENCES.items():
        table = ceiling.join(record.measured("agreement", quantity).select("id", "value"), on="id")
        found[name] = everyone.values(table.with_columns(value=table["ceiling"] - table["value"]))
    found = {name: values for name, values in found.items() if len(values)}
    scale = spread.around_zero(np.concatenate([*found.values(), np.zeros(1)]))
    top = _top([spread.histogram(values, scale) for values in found.values()])
    seed = record.manifest.bootstrap_seed
    for name, values in found.items():
        mean = mean_interval(values, seed)
        title = words.DIFFERENCES[name]
        layers = _bars(values, scale, COMPARISON, "difference") + _mean(mean)
        rows = [(everyone, values)]
        opening = f"Histogram of {title}: mean {words.with_interval(mean)}."
        drawn = _stacked(rows, [layers], _two_lines(title), scale, top)
        yield Figure(name, "agreement", drawn, spread.by_class(opening, rows))


def jsd_histogram(record: RunRecord) -> Iterator[Figure]:
    """Figure 7: filled at the stricter eps of the paper, outlined at the looser one."""
    strict, loose = (
        dict(_by_class(record, "adversary", "max_jsd", eps_group(eps))) for eps in PAPER_EPS
    )
    if not strict:
        return
    drawn = [*strict.values(), *loose.values()]
    top = _top([spread.histogram(values, spread.JSD) for values in drawn])
    layers = [
        _bars(values, spread.JSD, ATTENTION, "JSD")
        + (_outline(loose[panel], spread.JSD) if panel in loose else _median(values))
        for panel, values in strict.items()
    ]
    title = f"largest JSD, prediction within {PAPER_EPS[0]:g}"
    description = spread.by_class(f"Histogram of {title}.", list(strict.items()))
    whole = _stacked(list(strict.items()), layers, title, spread.JSD, top)
    yield Figure("adversary_histogram", "adversary", whole, description)


def state_histogram(record: RunRecord) -> Iterator[Figure]:
    """How alike the states of a document are."""
    title = "conicity: how alike the states are"
    yield from _over_all(record, "states", "conicity", title, (UNIT, COMPARISON))


def same_output_histogram(record: RunRecord) -> Iterator[Figure]:
    """How far other weights can be that give exactly the same output of the attention."""
    title = "largest JSD found, same output"
    scale = (spread.JSD, ATTENTION)
    yield from _over_all(record, "identifiable", "same_output_jsd", title, scale)


def _over_all(
    record: RunRecord, probe: str, quantity: str, title: str, look: tuple[AxisScale, str]
) -> Iterator[Figure]:
    """One panel over all documents, in the given scale and hue."""
    scale, hue = look
    rows = _by_class(record, probe, quantity)
    if not rows:
        return
    everyone = Panel("all documents", record.classes)
    values = everyone.values(record.measured(probe, quantity))
    layers = [_bars(values, scale, hue, scale.name) + _median(values)]
    top = _top([spread.histogram(values, scale)])
    drawn = _stacked([(everyone, values)], layers, title, scale, top)
    description = spread.by_class(f"Histogram of {title}.", [(everyone, values)])
    yield Figure(f"{probe}_histogram", probe, drawn, description)


def _by_class(record: RunRecord, probe: str, quantity: str, group: str | None = None) -> Spreads:
    table = record.measured(probe, quantity, group)
    spreads = [(panel, panel.values(table)) for panel in spread.panels(record)]
    return [(panel, values) for panel, values in spreads if len(values)]


def _top(shares: Sequence[Values]) -> float:
    highest = max((float(share.max()) for share in shares), default=1.0)
    return ceil(highest * TENTHS) / TENTHS


def _stacked(
    rows: Spreads,
    layers: Sequence[alt.LayerChart],
    title: str | list[str],
    scale: AxisScale,
    top: float,
) -> alt.VConcatChart:
    """One panel under the other; only the last has a title on its axis."""
    below = [*[None] * (len(rows) - 1), title]
    panels = [
        layer.encode(
            x=across("low", named, (scale.low, scale.high)),
            y=alt.Y("share:Q", title=None)
            .scale(domain=[0, top])
            .axis(format=".0%", tickCount=3, minExtent=LABEL_WIDTH),
        ).properties(
            width=WIDTH,
            height=HEIGHT,
            title=f"{words.in_figure(panel.title)} (n = {len(values):,})",
        )
        for (panel, values), layer, named in zip(rows, layers, below, strict=True)
    ]
    return alt.vconcat(*panels, spacing=12)


def _bars(values: Values, scale: AxisScale, hue: str, unit: str) -> alt.LayerChart:
    bars = chart(_steps(values, scale, unit)).mark_rect(color=hue)
    return layered(bars.encode(x2="high:Q", y2=alt.datum(0), tooltip="tooltip:N"))


def _outline(values: Values, scale: AxisScale) -> alt.Chart:
    """The histogram as a line that follows its upper edge."""
    shares = spread.histogram(values, scale)
    corners: Rows = [
        {"low": short(edge), "share": short(share)}
        for edge, share in zip(scale.edges, [*shares, shares[-1]], strict=True)
    ]
    line: alt.Chart = chart(corners).mark_line(interpolate="step-after", strokeWidth=1.2)
    return line


def _steps(values: Values, scale: AxisScale, unit: str) -> Rows:
    """The steps that hold a document, with their numbers as tooltips."""
    edges = zip(scale.edges[:-1], scale.edges[1:], strict=True)
    return [
        {
            "low": short(low),
            "high": short(high - GAP * (high - low)),
            "share": short(share),
            "tooltip": f"{unit} {low:.2f} to {high:.2f}: {share:.1%} of the documents "
            f"({round(share * len(values)):,} of {len(values):,})",
        }
        for (low, high), share in zip(edges, spread.histogram(values, scale), strict=True)
        if share > 0
    ]


def _median(values: Values) -> alt.Chart:
    middle = float(np.median(values))
    rule = chart([{"low": short(middle), "tooltip": f"median {middle:.2f}"}])
    return _whole_height(rule.mark_rule(strokeDash=[3, 2], size=1.5))


def _mean(mean: Interval) -> alt.LayerChart:
    """The mean as a line, its interval as a band, and zero for comparison."""
    tooltip = f"mean {words.with_interval(mean)}"
    line = chart([{"low": short(mean.value), "tooltip": tooltip}]).mark_rule(size=1.5)
    zero = chart([{"low": 0.0, "tooltip": "no difference"}]).mark_rule(strokeDash=[1, 2])
    layers = [_whole_height(zero), _whole_height(line)]
    if mean.n > 1:  # a single document has no interval
        ends: Rows = [{"low": short(mean.low), "high": short(mean.high), "tooltip": tooltip}]
        layers.insert(1, _whole_height(chart(ends).mark_rect(opacity=0.3)).encode(x2="high:Q"))
    return layered(*layers)


def _whole_height(mark: alt.Chart) -> alt.Chart:
    tall: alt.Chart = mark.encode(y=alt.value(0), y2=alt.value(HEIGHT), tooltip="tooltip:N")
    return tall


def _two_lines(name: str) -> list[str]:
    """The name of a difference, which is too long for one."""
    first, minus, second = name.partition("− ")
    return [first, minus + second]
