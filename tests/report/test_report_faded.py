"""Does the page say what leave-one-out is off, and loudly where that is too much?"""

from dataclasses import replace
from pathlib import Path

from assay.report.page import render
from assay.report.sections.agreement import fading_check, fading_lines
from assay.runs.directory import SummaryRow, read_run


def largest(quantity: str, value: float | None, n: int = 5) -> SummaryRow:
    return SummaryRow("agreement", quantity, None, "all", "max", value, None, None, n, 0)


FINE = [largest("loo_fading_error", 3e-6), largest("loo_fading_tau_error", 2e-4)]
BROKEN = [largest("loo_fading_error", 4e-5, 1), largest("loo_fading_tau_error", None, 0)]


def test_nothing_is_said_where_nothing_was_checked() -> None:
    assert fading_check([]) is None
    assert fading_lines([]) == []


def test_errors_are_told_with_their_number_of_documents() -> None:
    check = fading_check(FINE)
    assert check is not None
    assert "on 5 long documents, it was off by at most 3e-06 (TVD)" in check.found
    assert "by at most 0.0002" in check.found
    assert check.warning is None


def test_a_broken_promise_is_said_aloud_with_its_cure() -> None:
    check = fading_check(BROKEN)
    assert check is not None
    assert "on 1 long document, it was off by at most 4e-05 (TVD)." in check.found
    assert check.warning is not None
    assert "--exact-below" in check.warning
    late = fading_check([FINE[0], largest("loo_fading_tau_error", 0.006)])
    assert late is not None
    assert late.broken


def test_terminal_and_page_say_the_same(shared_run: Path) -> None:
    rows = [{"quantity": r.quantity, "value": r.value, "n": r.n, "class": "all",
             "statistic": "max"} for r in BROKEN]  # fmt: skip
    found, warning = fading_lines(rows)
    assert warning.startswith("WARNING: ")
    record = read_run(shared_run)
    page = render(replace(record, summary=(*record.summary, *BROKEN)))
    assert found in page
    assert "Leave-one-out is less exact than promised." in page
    assert fading_check(record.summary) is None
