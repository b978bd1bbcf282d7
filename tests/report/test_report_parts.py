"""Are bins, windows, tables and numbers what a hand would work out?"""

from pathlib import Path

import numpy as np
import pytest

from assay.report import documents
from assay.report import text as words
from assay.report.charts import distributions
from assay.report.sections.tables import tables
from assay.report.text import count, number
from assay.runs.directory import SummaryRow, read_run
from tests.report.synthetic_run import CLASSES


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0.0, "0.000"),
        (0.12345, "0.123"),
        (-0.5, "−0.500"),
        (1e-9, "<0.001"),
        (-1e-9, ">−0.001"),
        (12345.678, "12,345.678"),
    ],
)
def test_numbers_keep_their_meaning(value: float | None, written: str) -> None:
    assert number(value) == written


def test_counts() -> None:
    assert (count(12345), count(None)) == ("12,345", "–")


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


@pytest.mark.parametrize("length", [3, 50])
def test_window_equals_trying_every_place(length: int) -> None:
    weights = np.random.default_rng(length).dirichlet(np.ones(length))
    most = 7
    places = range(max(1, length - most + 1))
    best = max(places, key=lambda place: weights[place : place + most].sum())
    assert documents.window(weights.tolist(), most) == best


def test_documents_with_the_lowest_tau_come_first(shared_run: Path) -> None:
    record = read_run(shared_run)
    selection = documents.select(record)
    assert selection is not None
    taus = [document.tau for document in selection.documents]
    measured = record.measured("agreement", documents.DISAGREEMENT)["value"].drop_nulls()
    assert taus == sorted(taus)
    assert taus[0] == measured.min()
    assert selection.undefined == 2  # one of a single item, one with constant leave-one-out
    assert selection.short == 1
    assert len(taus) == documents.MOST_DOCUMENTS


def test_levels_are_shares_of_the_largest_value(shared_run: Path) -> None:
    selection = documents.select(read_run(shared_run))
    assert selection is not None
    for document in selection.documents:
        for heat in document.heats:
            assert max(item.level for item in heat.items) == documents.LEVELS
            for item in heat.items:
                assert item.level == round(documents.LEVELS * item.value / heat.largest)


def test_rare_classes_are_drawn_together(shared_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "MOST_CLASSES", 1)
    shown = distributions.panels(read_run(shared_run))
    assert [len(panel.members) for panel in shown] == [1, 2]
    assert {name for panel in shown for name in panel.members} == set(CLASSES)


def _row(quantity: str, statistic: str, predicted: str = "all", n: int = 9) -> SummaryRow:
    return SummaryRow("agreement", quantity, None, predicted, statistic, 0.5, 0.4, 0.6, n, 1)


def test_the_p_of_a_tau_stands_in_its_row() -> None:
    rows = [_row("tau_a_b", "mean"), _row("tau_a_b", "std"), _row("p_a_b", "significant")]
    (table,) = tables(rows)["agreement"]
    assert table.statistics == ("mean", "standard deviation", "share with p ≤ 0.05")
    assert [cell and cell.statistic for cell in table.parts[0].rows[0].cells] == [
        "mean",
        "std",
        "significant",
    ]


def test_statistics_over_different_documents_never_share_a_row() -> None:
    (table,) = tables([_row("x", "mean", n=9), _row("x", "median", n=7)])["agreement"]
    assert [(row.n, len([c for c in row.cells if c])) for row in table.parts[0].rows] == [
        (9, 1),
        (7, 1),
    ]


def test_groups_and_never_predicted_classes() -> None:
    binned = SummaryRow("permutation", "median_tvd", "max_attention=0-0.25", "all", "mean",
                        0.5, 0.4, 0.6, 3, 0)  # fmt: skip
    empty = SummaryRow("permutation", "median_tvd", None, "never", "mean", None, None, None, 0, 0)
    whole = SummaryRow("permutation", "median_tvd", None, "all", "mean", 0.5, 0.4, 0.6, 9, 0)
    (table,) = tables([whole, empty, binned])["permutation"]
    assert [part.caption.split(": ")[1:] for part in table.parts] == [[], ["largest weight 0-0.25"]]
    assert [row.n for part in table.parts for row in part.rows] == [9, 3]
    assert words.group("eps=0.01;max_attention=0-0.25") == "eps 0.01, largest weight 0-0.25"


def test_a_table_of_many_classes_keeps_the_largest_and_counts_the_rest() -> None:
    rows = [_row("x", "mean", f"class {size}", n=size) for size in range(1, 21)]
    (table,) = tables([_row("x", "mean"), *rows])["agreement"]
    shown = [row.predicted for row in table.parts[0].rows]
    assert shown == ["all", *(f"class {size}" for size in range(9, 21))]
    assert table.parts[0].classes_left_out == 8


def test_marks_that_would_act_are_written_as_codes() -> None:
    assert words.shown("a\u202eb\x00c\ud800") == "a[U+202E]b[U+0000]c[U+D800]"
    assert words.shown("👩🏽\u200d🚀") == "👩🏽\u200d🚀"
    assert words.in_figure("x" * 50) == "x" * 35 + "…"
