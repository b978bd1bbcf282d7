"""Tests of `assay bench`: its JSON file, its options and its exit code."""

import json

import pytest
from typer.testing import CliRunner

from assay import bench
from assay.bench.measurement import Bench, Measurement
from assay.cli.app import app
from assay.errors import UserError


@pytest.fixture
def use_rows(monkeypatch):
    """A function that replaces the rows by two that cost nothing."""

    def use(equal):
        measurement = Measurement(3, 2.0, 9.0, equal, 12.0, 6.0, 1)
        rows = (
            Bench("fast", "compared", lambda: measurement, target=4),
            Bench("slow", "by itself", lambda: Measurement(1, 3.0), long=True),
        )
        monkeypatch.setattr(bench, "BENCHES", rows)

    return use


@pytest.fixture
def file(tmp_path):
    return tmp_path / "bench.json"


def call(*options):
    return CliRunner().invoke(app, ["bench", *map(str, options)])


def names_in(file):
    return [row["name"] for row in json.loads(file.read_text())]


def test_the_json_file_has_the_rows(use_rows, file):
    use_rows(equal=True)
    result = call("--json", file)
    assert result.exit_code == 0
    [row] = json.loads(file.read_text())
    assert row == {
        "name": "fast",
        "what": "compared",
        "n": 3,
        "baseline_seconds": 9.0,
        "seconds": 2.0,
        "ratio": 4.5,
        "target": 4,
        "equal": True,
        "peak_mb": 12.0,
        "possible_ratio": 6.0,
        "plain_n": 1,
        "notes": "",
    }
    assert "fast" in result.output


def test_a_failing_row_does_not_lose_the_rows_before_it(monkeypatch, file):
    rows = (
        Bench("fast", "compared", lambda: Measurement(3, 2.0)),
        Bench("broken", "fails", lambda: Measurement(1 // 0, 1.0)),
    )
    monkeypatch.setattr(bench, "BENCHES", rows)
    assert isinstance(call("--json", file).exception, ZeroDivisionError)
    assert names_in(file) == ["fast"]


def test_long_adds_rows(use_rows, file):
    use_rows(equal=True)
    call("--long", "--json", file)
    assert names_in(file) == ["fast", "slow"]


def test_unequal_results_exit_with_1_after_the_rows_are_written(use_rows, file):
    use_rows(equal=False)
    assert call("--json", file).exit_code == 1
    assert json.loads(file.read_text())[0]["equal"] is False


def test_a_file_that_cannot_be_written_is_refused_before_timing(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "run_benches", lambda **_: pytest.fail("the rows were timed"))
    for path in (tmp_path / "missing" / "bench.json", tmp_path):
        result = call("--json", path)
        assert isinstance(result.exception, UserError)
        assert str(path) in str(result.exception)


def test_whole_runs_exit_with_1_if_one_is_too_slow(monkeypatch, file):
    slow = {"name": "run_demo", "ratio": 1.7, "passed": False}
    monkeypatch.setattr(bench, "run_rows", lambda track: iter([slow]))
    monkeypatch.setattr(bench, "show_run_rows", lambda console, rows: None)
    result = call("--run", "--json", file)
    assert result.exit_code == 1
    assert "run_demo took 1.70 times its own arithmetic" in result.output
    assert names_in(file) == ["run_demo"]


def test_growth_is_printed_as_the_page(monkeypatch):
    monkeypatch.setattr(bench, "measure_growth", lambda *_, **__: [])
    result = call("--scale")
    assert result.exit_code == 0
    assert result.output.startswith("# How a run grows")


def test_options_that_exclude_each_other_are_refused(tmp_path):
    for options in (
        ("--run", "--scale"),
        ("--grid", "--run"),
        ("--write", tmp_path / "page.md"),
        ("--cells", "10x20"),
    ):
        result = call(*options)
        assert isinstance(result.exception, UserError)
        assert options[0] in str(result.exception)


def test_the_rows_of_attached_models_are_measured_alone(monkeypatch, file, tmp_path):
    asked = []

    def rows(folder):
        asked.append(folder)
        return (Bench("own_permutation", "of a model", lambda: Measurement(1, 1.0)),)

    monkeypatch.setattr("assay.bench.own.own_benches", rows)
    assert call("--own", "--json", file, "--model", tmp_path).exit_code == 0
    assert names_in(file) == ["own_permutation"]
    assert asked == [tmp_path]
    refused = call("--model", tmp_path).exception
    assert isinstance(refused, UserError)
    assert "add --own" in str(refused)


def test_rows_can_be_chosen_by_name(use_rows, file):
    use_rows(equal=True)
    assert call("--rows", "slow", "--json", file).exit_code == 0
    assert names_in(file) == ["slow"]
    result = call("--rows", "fast,quick")
    assert isinstance(result.exception, UserError)
    assert "no row 'quick'; choose from fast, slow" in str(result.exception)
