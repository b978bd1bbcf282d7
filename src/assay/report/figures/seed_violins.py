"""Do other seeds move attention as far as an adversary does? Wiegreffe & Pinter's figure 3."""

from collections.abc import Iterator

import altair as alt
import numpy as np

from assay.report import distributions as spread
from assay.report import words
from assay.report.adversary import PAPER_EPS, eps_group
from assay.report.distributions import Bin
from assay.report.figures.style import (
    ATTENTION,
    LABEL_WIDTH,
    RIVAL,
    TEXT_SIZE,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.figures.violins import bin_labels
from assay.report.record import RunRecord

NAME = "seeds"
STEP = 44
REACH = 0.44  # the height of half a violin, in steps
AXIS = "JSD to the model’s own weights"
SEEDS = "trained again"
ADVERSARY = f"adversary, prediction within {PAPER_EPS[0]:g}"


def seed_violins(record: RunRecord) -> Iterator[Figure]:
    """Above each line models that differ by seed, below it the adversary where it was measured."""
    seeds = record.measured(NAME, "median_jsd", "both")
    rival = record.measured("adversary", "max_jsd", eps_group(PAPER_EPS[0]))
    largest = record.measured(NAME, "max_attention")
    for number, panel in enumerate(spread.panels(record), start=1):
        above = spread.by_largest_weight(seeds, largest, panel)
        if not above:
            continue
        below = spread.by_largest_weight(rival, largest, panel)
        title = words.in_figure(panel.title)
        said = words.by_weight(f"Median JSD over seeds, predicted {title}.", above)
        if below:
            said += " " + words.by_weight(f"{ADVERSARY.capitalize()}.", below)
        sides = [f"above: {SEEDS}", f"below: {ADVERSARY}"] if below else [SEEDS]
        drawn = _violins(above, below).properties(title=[title, *sides])
        yield Figure(f"seeds_violins_{number}", NAME, drawn, said)


def _violins(above: list[Bin], below: list[Bin]) -> alt.LayerChart:
    places = list(range(len(spread.WEIGHT_BINS)))
    upward = alt.Y("y:Q", title=None).scale(domain=[-0.5, len(places) - 0.5])
    upward = upward.axis(values=places, labelExpr=bin_labels(above), grid=False, ticks=False,
                         minExtent=LABEL_WIDTH, labelOffset=-TEXT_SIZE / 2)  # fmt: skip
    layers = [*_side(above, 1, ATTENTION, SEEDS), *_side(below, -1, RIVAL, ADVERSARY)]
    domain = (spread.JSD.low, spread.JSD.high)
    shared = layered(*layers).encode(x=across("x", AXIS, domain), y=upward)
    return shared.properties(width=WIDTH, height=STEP * len(places))


def _side(bins: list[Bin], side: int, colour: str, name: str) -> list[alt.Chart]:
    """Half violins above (1) or below (-1) their lines, and their medians."""
    if not bins:
        return []
    shapes = chart(_shapes(bins, side, name)).mark_area(color=colour)
    medians = chart(_medians(bins, side, name)).mark_rule(strokeWidth=2)
    return [
        shapes.encode(y2="high:Q", detail="bin:N", tooltip="say:N"),
        medians.encode(y2="high:Q", tooltip="say:N"),
    ]


def _shapes(bins: list[Bin], side: int, name: str) -> Rows:
    scale = spread.JSD
    return [
        {
            "bin": part.number,
            "x": short(x),
            "y": part.number,
            "high": short(part.number + side * REACH * height),
            "say": _say(part, name),
        }
        for part in bins
        for x, height in zip(scale.edges, spread.smoothed(part.values, scale), strict=True)
    ]


def _medians(bins: list[Bin], side: int, name: str) -> Rows:
    return [
        {
            "x": short(np.median(part.values)),
            "y": part.number,
            "high": short(part.number + side * REACH / 2),
            "say": _say(part, name),
        }
        for part in bins
    ]


def _say(part: Bin, name: str) -> str:
    bin_name = spread.WEIGHT_BINS[part.number]
    return f"{name}, largest weight {bin_name}: {spread.in_words(part.values)}"
