"""Tests of runs without texts: no word of a document is left in any file, and no number is lost."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from assay.config import Execution, Settings
from assay.errors import UserError
from assay.report.exports import write_figures
from assay.report.page import write_report
from assay.runs.manifest import Manifest
from assay.runs.run import execute_run
from assay.runs.without_text import copy_without_text, tables_without_text
from tests.builders.searched_files import files_with

# No words of assay's own files: made-up syllables, one of them in a malformed row.
WORDS = ("zorblat", "quimfex", "vrustle", "plonkweg", "drizmo", "yupkax", "wexnarl", "fubbitz")
BROKEN = "brokqqun"
EVERY_WORD = {*WORDS, BROKEN}
PROBES = ("agreement", "permutation", "adversary", "erase_one")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with an unusual word in every text and in a malformed row."""
    path = tmp_path_factory.mktemp("data") / "notes.csv"
    lines = ["text,label"]
    for number in range(60):
        chosen = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 5)]
        mood = WORDS[number % 2]
        lines.append(f"{mood} {' '.join(chosen)} part {number},{('ill', 'well')[number % 2]}")
        if number == 30:
            lines.append(f"{BROKEN},ill,{BROKEN}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def run(table: Path, out: Path, *, without_text: bool, resume: bool = False) -> Path:
    settings = Settings(
        corpus="table",
        options={"skip-bad-rows": "yes"},
        encoder="average",
        probes=PROBES,
        sample=2,
        threads=1,
        vectors="random",
    )
    execution = Execution(data=table, without_text=without_text)
    execute_run(settings, out, execution=execution, resume=resume)
    write_report(out)
    return out


@pytest.fixture(scope="module")
def whole(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(table, tmp_path_factory.mktemp("runs") / "whole", without_text=False)


@pytest.fixture(scope="module")
def shared(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(table, tmp_path_factory.mktemp("runs") / "shared", without_text=True)


@pytest.mark.slow
def test_no_file_of_a_run_without_text_holds_a_word_of_a_document(whole, shared):
    found = files_with(whole, EVERY_WORD)  # the search itself works
    assert {"instances.parquet", "model.json", "report.html"} <= found
    assert any(name.startswith("jobs/audit") for name in found)
    assert files_with(shared, EVERY_WORD) == set()
    kept = {path.name for path in shared.iterdir()}
    assert kept == {path.name for path in whole.iterdir()} - {
        "jobs",
        "model.json",
        "model.safetensors",
    }


@pytest.mark.slow
def test_every_number_is_kept(whole, shared):
    for name in ("summary.csv", "summary.json", "verdict.json", "summary.tex"):
        assert (shared / name).read_bytes() == (whole / name).read_bytes(), name
    ours, theirs = (pl.read_parquet(run / "instances.parquet") for run in (shared, whole))
    assert ours.drop("id", "tokens").equals(theirs.drop("id", "tokens"))
    evidence = [
        pl.read_parquet(run / "evidence.parquet").drop("instance") for run in (shared, whole)
    ]
    assert evidence[0].equals(evidence[1])


@pytest.mark.slow
def test_a_copy_of_a_whole_run_equals_a_run_without_text(whole, shared, tmp_path):
    copy = copy_without_text(whole, tmp_path / "copy")
    write_report(copy)
    for path in shared.iterdir():
        if path.name != "timing.json":
            assert (copy / path.name).read_bytes() == path.read_bytes(), path.name
    assert {path.name for path in copy.iterdir()} == {path.name for path in shared.iterdir()}
    write_figures(copy)
    assert any((copy / "figures").iterdir())
    assert files_with(copy, EVERY_WORD) == set()
    assert copy_without_text(whole, copy) == copy  # such a copy may be written again
    assert copy_without_text(copy) == copy  # and needs no further copy


@pytest.mark.slow
def test_a_finished_run_without_text_is_resumed_without_its_jobs(table, shared, tmp_path):
    out = tmp_path / "again"
    shutil.copytree(shared, out)
    (out / "jobs" / "left").mkdir(parents=True)  # as after a kill while jobs were deleted
    (out / "jobs" / "left" / "model.json").write_text(WORDS[0])
    run(table, out, without_text=True, resume=True)
    assert files_with(out, EVERY_WORD) == set()
    for path in shared.iterdir():
        assert (out / path.name).read_bytes() == path.read_bytes(), path.name
    assert not (out / "jobs").exists()


@pytest.mark.slow
def test_a_killed_run_without_text_is_continued(table, shared, whole, tmp_path):
    out = tmp_path / "killed"
    shutil.copytree(whole / "jobs", out / "jobs")
    Manifest.running(Manifest.read(whole).settings.values, without_text=True).write(out)
    run(table, out, without_text=True, resume=True)
    assert (out / "summary.csv").read_bytes() == (shared / "summary.csv").read_bytes()
    assert files_with(out, EVERY_WORD) == set()


@pytest.mark.slow
def test_runs_with_and_without_text_do_not_mix(table, whole, shared):
    with pytest.raises(UserError, match="which --without-text would delete"):
        run(table, whole, without_text=True, resume=True)
    with pytest.raises(UserError, match="holds a run without texts: add --without-text"):
        run(table, shared, without_text=False, resume=True)
    assert (whole / "jobs").is_dir()


def test_notes_and_reasons_are_left_out_and_the_number_dropped_is_kept(shared, whole):
    corpus = json.loads((whole / "run.json").read_text())["corpus"]
    assert any("malformed rows were skipped" in note for note in corpus["said"])
    stripped = json.loads((shared / "run.json").read_text())
    assert stripped["texts"] == "left out"
    assert "said" not in stripped["corpus"]
    assert sum(stripped["corpus"]["dropped"].values()) == sum(corpus["dropped"].values()) == 1


def test_items_become_positions_and_documents_numbers():
    instances = pl.DataFrame(
        {
            "id": ["b", "a"],
            "tokens": [["x", "y", "z"], ["u"]],
            "words": [[["p", "q"], ["r"], []], [["s"]]],
            "query": [["why"], ["who"]],
            "allowed": [["one"], ["two"]],
            "remark": ["of somebody", None],
            "nested": [[[{"said": "x"}]], []],
            "label": ["ill", "well"],
            "rationale": [[True, False, False], None],
            "attention": [[0.5, 0.25, 0.25], [1.0]],
        }
    )
    evidence = pl.DataFrame({"instance": ["a", None, "b", "c", "b"], "value": [1, 2, 3, 4, 5]})
    ours, rows = tables_without_text(instances, evidence)
    assert ours.to_dict(as_series=False) == {
        "id": ["1", "2"],
        "tokens": [["1", "2", "3"], ["1"]],
        "words": [[["1", "2"], ["1"], []], [["1"]]],
        "label": ["ill", "well"],
        "rationale": [[True, False, False], None],
        "attention": [[0.5, 0.25, 0.25], [1.0]],
    }
    assert rows["instance"].to_list() == ["2", None, "1", "3", "1"]
    assert rows["value"].to_list() == [1, 2, 3, 4, 5]


def test_a_copy_overwrites_nothing_else(whole, tmp_path):
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "thesis.tex").touch()
    for folder, fault in (
        (tmp_path / "held", "not empty"),
        (tmp_path / "held" / "thesis.tex", "is a file"),
        (whole, "is the run itself"),
    ):
        with pytest.raises(UserError, match=fault):
            copy_without_text(whole, folder)
    unfinished = tmp_path / "unfinished"
    Manifest.running({}).write(unfinished)
    with pytest.raises(UserError, match="is not finished"):
        copy_without_text(unfinished, tmp_path / "copy")
