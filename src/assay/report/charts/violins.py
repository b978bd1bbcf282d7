"""Violins by largest weight: Jain & Wallace's figures 6 and 8, Wiegreffe & Pinter's figure 3.

The last compares how far attention moves between seeds with the distance of alternative weights.
"""

from collections.abc import Iterator

import altair as alt
import numpy as np

from assay.evidence import SHOWN_EPS
from assay.report import text as words
from assay.report.charts import distributions as spread
from assay.report.charts.distributions import AxisScale, Bin
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
from assay.report.sections.adversary import eps_group
from assay.runs.directory import RunRecord

STEP = 36
REACH = 0.42  # half the height of the widest point, in steps


def permutation_violins(record: RunRecord) -> Iterator[Figure]:
    """Figure 6: median change under shuffled weights, one figure per predicted class."""
    opening = "Median change under shuffled weights"
    axis = "median change of the prediction (TVD)"
    yield from _figures(record, ("permutation", "median_tvd", None), spread.TVD, axis, opening)


def jsd_violins(record: RunRecord) -> Iterator[Figure]:
    """Figure 8: the largest distance of alternative weights, at the paper's stricter eps."""
    axis = f"largest JSD, prediction within {SHOWN_EPS:g}"
    quantity = ("adversary", "max_jsd", eps_group(SHOWN_EPS))
    yield from _figures(record, quantity, spread.JSD, axis, axis.capitalize())


def _figures(
    record: RunRecord,
    quantity: tuple[str, str, str | None],
    scale: AxisScale,
    axis: str,
    opening: str,
) -> Iterator[Figure]:
    probe = quantity[0]
    table, largest = record.measured(*quantity), record.measured(probe, "max_attention")
    for number, panel in enumerate(spread.panels(record), start=1):
        if bins := spread.by_largest_weight(table, largest, panel):
            title = words.in_figure(panel.title)
            drawn = _violins(bins, scale, axis).properties(title=title)
            description = spread.by_weight(f"{opening}, predicted {title}.", bins)
            yield Figure(f"{probe}_violins_{number}", probe, drawn, description)


def _violins(bins: list[Bin], scale: AxisScale, title: str) -> alt.LayerChart:
    places = list(range(len(spread.BIN_NAMES)))
    upward = alt.Y("y:Q", title=None).scale(domain=[-0.5, len(places) - 0.5])
    upward = upward.axis(
        values=places,
        labelExpr=bin_labels(bins),
        grid=False,
        minExtent=LABEL_WIDTH,
        ticks=False,
        labelOffset=-TEXT_SIZE / 2,
    )
    says = by_bin({part.number: _tooltip(part) for part in bins})
    shapes = chart(_shapes(bins, scale)).transform_calculate(tooltip=says)
    shapes = shapes.mark_area(color=ATTENTION)
    medians = chart(_medians(bins)).mark_tick(thickness=2, size=18, orient="vertical")
    layers = layered(
        shapes.encode(y2="high:Q", detail="bin:N", tooltip="tooltip:N"),
        medians.encode(tooltip="tooltip:N"),
    )
    shared = layers.encode(x=across("x", title, (scale.low, scale.high)), y=upward)
    return shared.properties(width=WIDTH, height=STEP * len(places))


def bin_labels(bins: list[Bin]) -> str:
    """An expression for the axis: range and number of documents. It holds no text from the data."""
    sizes = {part.number: len(part.values) for part in bins}
    labels = [
        f"['{name}', 'n = {sizes.get(place, 0):,}']" for place, name in enumerate(spread.BIN_NAMES)
    ]
    return f"[{', '.join(labels)}][datum.value]"


def _shapes(bins: list[Bin], scale: AxisScale) -> Rows:
    return [
        {
            "bin": part.number,
            "x": short(x),
            "y": short(part.number - REACH * height),
            "high": short(part.number + REACH * height),
        }
        for part in bins
        for x, height in _outline(part, scale)
    ]


def by_bin(texts: dict[int, str]) -> str:
    """An expression for the tooltip of a bin, once for all rows. It holds no text from the data."""
    listed = ", ".join(f"'{texts.get(place, '')}'" for place in range(len(spread.BIN_NAMES)))
    return f"[{listed}][datum.bin]"


def _outline(part: Bin, scale: AxisScale) -> Iterator[tuple[float, float]]:
    """The points of a shape and their heights, as shares of its largest."""
    yield from zip(scale.edges, spread.smoothed(part.values, scale), strict=True)


def _medians(bins: list[Bin]) -> Rows:
    return [
        {"y": part.number, "x": short(np.median(part.values)), "tooltip": _tooltip(part)}
        for part in bins
    ]


def _tooltip(part: Bin) -> str:
    return f"largest weight {spread.BIN_NAMES[part.number]}: {spread.in_words(part.values)}"


NAME = "seeds"
SEED_STEP = 44
SEED_REACH = 0.44  # the height of half a violin, in steps
AXIS = "JSD to the model’s own weights"
SEEDS = "trained again"
ALTERNATIVE = f"alternative weights, prediction within {SHOWN_EPS:g}"


def seed_violins(record: RunRecord) -> Iterator[Figure]:
    """Above each line models that differ by seed, below it alternative weights if measured."""
    seeds = record.measured(NAME, "median_jsd", "both")
    alternative = record.measured("adversary", "max_jsd", eps_group(SHOWN_EPS))
    largest = record.measured(NAME, "max_attention")
    for number, panel in enumerate(spread.panels(record), start=1):
        above = spread.by_largest_weight(seeds, largest, panel)
        if not above:
            continue
        below = spread.by_largest_weight(alternative, largest, panel)
        title = words.in_figure(panel.title)
        description = spread.by_weight(f"Median JSD over seeds, predicted {title}.", above)
        if below:
            description += " " + spread.by_weight(f"{ALTERNATIVE.capitalize()}.", below)
        sides = [f"above: {SEEDS}", f"below: {ALTERNATIVE}"] if below else [SEEDS]
        drawn = _seed_violins(above, below).properties(title=[title, *sides])
        yield Figure(f"seeds_violins_{number}", NAME, drawn, description)


def _seed_violins(above: list[Bin], below: list[Bin]) -> alt.LayerChart:
    places = list(range(len(spread.BIN_NAMES)))
    upward = alt.Y("y:Q", title=None).scale(domain=[-0.5, len(places) - 0.5])
    upward = upward.axis(
        values=places,
        labelExpr=bin_labels(above),
        grid=False,
        ticks=False,
        minExtent=LABEL_WIDTH,
        labelOffset=-TEXT_SIZE / 2,
    )
    layers = [*_side(above, 1, ATTENTION, SEEDS), *_side(below, -1, COMPARISON, ALTERNATIVE)]
    domain = (spread.JSD.low, spread.JSD.high)
    shared = layered(*layers).encode(x=across("x", AXIS, domain), y=upward)
    return shared.properties(width=WIDTH, height=SEED_STEP * len(places))


def _side(bins: list[Bin], side: int, color: str, name: str) -> list[alt.Chart]:
    """Half violins above (1) or below (-1) their lines, and their medians."""
    if not bins:
        return []
    says = by_bin({part.number: _tooltip_seed(part, name) for part in bins})
    shapes = chart(_seed_shapes(bins, side)).transform_calculate(tooltip=says)
    shapes = shapes.mark_area(color=color)
    medians = chart(_seed_medians(bins, side, name)).mark_rule(strokeWidth=2)
    return [
        shapes.encode(y2="high:Q", detail="bin:N", tooltip="tooltip:N"),
        medians.encode(y2="high:Q", tooltip="tooltip:N"),
    ]


def _seed_shapes(bins: list[Bin], side: int) -> Rows:
    return [
        {
            "bin": part.number,
            "x": short(x),
            "y": part.number,
            "high": short(part.number + side * SEED_REACH * height),
        }
        for part in bins
        for x, height in _outline(part, spread.JSD)
    ]


def _seed_medians(bins: list[Bin], side: int, name: str) -> Rows:
    return [
        {
            "x": short(np.median(part.values)),
            "y": part.number,
            "high": short(part.number + side * SEED_REACH / 2),
            "tooltip": _tooltip_seed(part, name),
        }
        for part in bins
    ]


def _tooltip_seed(part: Bin, name: str) -> str:
    bin_name = spread.BIN_NAMES[part.number]
    return f"{name}, largest weight {bin_name}: {spread.in_words(part.values)}"
