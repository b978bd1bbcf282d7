"""What do the probes' measurements look like, drawn as the papers draw them?

Jain & Wallace's figure 5 compares two encoders and is no single run's to draw.
"""

from assay.report.figures.counterfeits import counterfeit_figure
from assay.report.figures.drawn import data_uri, for_paper, live, script
from assay.report.figures.erase_one import delta_js_points, negative_histogram
from assay.report.figures.erase_order import excess_bars, order_boxes
from assay.report.figures.forest import forests
from assay.report.figures.frontier import frontier_figure
from assay.report.figures.heat_pair import heat_pair
from assay.report.figures.histograms import difference_figures, jsd_histogram, tau_figures
from assay.report.figures.plausible import plausible_forest
from assay.report.figures.scatter import adversary_points, permutation_points
from assay.report.figures.seed_violins import seed_violins
from assay.report.figures.style import Figure
from assay.report.figures.violins import jsd_violins, permutation_violins
from assay.report.record import RunRecord

KINDS = (
    tau_figures, difference_figures, permutation_violins, permutation_points, frontier_figure,
    jsd_histogram, jsd_violins, adversary_points,
    delta_js_points, negative_histogram, order_boxes, excess_bars, forests,
    seed_violins, counterfeit_figure, plausible_forest,
)  # fmt: skip

__all__ = ["Figure", "data_uri", "figures", "for_paper", "live", "paper_figures", "script"]


def figures(record: RunRecord) -> list[Figure]:
    """Every figure of the page that this run has the evidence for."""
    return [figure for kind in KINDS for figure in kind(record)]


def paper_figures(record: RunRecord) -> list[Figure]:
    """Those, and the pair of heat maps, which the page writes as words."""
    return [*figures(record), *heat_pair(record)]
