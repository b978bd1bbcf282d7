"""Figures of the report, drawn as the papers draw them, and of the reproduction pages.

Jain & Wallace's figure 5 compares two encoders and needs more than one run, so it is not here.
"""

from assay.report.charts.documents import adversary_points, heat_pair, permutation_points
from assay.report.charts.erasure import (
    delta_js_points,
    excess_bars,
    negative_histogram,
    order_boxes,
)
from assay.report.charts.flip_curves import flip_curves
from assay.report.charts.frontier import frontier_figure, imitation_figure
from assay.report.charts.histograms import (
    difference_figures,
    jsd_histogram,
    same_output_histogram,
    state_histogram,
    tau_figures,
)
from assay.report.charts.intervals import forests
from assay.report.charts.means import (
    erasure_forest,
    heads_forest,
    plausible_forest,
    sanity_forest,
    sinks_forest,
    substitute_forest,
)
from assay.report.charts.retrained import masked_training_marks, roar_curves
from assay.report.charts.style import Figure
from assay.report.charts.violins import jsd_violins, permutation_violins, seed_violins
from assay.report.charts.vocabulary import word_figures
from assay.runs.directory import RunRecord

KINDS = (
    word_figures,
    tau_figures,
    difference_figures,
    permutation_violins,
    permutation_points,
    frontier_figure,
    jsd_histogram,
    jsd_violins,
    adversary_points,
    delta_js_points,
    negative_histogram,
    flip_curves,
    excess_bars,
    forests,
    seed_violins,
    imitation_figure,
    plausible_forest,
    state_histogram,
    erasure_forest,
    substitute_forest,
    same_output_histogram,
    sinks_forest,
    heads_forest,
    roar_curves,
    sanity_forest,
    masked_training_marks,
)


def figures(record: RunRecord) -> list[Figure]:
    """Every figure of the page for which this run has evidence."""
    return [figure for kind in KINDS for figure in kind(record)]


def paper_figures(record: RunRecord) -> list[Figure]:
    """The figures of the page, the papers' box plots, and the pair of heat maps.

    The page shows curves instead of the box plots, and writes the pair as words.
    """
    return [*figures(record), *order_boxes(record), *heat_pair(record)]
