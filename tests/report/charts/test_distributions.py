"""Histograms, densities and bins of distributions."""

from pathlib import Path

import numpy as np
import pytest

from assay.report.charts import distributions
from assay.runs.directory import read_run
from tests.builders.synthetic_run import CLASSES


def test_histogram_is_a_share_and_holds_both_ends() -> None:
    share = distributions.histogram(np.array([-1.0, -1.0, 0.01, 1.0]), distributions.TAU)
    assert share[0] == 0.5
    assert share[-1] == 0.25
    assert share[20] == 0.25
    assert share.sum() == pytest.approx(1.0)


def test_weights_fall_in_the_papers_bins() -> None:
    largest = np.array([0.0, 0.2499, 0.25, 0.5, 0.7499, 0.75, 1.0])
    assert distributions.weight_bin(largest).tolist() == [0, 0, 1, 2, 2, 3, 3]


def test_violins_peak_where_the_values_are() -> None:
    density = distributions.smoothed(np.array([0.5, 0.5, 0.1]), distributions.TVD)
    assert distributions.TVD.edges[density.argmax()] == pytest.approx(0.5)
    assert density.max() == 1.0
    # Half of the mass at zero would fall outside: reflected, it stands as high as inside.
    at_edge = distributions.smoothed(np.array([0.0, 0.5]), distributions.TVD)
    assert at_edge[0] == pytest.approx(2 * at_edge[20])


@pytest.mark.parametrize(("farthest", "reach"), [(0.0, 0.5), (0.5, 0.5), (-0.51, 1.0), (1.7, 2.0)])
def test_a_fitted_scale_is_even_and_holds_everything(farthest: float, reach: float) -> None:
    scale = distributions.around_zero(np.array([0.1, farthest]))
    assert (scale.low, scale.high) == (-reach, reach)


def test_rare_classes_are_drawn_together(shared_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "MOST_CLASSES", 1)
    shown = distributions.panels(read_run(shared_run))
    assert [len(panel.members) for panel in shown] == [1, 2]
    assert {name for panel in shown for name in panel.members} == set(CLASSES)
