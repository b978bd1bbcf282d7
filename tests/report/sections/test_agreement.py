"""The matrix of all pairs of scores, and the check of leave-one-out on long documents."""

from dataclasses import replace
from pathlib import Path

from assay.report.page import render
from assay.report.sections.agreement import fading_check, fading_lines, matrix
from assay.report.sections.tables import tables
from assay.runs.directory import SummaryRow, read_run

SCORES = ("attention", "gradient", "leave_one_out", "lime")


def mean(quantity: str, value: float) -> SummaryRow:
    return SummaryRow(
        "agreement", quantity, None, "all", "mean", value, value - 0.1, value + 0.1, 9, 0
    )


PAPER = [
    mean("tau_attention_gradient", 0.1),
    mean("tau_attention_leave_one_out", 0.2),
    mean("tau_gradient_leave_one_out", 0.3),
]


MORE = [mean("tau_attention_lime", 0.4), mean("tau_gradient_lime", 0.5)]


def test_the_papers_three_pairs_need_no_matrix():
    assert matrix(PAPER, SCORES) is None


def test_every_pair_stands_once_above_the_diagonal():
    found = matrix([*PAPER, *MORE], SCORES)
    assert found is not None
    assert found.columns == ("gradient", "leave-one-out", "LIME")
    values = [[cell and cell.value for cell in line.cells] for line in found.lines]
    assert values == [[0.1, 0.2, 0.4], [None, 0.3, 0.5], [None, None, None]]


def test_what_the_matrix_shows_is_not_listed_again():
    details = [replace(row, detail=True) for row in MORE]
    (table,) = tables([*PAPER, *details])["agreement"]
    assert len(table.parts) == 3


def largest(quantity: str, value: float | None, n: int = 5) -> SummaryRow:
    return SummaryRow("agreement", quantity, None, "all", "max", value, None, None, n, 0)


FINE = [largest("loo_fading_error", 3e-6), largest("loo_fading_tau_error", 2e-4)]


BROKEN = [largest("loo_fading_error", 4e-5, 1), largest("loo_fading_tau_error", None, 0)]


def test_there_is_no_note_where_nothing_was_checked() -> None:
    assert fading_check([]) is None
    assert fading_lines([]) == []


def test_errors_are_reported_with_the_number_of_documents() -> None:
    check = fading_check(FINE)
    assert check is not None
    assert "on 5 long documents, it was off by at most 3e-06 (TVD)" in check.result
    assert "by at most 0.0002" in check.result
    assert check.warning is None


def test_an_error_above_the_bound_gives_a_warning_with_a_cure() -> None:
    check = fading_check(BROKEN)
    assert check is not None
    assert "on 1 long document, it was off by at most 4e-05 (TVD)." in check.result
    assert check.warning is not None
    assert "--exact-below" in check.warning
    late = fading_check([FINE[0], largest("loo_fading_tau_error", 0.006)])
    assert late is not None
    assert late.is_exceeded


def test_terminal_and_page_say_the_same(shared_run: Path) -> None:
    found, warning = fading_lines(BROKEN)
    assert warning.startswith("WARNING: ")
    record = read_run(shared_run)
    page = render(replace(record, summary=(*record.summary, *BROKEN)))
    assert found in page
    assert "Leave-one-out is less exact than promised." in page
    assert fading_check(record.summary) is None
