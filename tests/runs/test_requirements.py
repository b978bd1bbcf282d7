"""Tests of requirements on the verdict: what meets them, and mistakes in writing them."""

from dataclasses import replace

import pytest

from assay.errors import UserError
from assay.runs.directory import ClaimFinding
from assay.runs.requirements import (
    Requirement,
    failures,
    parse_requirements,
    probes_for,
    refuse_unmeasured,
    requirements,
)

FOUND = ClaimFinding(
    claim="stable",
    says="A model trained again attends to the same items.",
    finding="contradicted",
    effect=0.1234,
    low=0.05,
    high=0.2,
    yardstick=None,
    why="Two models agree little.",
    probe="seeds",
    paper=None,
    n=200,
    unit="tau",
)


@pytest.mark.parametrize(
    ("wanted", "met"),
    [
        ("supported", {"supported"}),
        ("undecided", {"undecided"}),
        ("not contradicted", {"supported", "undecided"}),
        ("not supported", {"contradicted", "undecided"}),
    ],
)
def test_a_claim_that_was_not_measured_meets_nothing(wanted: str, met: set[str]):
    findings = ("supported", "contradicted", "undecided", "not measured", "not applicable")
    required = Requirement("stable", wanted)
    assert {finding for finding in findings if required.met_by(finding)} == met


def test_a_failure_says_what_was_found():
    required = requirements({"stable": "not contradicted"})
    (failure,) = failures(required, [FOUND])
    assert str(failure) == (
        "stable: contradicted, required: not contradicted. Effect 0.123 [0.05, 0.2] (tau). "
        "Two models agree little."
    )
    assert failures(required, [replace(FOUND, finding="undecided")]) == []
    (missing,) = failures(required, [replace(FOUND, finding="not measured", effect=None)])
    assert str(missing).startswith("stable: not measured, required: not contradicted. Two models")


def test_requirements_are_read_from_the_command_line():
    given = ["top weight matters=not  contradicted", "stable = supported"]
    assert parse_requirements(given) == [
        Requirement("top weight matters", "not contradicted"),
        Requirement("stable", "supported"),
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["stable"], ["'stable' is no CLAIM=FINDING", "top weight matters=not contradicted"]),
        (
            ["stable=not contradicted", " stable =not undecided"],
            ["two findings are required of 'stable' ('not contradicted' and 'not undecided')"],
        ),
        (
            ["stabel=suported", "needed=true"],
            [
                "did you mean 'stable'?",
                "did you mean 'supported'?",
                "'true' cannot be required of 'needed'",
            ],
        ),
    ],
)
def test_all_mistakes_are_named_at_once(given: list[str], words: list[str]):
    with pytest.raises(UserError) as fault:
        parse_requirements(given)
    for word in words:
        assert word in str(fault.value)


def test_no_requirement_is_a_mistake():
    with pytest.raises(UserError, match="no claim is required"):
        requirements({})


def test_only_the_probes_that_the_claims_read_are_needed():
    required = requirements({"depends": "supported", "exclusive per model": "not contradicted"})
    assert probes_for(required) == ("permutation", "imitation", "seeds")


def test_a_claim_whose_probe_is_not_asked_is_a_mistake():
    required = requirements({"depends": "supported", "stable": "supported"})
    with pytest.raises(UserError) as fault:
        refuse_unmeasured(required, ["agreement"], trainer=False)
    assert "'depends=supported' needs the probe permutation: add it to --pr" in str(fault.value)
    assert "needs the probe seeds: it trains further models, so add --trainer." in str(fault.value)
    with pytest.raises(UserError, match="needs the probe seeds: add it to --probes"):
        refuse_unmeasured(required, ["permutation"], trainer=True)
    refuse_unmeasured(required, ["seeds", "permutation"], trainer=True)
