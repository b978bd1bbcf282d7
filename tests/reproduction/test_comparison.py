"""Tests of the rows in which measured and published numbers stand beside each other."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.papers.declared import Grid, Measure, Part
from assay.papers.published import Published
from assay.reproduction.comparison import ComparedNumber, ComparedRow, format_interval
from assay.reproduction.models import DeclaredModel
from assay.reproduction.results import with_probe
from assay.statistics.intervals import Interval, seeds_interval

DOCUMENTS = Interval(0.5, 0.4, 0.6, 100)
NO_BOUNDS = Interval(0.5, math.nan, math.nan, 100)


def test_several_seeds_are_shown_with_students_t():
    values = [0.50, 0.52, 0.57]
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    shown = ComparedNumber(None, seeds_interval(values), DOCUMENTS).interval
    assert (shown.low, shown.high) == pytest.approx((low, high))
    assert ComparedNumber(None, seeds_interval([0.5]), DOCUMENTS).interval == DOCUMENTS


def row_of(name, published, measured, probes=()):
    grid = Grid(name, "f1", ("bilstm",), ("additive",), ("random",), 1, probes=probes)
    number = Published("0.5", "printed") if published else None
    ours = DOCUMENTS if measured else None
    model = DeclaredModel(grid, "bilstm", "additive", "random")
    return ComparedRow(model, model.name, "all", 1, (ComparedNumber(number, ours, ours),))


def test_a_model_with_the_probe_and_without_a_number_stays_if_it_was_published():
    part = Part("Best", "table4", (Measure("F1", "imitation", "f1", "mean_over_seeds"),))
    rows = [
        row_of("measured", published=False, measured=True),
        row_of("no number", published=True, measured=False, probes=("seeds", "imitation")),
        row_of("without the probe", published=True, measured=False, probes=("seeds",)),
        row_of("nothing to show", published=False, measured=False),
    ]
    assert [row.model.grid.name for row in with_probe(part, rows)] == ["measured", "no number"]
    assert with_probe(part, rows[1:]) == rows[1:]


def test_intervals_are_written_with_three_decimals():
    assert format_interval(Interval(0.5, 0.4, 0.6, 9)) == "0.500 [0.400, 0.600]"
    assert format_interval(NO_BOUNDS) == "0.500"
    assert format_interval(None) == "–"
    assert format_interval(Interval(math.nan, math.nan, math.nan, 0)) == "–"
