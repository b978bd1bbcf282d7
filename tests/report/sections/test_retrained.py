"""The grids of probes whose numbers vary in two respects."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.report.page import render
from assay.report.sections.retrained import Grid, grids
from assay.runs.directory import RunRecord, SummaryRow, read_run
from tests.builders.synthetic_run import write_run


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return read_run(write_run(tmp_path_factory.mktemp("grids"), documents=8))


def row(probe: str, quantity: str, group: str, value: float | None, **fields: object) -> SummaryRow:
    statistic = "mean" if quantity == "order_kept" else "mean_over_seeds"
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    made = SummaryRow(probe, quantity, group, "all", statistic, value, low, high, 8, 0)
    return replace(made, **fields)  # type: ignore[arg-type]


ROWS = (
    row("sanity", "order_kept", "attention;down_to=head", 1.0),
    row("sanity", "order_kept", "lime;down_to=head", 0.25, n=3),
    row("sanity", "order_kept", "attention;labels=shuffled", 0.5, n=24),  # of three models
    row("sanity", "order_kept", "attention;labels=shuffled", 0.75, predicted="negative"),
    row("roar", "racu", "attention;recursive", None, n=0),
    row("roar", "accuracy", "random;share=0", 0.9),
    row("roar", "accuracy", "random;share=0.25", 0.8),
    row("roar", "accuracy", "attention;recursive;share=0.25", 0.6),
    row("masked_training", "way_to_best_sufficiency", "attention;by=mask;trained=as_is", 0.4),
    row("masked_training", "way_to_best_sufficiency", "attention;by=mask;trained=masked", 0.3),
)


def cells(grid: Grid) -> dict[str, list[float | None]]:
    return {
        line.name: [None if cell is None else cell.row.value for cell in line.cells]
        for line in grid.lines
    }


def test_scores_by_what_was_randomized(plain: RunRecord):
    (grid,) = grids(replace(plain, summary=ROWS))["sanity"]
    assert grid.columns == ("head random", "labels shuffled")
    assert cells(grid) == {"attention": [1.0, 0.5], "LIME": [0.25, None]}
    assert [line.documents for line in grid.lines] == [8, 3]  # LIME has a sample


def test_accuracy_by_share_of_masked_items(plain: RunRecord):
    (grid,) = grids(replace(plain, summary=ROWS))["roar"]
    assert grid.columns == ("0 % masked", "25 % masked", "RACU")
    assert cells(grid) == {
        "random": [0.9, 0.8, None],
        "attention, recursive": [None, 0.6, None],
    }
    assert {line.documents for line in grid.lines} == {None}


def test_both_models_side_by_side(plain: RunRecord):
    (grid,) = grids(replace(plain, summary=ROWS))["masked_training"]
    assert grid.label == "sufficiency of both models"
    assert grid.columns == ("the model itself", "trained with masked text")
    assert cells(grid) == {"attention, by mask": [0.4, 0.3]}


def test_probes_that_were_not_asked_have_no_grid(plain: RunRecord):
    assert grids(replace(plain, summary=ROWS[:3])).keys() == {"sanity"}


def test_the_page_has_one_line_per_score(plain: RunRecord, tmp_path: Path):
    page = render(replace(plain, summary=(*plain.summary, *ROWS)))
    section = page.partition('aria-labelledby="sanity"')[2].partition("</section>")[0]
    assert section.count('<th scope="row">attention</th>') == 1
    assert '<th scope="row">LIME</th><td class="figure">3</td>' in section
    assert "RACU</th>" in page.partition('aria-labelledby="roar"')[2]
