"""Does the answer change with the largest weight? Jain & Wallace's figures 6 and 8."""

from collections.abc import Iterator

import altair as alt
import numpy as np

from assay.report import distributions as spread
from assay.report import words
from assay.report.adversary import PAPER_EPS, eps_group
from assay.report.distributions import Bin, Scale
from assay.report.figures.style import (
    ATTENTION,
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
from assay.report.record import RunRecord

STEP = 36
REACH = 0.42  # half the height of the widest point, in steps


def permutation_violins(record: RunRecord) -> Iterator[Figure]:
    """Figure 6: median change under shuffled weights, one figure per predicted class."""
    said = "Median change under shuffled weights"
    axis = "median change of the prediction (TVD)"
    yield from _figures(record, ("permutation", "median_tvd", None), spread.TVD, axis, said)


def jsd_violins(record: RunRecord) -> Iterator[Figure]:
    """Figure 8: how far weights can go with the same prediction, at the paper's stricter eps."""
    eps = PAPER_EPS[0]
    said = axis = f"largest JSD, prediction within {eps:g}"
    wanted = ("adversary", "max_jsd", eps_group(eps))
    yield from _figures(record, wanted, spread.JSD, axis, said.capitalize())


def _figures(
    record: RunRecord, wanted: tuple[str, str, str | None], scale: Scale, axis: str, said: str
) -> Iterator[Figure]:
    probe = wanted[0]
    table, largest = record.measured(*wanted), record.measured(probe, "max_attention")
    for number, panel in enumerate(spread.panels(record), start=1):
        if bins := spread.by_largest_weight(table, largest, panel):
            title = words.in_figure(panel.title)
            drawn = _violins(bins, scale, axis).properties(title=title)
            opening = f"{said}, predicted {title}."
            name = f"{probe}_violins_{number}"
            yield Figure(name, probe, drawn, words.by_weight(opening, bins))


def _violins(bins: list[Bin], scale: Scale, title: str) -> alt.LayerChart:
    places = list(range(len(spread.WEIGHT_BINS)))
    upward = alt.Y("y:Q", title=None).scale(domain=[-0.5, len(places) - 0.5])
    upward = upward.axis(
        values=places,
        labelExpr=bin_labels(bins),
        grid=False,
        minExtent=LABEL_WIDTH,
        ticks=False,
        labelOffset=-TEXT_SIZE / 2,
    )
    shapes = chart(_shapes(bins, scale)).mark_area(color=ATTENTION)
    medians = chart(_medians(bins)).mark_tick(thickness=2, size=18, orient="vertical")
    layers = layered(
        shapes.encode(y2="high:Q", detail="bin:N", tooltip="say:N"), medians.encode(tooltip="say:N")
    )
    shared = layers.encode(x=across("x", title, (scale.low, scale.high)), y=upward)
    return shared.properties(width=WIDTH, height=STEP * len(places))


def bin_labels(bins: list[Bin]) -> str:
    """An expression for the axis: range and number of documents. Nothing in it is the data's."""
    sizes = {part.number: len(part.values) for part in bins}
    labels = [
        f"['{name}', 'n = {sizes.get(place, 0):,}']"
        for place, name in enumerate(spread.WEIGHT_BINS)
    ]
    return f"[{', '.join(labels)}][datum.value]"


def _shapes(bins: list[Bin], scale: Scale) -> Rows:
    return [
        {
            "bin": part.number,
            "x": short(x),
            "y": short(part.number - REACH * height),
            "high": short(part.number + REACH * height),
            "say": _say(part),
        }
        for part in bins
        for x, height in zip(scale.edges, spread.smoothed(part.values, scale), strict=True)
    ]


def _medians(bins: list[Bin]) -> Rows:
    return [
        {"y": part.number, "x": short(np.median(part.values)), "say": _say(part)} for part in bins
    ]


def _say(part: Bin) -> str:
    return f"largest weight {spread.WEIGHT_BINS[part.number]}: {spread.in_words(part.values)}"
