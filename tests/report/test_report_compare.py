"""Do runs stand side by side, told apart, with what differs and nothing else?"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from assay import cli
from assay.config import VERSION
from assay.errors import UserError
from assay.report.charts.intervals import Effect, effect_forest
from assay.report.charts.style import LIGHT, svg
from assay.report.comparison import (
    MOST,
    Side,
    claims,
    differing,
    read_sides,
    summaries,
    told_apart,
    warnings,
)
from assay.report.comparison_page import comparison_lines, render_comparison
from assay.report.comparison_page import write_comparison as write
from assay.report.sections.verdict import DECLARED
from assay.report.text import number
from assay.runs.manifest import Fields, Manifest
from tests.report.synthetic_run import write_run

Change = Callable[[dict], object]
HOSTILE = '"><img src=x onerror=window.hacked=1>'


def change(folder: Path, name: str, how: Change) -> None:
    """Edit one JSON file of a run."""
    path = folder / name
    content = json.loads(path.read_text(encoding="utf-8"))
    how(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def second(run: dict) -> None:
    """Another encoder, an option, and another test result."""
    run["settings"] |= {"encoder": "average", "options": {"length": "40"}}
    run["test"] |= {"accuracy": 0.75, "n": 60}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of the same name, the second with another model and another verdict."""
    root = tmp_path_factory.mktemp("compared")
    both = (write_run(root / "one" / "run"), write_run(root / "two" / "run", seed=2))
    change(both[1], "run.json", second)
    change(both[1], "verdict.json", lambda verdict: verdict[0].update(finding="supported"))
    return both


@pytest.fixture(scope="module")
def sides(folders: tuple[Path, Path]) -> tuple[Side, ...]:
    return read_sides(folders)


def text_of(page: str) -> str:
    """Roughly what a reader sees."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.split("</style>")[1])).split())


def test_runs_of_the_same_name_are_told_apart(sides: tuple[Side, ...]) -> None:
    assert [(side.letter, side.name) for side in sides] == [("A", "one/run"), ("B", "two/run")]
    paths = [Path(name) for name in ("/x/a/run", "/y/a/run", "/y/b", "/run")]
    assert told_apart(paths) == ["x/a/run", "y/a/run", "b", "/run"]


def test_only_what_differs_is_listed(sides: tuple[Side, ...]) -> None:
    rows = {row.name: row.values for row in differing(sides)}
    assert rows == {
        "encoder": ("bilstm", "average"),
        "seed": ("1", "2"),
        "options length": ("–", "40"),
        **{f"seed of {kind}": ("1", "2") for kind in ("bootstrap", "initialization", "order")},
    }
    assert differing([sides[0], sides[0]]) == []


def test_lists_fingerprints_and_trainings_stay_short(sides: tuple[Side, ...]) -> None:
    run = sides[0].manifest.fields.values
    other = {
        **run,
        "settings": {**run["settings"], "probes": ["a", "b"]},
        "corpus": {**run["corpus"], "fingerprint": "ab" * 32, "sizes": {"test": 7}, "said": []},
        "trainings": {"seeds": 2, "weights": [0.0, 0.1]},
    }
    changed = replace(sides[0], manifest=Manifest(Fields("run.json", other)))
    rows = {row.name: row.values[1] for row in differing([sides[0], changed])}
    assert rows["probes"] == "a, b"
    assert rows["corpus: fingerprint"] == "ab" * 6
    assert rows["corpus: documents test"] == "7"
    assert rows["further trainings"] == "seeds 2, weights [0.0, 0.1]"


def test_other_versions_and_other_documents_are_said_aloud(sides: tuple[Side, ...]) -> None:
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
        assert all(DECLARED[row.claim] == notion for row in group)


def test_a_claim_that_one_run_does_not_know_leaves_its_place_empty(
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


def test_another_statistic_is_no_neighbour(sides: tuple[Side, ...]) -> None:
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
    assert sides[1].described == "average, additive, reviews, seed 2"
    assert "predicts 75.0 % [62.8 %, 84.2 %] of 60 test documents" in text_of(
        render_comparison(sides)
    )


def test_the_page_is_the_same_each_time_and_asks_for_nothing(sides: tuple[Side, ...]) -> None:
    page = render_comparison(sides)
    assert page == render_comparison(sides)
    assert "<script" not in page
    assert "http" not in re.sub(r'http-equiv|"data:[^"]*"', "", page)
    assert page.lower().startswith("<!doctype html>")


def test_names_from_outside_are_text(sides: tuple[Side, ...]) -> None:
    evil = replace(sides[1], name=HOSTILE + "\u202e")
    page = render_comparison([sides[0], evil])
    assert "<img src=x" not in page
    assert f"{HOSTILE}[U+202E]" in text_of(page)


def test_claims_that_no_run_tested_take_no_row(sides: tuple[Side, ...]) -> None:
    rows = [row for group in claims(sides).values() for row in group]
    assert {row.claim for row in rows if not row.tested} == {"exclusive per instance", "plausible"}
    page = text_of(render_comparison(sides))
    said = "nothing may be said: No other weights would do. People mark the same items."
    assert said in page
    assert page.count("No other weights would do.") == 1
    assert "Tested in none of them: exclusive per instance, plausible." in comparison_lines(sides)
    bare = [replace(side, verdict=()) for side in sides]
    assert "No claim was tested in these runs." in text_of(render_comparison(bare))


# The figure


def test_a_forest_has_a_line_per_run_and_a_shape_per_finding(sides: tuple[Side, ...]) -> None:
    cells = [side.verdict[0] for side in sides]
    lines = [Effect("A one", cells[0]), Effect("B two", None), Effect("C <b>", cells[1])]
    figure = effect_forest("It agrees.", lines)
    assert figure.words == (
        "It agrees. A one: contradicted, 0.210 [0.180, 0.240]; B two: not measured; "
        "C <b>: supported, 0.210 [0.180, 0.240]."
    )
    drawing = svg(figure, LIGHT)
    assert all(f">{name}<" in drawing for name in ("A one", "B two", "C &lt;b&gt;"))
    chart = figure.chart.to_dict()
    points = chart["layer"][2]
    rows = chart["datasets"][points["data"]["name"]]
    assert [row["shape"] for row in rows] == ["square", "circle"]
    assert points["encoding"]["x"]["scale"]["domain"] == [0.0, 0.3]


def test_a_forest_of_nothing_but_zero_has_a_scale(sides: tuple[Side, ...]) -> None:
    flat = replace(sides[0].verdict[0], effect=0.0, low=None, high=None)
    encoding = effect_forest("x", [Effect("A", flat)]).chart.to_dict()["layer"][2]["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0.0, 0.1]


# The command


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Call the entry point as a shell would: code, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", "compare", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        said = capsys.readouterr()
        return int(leaving.value.code or 0), said.out, said.err

    return call


def test_the_terminal_shows_claim_by_run(
    assay: Callable, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    code, out, err = assay(*folders, "--out", tmp_path / "both.html")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "A  one/run: bilstm, additive, reviews, seed 1"
    place = next(number for number, line in enumerate(lines) if line.startswith("agrees"))
    assert lines[place].split() == ["agrees", "contradicted", "supported"]
    assert lines[place + 1].split("  ")[-1].strip() == "0.210 [0.180, 0.240]"
    assert lines[-1] == f"Comparison: {tmp_path / 'both.html'}"
    assert all(len(line) <= 80 for line in lines[:-1])
    assert (tmp_path / "both.html").stat().st_size > 0


def test_runs_that_do_not_fit_come_below(sides: tuple[Side, ...]) -> None:
    three = [*sides, replace(sides[0], letter="C", name="three")]
    lines = list(comparison_lines(three, width=80))
    assert [line.split() for line in lines if line.split() in (["A", "B"], ["C"])] == [
        ["A", "B"],
        ["C"],
    ]
    wide = list(comparison_lines(three, width=120))
    assert ["A", "B", "C"] in [line.split() for line in wide]


def test_help_shows_examples(assay: Callable) -> None:
    code, out, _ = assay("--help")
    assert code == 0
    assert " assay compare runs/bilstm runs/average" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_what_is_no_run_is_refused_with_all_faults(
    assay: Callable, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    unfinished = write_run(tmp_path / "unfinished", documents=6)
    change(unfinished, "run.json", lambda run: run.update(status="running"))
    out = tmp_path / "x.html"
    code, said, err = assay(tmp_path / "nowhere", empty, unfinished, folders[0], "--out", out)
    assert (code, said) == (2, "")
    assert "nowhere is not a folder: name the folder of a run" in err
    assert f"{empty} holds no run" in err
    assert "is not finished (status 'running')" in err
    assert "--resume" in err
    assert "Traceback" not in err
    assert not out.exists()


def test_too_few_too_many_and_twice_the_same_are_refused(folders: tuple[Path, Path]) -> None:
    one = folders[0]
    with pytest.raises(UserError, match=r"nothing to stand beside .*two runs or more"):
        read_sides([one])
    with pytest.raises(UserError, match="is named twice"):
        read_sides([one, one.parent / "." / "run"])
    with pytest.raises(UserError, match=f"name at most {MOST}"):
        read_sides([one] * (MOST + 1))


def test_only_a_page_is_overwritten(sides: tuple[Side, ...], folders: tuple[Path, Path]) -> None:
    before = (folders[0] / "run.json").read_bytes()
    for out in (folders[0] / "run.json", folders[0]):
        with pytest.raises(UserError, match=r"is no HTML file: name one"):
            write(sides, out)
    assert (folders[0] / "run.json").read_bytes() == before


def test_an_older_verdict_without_notions_can_be_compared(sides: tuple[Side, ...]) -> None:
    assert all(claim.notion is None for claim in sides[0].verdict)
    assert "faithfulness" in claims(sides)
