"""Tests of the printed verdict: the counts first, one line per claim, and the terminal's width."""

from typing import get_args

import pytest

from assay.cli.results import claim_lines
from assay.runs.directory import ClaimFinding
from assay.verdict import CLAIMS
from assay.verdict.claim import Reason

WHY = "The effect is measured on many documents and lies where it lies. " * 4


def finding(claim: str, found: str = "undecided", reason: str | None = None) -> ClaimFinding:
    numbers = (-0.98, -0.99, -0.97)
    return ClaimFinding(claim, "", found, *numbers, None, WHY, "", "", 100, reason=reason)


def test_the_counts_come_first_and_every_claim_has_one_line() -> None:
    verdict = [finding("agrees"), finding("depends", "supported"), finding("guides")]
    count, *lines = claim_lines(verdict)
    assert count == "1 supported, 0 contradicted, 2 undecided"
    assert [line.split()[1] for line in lines] == ["agrees", "depends", "guides"]


def test_the_longest_lines_fit_80_columns() -> None:
    verdict = [
        finding(claim.name, reason=reason) for claim in CLAIMS for reason in get_args(Reason)
    ]
    verdict += [finding(claim.name, "contradicted") for claim in CLAIMS]
    lines = list(claim_lines(verdict))
    assert len(lines) == 1 + len(verdict)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(("terminal", "most"), [(60, 60), (80, 80), (120, 88)])
def test_reasons_are_wrapped_to_the_terminal(monkeypatch, terminal: int, most: int) -> None:
    monkeypatch.setenv("COLUMNS", str(terminal))
    _, _, *reasons = claim_lines([finding("agrees")], "word")
    assert most - 12 < max(map(len, reasons)) <= most
    assert " ".join(line.strip() for line in reasons).endswith(f". {WHY.strip()}")


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("supported", "The heat map ranks the words as other methods do."),
        ("contradicted", "Do not read the heat map as a ranking of importance: other methods rank"),
        ("undecided", "Not known: whether the heat map ranks the words as other methods do."),
        ("not measured", "Not tested: whether the heat map ranks the words as other methods do."),
    ],
)
def test_an_explained_claim_is_told_as_on_the_page(found: str, told: str) -> None:
    _, line, *reasons = claim_lines([finding("agrees", found)], "word")
    assert line.startswith(f"{found:<12} agrees")
    assert " ".join(each.strip() for each in reasons).startswith(told)
