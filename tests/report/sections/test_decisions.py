"""Tests of what decides a claim: its formula's rows, as the page shows them."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.report.page import render
from assay.report.sections.contents import contents
from assay.report.sections.decisions import decisions, formula_inputs
from assay.runs.directory import RunRecord, SummaryRow, read_run

ROW = SummaryRow("erase_order", "fraction", "random", "all", "mean", 0.8, None, None, 9, 0, "part")
ROWS = (
    ROW,
    replace(ROW, group="attention", value=0.5),
    replace(ROW, group="attention", value=0.1, predicted="positive"),
    replace(ROW, quantity="share", statistic="median", group=None, value=0.25),
)


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def decided(record: RunRecord, formula: str) -> RunRecord:
    claim = replace(
        record.verdict[0],
        finding="supported",
        probe="erase_order",
        formula=formula,
        effect=0.4,
        supported_above=0.3,
        contradicted_below=0.1,
    )
    return replace(record, verdict=(claim,), summary=(*record.summary, *ROWS))


def test_the_inputs_of_a_formula_have_the_values_of_the_summary(record: RunRecord) -> None:
    run = decided(record, "mean(fraction[random]) - mean(fraction[*]) / median(share) + mean(none)")
    inputs = formula_inputs(run.verdict[0], run.summary)
    assert {one.term: one.value for one in inputs} == {
        "mean(fraction[random])": 0.8,
        "mean(fraction[*])": pytest.approx(0.65),
        "median(share)": 0.25,
    }
    assert inputs[0].meaning == "part, random (mean)"


def test_a_section_opens_with_the_claim_that_it_decides(record: RunRecord) -> None:
    run = decided(record, "mean(fraction[random])")
    found = decisions(run)
    assert list(found) == ["erase_order"]
    page = render(run)
    section = page.split('<h3 id="erase_order">')[1]
    opening = section.split('<details class="rest">')[0]
    for text in ('class="strip"', "mean(fraction[random])", "0.800", "supported above"):
        assert text in opening


def test_the_contents_name_every_section_with_its_findings(record: RunRecord) -> None:
    run = decided(record, "mean(fraction[random])")
    parts = contents(["permutation", "erase_order"], decisions(run))
    assert [part.anchor for part in parts][:2] == ["summary", "documents"]
    (evidence,) = [part for part in parts if part.entries]
    assert [entry.findings for entry in evidence.entries] == [(), ("supported",)]
    page = render(run)
    assert all(f'id="{part.anchor}"' in page for part in parts)
