"""Tests of the declared expectations: complete, and decided both ways for every claim."""

import re
from pathlib import Path

import pytest

from assay.controls.expected import EXPECTED, expected
from assay.controls.trials import CONTROLS
from assay.verdict import CLAIMS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "controls.md"


@pytest.mark.parametrize("claim", [claim.name for claim in CLAIMS])
def test_every_claim_has_one_expectation_for_every_control(claim):
    """A new claim fails here until `assay/controls/expected.py` declares it."""
    declared = [one.control for one in EXPECTED if one.claim == claim]
    assert sorted(declared) == sorted(control.name for control in CONTROLS)


def test_every_expectation_belongs_to_a_claim():
    assert {one.claim for one in EXPECTED} == {claim.name for claim in CLAIMS}
    assert all(one.because.endswith(".") for one in EXPECTED)


def test_a_missing_expectation_says_where_to_declare_it():
    with pytest.raises(LookupError, match=r"'new claim' on 'reason'.*controls\.expected"):
        expected("new claim", "reason")


@pytest.mark.parametrize("claim", [claim.name for claim in CLAIMS])
def test_one_control_supports_a_claim_and_another_does_not(claim):
    known = {one.known for one in EXPECTED if one.claim == claim}
    assert known & {"supported", "not contradicted"}
    assert known & {"contradicted", "not supported"}


@pytest.mark.parametrize(
    ("known", "accepted"),
    [
        ("supported", {"supported"}),
        ("contradicted", {"contradicted"}),
        ("not supported", {"contradicted", "undecided"}),
        ("not contradicted", {"supported", "undecided"}),
        ("not known", {"supported", "contradicted", "undecided", "not applicable"}),
    ],
)
def test_findings_that_fit_an_expectation(known, accepted):
    findings = {"supported", "contradicted", "undecided", "not applicable"}
    expectation = next(one for one in EXPECTED if one.known == known)
    assert {finding for finding in findings if expectation.fits(finding)} == accepted


def test_the_documentation_shows_every_expectation():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+\.) \|$", text, re.M)
    assert rows == [(one.claim, one.control, one.known, one.because) for one in EXPECTED]
