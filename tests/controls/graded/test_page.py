"""Tests of the page that is written from a run."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.controls.graded.families import PAIRS
from assay.controls.graded.page import (
    PARTS,
    curves_of_page,
    graded_parts,
    merged_parts,
    page_faults,
    trained_parts,
    with_part,
    write_page,
)
from assay.controls.graded.rates import operating_curves
from assay.errors import UserError
from tests.controls.graded.test_rates import at_ends

DOCS = Path(__file__).resolve().parents[3] / "docs"


def empty_page(names=PARTS) -> str:
    return "\n".join(
        f"# {name}\n<!-- measured: {name} -->\nwritten before\n<!-- end -->" for name in names
    )


def test_the_documentation_has_a_place_for_every_part():
    assert page_faults(DOCS / "controls.md") == []


def test_the_parts_fill_the_page():
    answers = at_ends({"contradicted": 4}, {"supported": 4})
    assert {*graded_parts(answers), *trained_parts([], [])} == set(PARTS)


def test_only_the_measured_parts_are_replaced(tmp_path):
    path = tmp_path / "controls.md"
    path.write_text(empty_page())
    answers = at_ends({"contradicted": 4, "supported": 1}, {"supported": 4})
    write_page(path, graded_parts(answers), operating_curves(answers, "test"))
    page = path.read_text()
    assert page.count("written before") == 1  # of the trained controls
    assert "- **depends** (mixing): supported in 1 of 5 cases of dose 0." in page
    assert all(f"# {name}\n" in page for name in PARTS)
    assert (tmp_path / "figures" / "operating-curves.svg").read_text().startswith("<svg")
    write_page(path, graded_parts(answers))
    assert path.read_text() == page


def test_a_run_of_some_claims_replaces_their_rows_only():
    first = [
        replace(one, claim=claim, family=PAIRS[claim].test)
        for claim in ("depends", "stable")
        for one in at_ends({"contradicted": 4, "supported": 1}, {"supported": 4})
    ]
    page = empty_page()
    for name, part in graded_parts(first).items():
        page = with_part(page, name, part)
    parts = merged_parts(page, graded_parts(at_ends({"contradicted": 6}, {"supported": 6})))
    rates = parts["rates"].splitlines()
    assert re.match(r"\| depends \| mixing +\| 0 of 6 \(0%\)", rates[2])
    assert re.match(r"\| stable +\| equal in part \| 1 of 5 \(20%\)", rates[3])
    assert parts["failures"] == (
        "- **stable** (equal in part): supported in 1 of 5 cases of dose 0."
    )
    assert parts["curves"].startswith("![Operating curves")
    for name, part in parts.items():
        page = with_part(page, name, part)
    drawn = {curve.claim: curve for curve in curves_of_page(page)}
    assert (drawn["depends"].family, drawn["depends"].wrong_at_0) == ("mixing", (0, 6))
    assert drawn["stable"].wrong_at_0 == (1, 5)


def test_the_documentation_can_be_drawn_again():
    page = (DOCS / "controls.md").read_text(encoding="utf-8")
    curves = curves_of_page(page)
    assert [curve.claim for curve in curves] == list(PAIRS)
    assert {curve.claim: curve.family for curve in curves} == {
        claim: pair.test for claim, pair in PAIRS.items()
    }


def test_a_run_without_failures_says_so():
    assert graded_parts(at_ends({"contradicted": 4}, {"supported": 4}))["failures"] == (
        "Nothing failed."
    )


def test_a_page_without_markers_is_refused(tmp_path):
    path = tmp_path / "controls.md"
    assert page_faults(path) == [
        f"--write-page {path} is no file: name docs/controls.md of a working copy."
    ]
    path.write_text(empty_page(PARTS[1:]))
    (fault,) = page_faults(path)
    assert "<!-- measured: rates -->" in fault
    with pytest.raises(UserError, match="measured: rates"):
        with_part(path.read_text(), "rates", "new")
