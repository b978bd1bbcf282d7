"""Reading run directories: faults name the file and the cure."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from assay.errors import UserError
from assay.probes import PROBES
from assay.report.page import write_report
from assay.runs.directory import read_run
from tests.builders.synthetic_run import write_run

FILES = ("run.json", "instances.parquet", "evidence.parquet", "summary.json", "verdict.json")


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run that a test may break."""
    return write_run(tmp_path / "own", documents=12, query=True)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(own_run: Path, name: str) -> None:
    (own_run / name).unlink()
    with pytest.raises(UserError, match=rf"{name} is missing.*repeat the run"):
        write_report(own_run)
    assert not (own_run / "report.html").exists()


@pytest.mark.parametrize("name", FILES)
def test_noise_in_a_file_is_named(own_run: Path, name: str) -> None:
    (own_run / name).write_bytes(b"\xff\x00 noise")
    with pytest.raises(UserError, match=rf"{name} cannot be read.*repeat the run"):
        write_report(own_run)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere is not a folder: pass the folder of a run"):
        read_run(tmp_path / "nowhere")


def test_a_report_cannot_replace_a_folder(own_run: Path) -> None:
    with pytest.raises(UserError, match="is a folder: pass the name of the file"):
        write_report(own_run, own_run)


def _change(path: Path, change: Callable[[object], object]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


@pytest.mark.parametrize(
    ("name", "broken", "complaint"),
    [
        ("run.json", [], "run.json should be an object but is"),
        ("run.json", {"settings": "quick"}, "`settings` should be an object but is 'quick'"),
        ("run.json", {"training": {"epochs": 3}}, "`epochs` should be a list but is 3"),
        ("run.json", {"corpus": {"name": 7}}, "run.json, corpus: `name` should be text but is 7"),
        ("model.json", {"classes": "ab"}, "model.json: `classes` should be a list"),
        ("summary.json", {}, "should hold a list but holds"),
        ("summary.json", [{"probe": "agreement"}], "row 1: `quantity` is missing"),
        ("verdict.json", [{"claim": "a", "finding": "maybe"}], "finding 'maybe' is none of"),
        (
            "verdict.json",
            [{"claim": "a", "finding": "supported", "effect": True}],
            "`effect` should be a number but is True",
        ),
    ],
)
def test_malformed_values_are_refused(
    own_run: Path, name: str, broken: object, complaint: str
) -> None:
    _change(own_run / name, lambda _: broken)
    with pytest.raises(UserError, match=complaint):
        write_report(own_run)


def test_a_column_that_is_absent_or_of_the_wrong_type(own_run: Path) -> None:
    path = own_run / "evidence.parquet"
    table = pl.read_parquet(path)
    table.drop("value", "seed").write_parquet(path)
    with pytest.raises(UserError, match=r"evidence\.parquet has no column seed, value"):
        read_run(own_run)
    table.with_columns(value=pl.lit("much")).write_parquet(path)
    with pytest.raises(UserError, match=r"evidence\.parquet has a column of the wrong type"):
        read_run(own_run)


def test_scores_that_do_not_fit_the_tokens(own_run: Path) -> None:
    path = own_run / "instances.parquet"
    table = pl.read_parquet(path)
    table.with_columns(pl.col("attention").list.head(2)).write_parquet(path)
    with pytest.raises(UserError, match="`attention` does not have one value per token"):
        read_run(own_run)


def test_summary_rows_carry_the_declaration_of_their_quantity(own_run: Path) -> None:
    rows = {(row.probe, row.quantity): row for row in read_run(own_run).summary}
    declared = {quantity.name: quantity for quantity in PROBES["permutation"].quantities}
    assert rows["permutation", "median_tvd"].meaning == declared["median_tvd"].meaning
    assert not rows["permutation", "median_tvd"].detail


def test_a_run_directory_of_version_0_1_has_no_declarations(own_run: Path) -> None:
    (own_run / "probes.json").unlink()
    record = read_run(own_run)
    assert record.probes == {}
    assert {row.meaning for row in record.summary} == {None}
