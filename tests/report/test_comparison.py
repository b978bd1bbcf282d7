"""Runs side by side: names, claims, summaries and differences."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.config import VERSION
from assay.errors import UserError
from assay.report.comparison import (
    MOST,
    Side,
    claims,
    differences,
    distinct_names,
    read_sides,
    summaries,
    warnings,
)
from assay.report.comparison_page import comparison_lines, render_comparison
from assay.report.sections.verdict import DECLARED
from assay.report.text import number
from assay.runs.manifest import Fields, Manifest
from tests.report.test_comparison_page import text_of


def test_runs_of_the_same_name_get_distinct_names(sides: tuple[Side, ...]) -> None:
    assert [(side.letter, side.name) for side in sides] == [("A", "one/run"), ("B", "two/run")]
    paths = [Path(name) for name in ("/x/a/run", "/y/a/run", "/y/b", "/run")]
    assert distinct_names(paths) == ["x/a/run", "y/a/run", "b", "/run"]


def test_only_what_differs_is_listed(sides: tuple[Side, ...]) -> None:
    rows = {row.name: row.values for row in differences(sides)}
    assert rows == {
        "encoder": ("bilstm", "average"),
        "seed": ("1", "2"),
        "options length": ("–", "40"),
        **{f"seed of {kind}": ("1", "2") for kind in ("bootstrap", "initialization", "order")},
    }
    assert differences([sides[0], sides[0]]) == []


def test_lists_fingerprints_and_trainings_stay_short(sides: tuple[Side, ...]) -> None:
    run = sides[0].manifest.fields.values
    other = {
        **run,
        "settings": {**run["settings"], "probes": ["a", "b"]},
        "corpus": {**run["corpus"], "fingerprint": "ab" * 32, "sizes": {"test": 7}, "said": []},
        "trainings": {"seeds": 2, "weights": [0.0, 0.1]},
    }
    changed = replace(sides[0], manifest=Manifest(Fields("run.json", other)))
    rows = {row.name: row.values[1] for row in differences([sides[0], changed])}
    assert rows["probes"] == "a, b"
    assert rows["corpus: fingerprint"] == "ab" * 6
    assert rows["corpus: documents test"] == "7"
    assert rows["further trainings"] == "seeds 2, weights [0.0, 0.1]"


def test_different_versions_and_documents_give_a_warning(sides: tuple[Side, ...]) -> None:
    assert list(warnings(sides)) == []
    run = sides[1].manifest.fields.values
    other = {
        **run,
        "versions": {"assay": "9.9"},
        "corpus": {**run["corpus"], "fingerprint": "00"},
    }
    changed = replace(sides[1], manifest=Manifest(Fields("run.json", other)))
    version, documents = warnings([sides[0], changed])
    assert f"({VERSION}, 9.9)" in version
    assert "different documents" in documents
    assert version in text_of(render_comparison([sides[0], changed]))


def test_claims_stand_by_notion_and_run(sides: tuple[Side, ...]) -> None:
    found = claims(sides)
    assert list(found) == ["transparency", "faithfulness", "plausibility"]
    rows = {row.claim: row for group in found.values() for row in group}
    assert set(rows) == {claim.claim for claim in sides[0].verdict}
    assert [cell and cell.finding for cell in rows["agrees"].cells] == ["contradicted", "supported"]
    for notion, group in found.items():
        assert all(DECLARED[row.claim].notion == notion for row in group)


def test_a_claim_missing_in_one_run_has_an_empty_cell(
    sides: tuple[Side, ...],
) -> None:
    fewer = replace(sides[1], verdict=sides[1].verdict[1:])
    rows = {row.claim: row for group in claims([sides[0], fewer]).values() for row in group}
    assert rows["agrees"].cells[1] is None
    assert "–" in text_of(render_comparison([sides[0], fewer]))


def test_summaries_stand_in_the_same_row(sides: tuple[Side, ...]) -> None:
    found = summaries(sides)
    assert list(found) == ["agreement", "permutation", "adversary"]
    for probe, quantities in found.items():
        for quantity in quantities:
            for line in quantity.lines:
                assert all(cell is not None and cell.probe == probe for cell in line.cells)
                assert len({(c.quantity, c.group, c.statistic) for c in line.cells if c}) == 1
    page = text_of(render_comparison(sides))
    cells = [c for q in found["agreement"] for line in q.lines for c in line.cells if c]
    assert all(f"{number(cell.value)} [{number(cell.low)}," in page for cell in cells)


def test_different_statistics_do_not_share_a_row(sides: tuple[Side, ...]) -> None:
    medians = tuple(replace(row, statistic="median") for row in sides[1].summary)
    other = replace(sides[1], summary=medians)
    lines = [line for q in summaries([sides[0], other])["agreement"] for line in q.lines]
    assert lines
    assert all(line.cells[0] is not None and line.cells[1] is None for line in lines)


def test_the_model_is_described_with_its_accuracy(sides: tuple[Side, ...]) -> None:
    fields = {**sides[0].manifest.fields.values, "test": {"accuracy": 0.75}}
    without_n = replace(sides[0], manifest=Manifest(Fields("run.json", fields)))
    assert without_n.accuracy is None  # the number of documents is unknown
    assert sides[1].accuracy is not None
    assert (sides[1].accuracy.value, sides[1].accuracy.n) == (0.75, 60)
    assert sides[1].description == "average, additive, reviews, seed 2"
    assert "predicts 75.0 % [62.8 %, 84.2 %] of 60 test documents" in text_of(
        render_comparison(sides)
    )


def test_claims_that_no_run_tested_take_no_row(sides: tuple[Side, ...]) -> None:
    rows = [row for group in claims(sides).values() for row in group]
    assert {row.claim for row in rows if not row.tested} == {"exclusive per instance", "plausible"}
    page = text_of(render_comparison(sides))
    sentence = "nothing may be said: No other weights would do. People mark the same items."
    assert sentence in page
    assert page.count("No other weights would do.") == 1
    assert (
        "Not tested in any of these runs: exclusive per instance, plausible."
        in comparison_lines(sides)
    )
    bare = [replace(side, verdict=()) for side in sides]
    assert "No claim was tested in these runs." in text_of(render_comparison(bare))


def test_too_few_too_many_and_twice_the_same_are_refused(folders: tuple[Path, Path]) -> None:
    one = folders[0]
    with pytest.raises(UserError, match=r"needs two runs or more .*pass another"):
        read_sides([one])
    with pytest.raises(UserError, match="is given twice"):
        read_sides([one, one.parent / "." / "run"])
    with pytest.raises(UserError, match=f"pass at most {MOST}"):
        read_sides([one] * (MOST + 1))


def test_an_older_verdict_without_notions_can_be_compared(sides: tuple[Side, ...]) -> None:
    assert all(claim.notion is None for claim in sides[0].verdict)
    assert "faithfulness" in claims(sides)
