"""Tests of `assay reproduce`: its output, its exit codes, and where it writes."""

import pytest

from assay.config import Settings
from assay.papers.declared import known, read_paper
from assay.reproduction import reproduce
from assay.reproduction.execution import RunOutcome
from assay.reproduction.models import ModelSelection, selected_models

TABLE = "jain-wallace/table1"


def test_list_names_every_table(assay):
    output = assay("reproduce", "--list")
    assert output.code == 0
    assert [line.split()[0] for line in output.out.splitlines()] == list(known())


def test_a_missing_corpus_exits_with_2_and_writes_the_page(assay, tmp_path):
    page = tmp_path / "page.md"
    output = assay("reproduce", TABLE, "--only", "sst", "--out", tmp_path / "runs", "--page", page)
    assert output.code == 2
    assert "sst bilstm+additive random all: not run: files missing" in output.out
    assert "20news" not in output.out
    assert "sst: its files are missing" in output.err
    assert "30 of 30 runs are missing" in output.err
    assert "published" not in output.out
    assert "not run: files missing (print: 0.81)" in page.read_text()


@pytest.mark.parametrize("options", [[], ["--out", "elsewhere"]], ids=["default", "--out"])
def test_nothing_is_written_outside_out(assay, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / (options[-1] if options else "runs/jain-wallace")
    output = assay("reproduce", TABLE, "--only", "sst", *options)
    assert output.code == 2
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [out / "jain-wallace.md"]
    assert f"Page: {files[0].relative_to(tmp_path)}" in output.out


def test_quiet_prints_errors_only(assay, tmp_path):
    output = assay("reproduce", TABLE, "--only", "sst", "--quiet", "--out", tmp_path)
    assert (output.code, output.out) == (2, "")
    assert output.err.count("\n") == 1


def test_a_failure_of_assay_exits_with_1(assay, tmp_path, monkeypatch):
    def fail(runs, execution, on_outcome):
        return [RunOutcome(run.settings, "failed", "Traceback\nKeyError: 'x'") for run in runs]

    monkeypatch.setattr(reproduce, "reproduce_runs", fail)
    output = assay("reproduce", TABLE, "--only", "babi1", "--out", tmp_path)
    assert output.code == 1
    assert "6 of 6 runs are missing" in output.err
    page = (tmp_path / "jain-wallace.md").read_text()
    assert "babi1 (bilstm+additive, average+additive): KeyError: 'x'" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jain-wallace/tabel1"], "did you mean 'jain-wallace/table1'"),
        ([TABLE, "--vectors", "nowhere.txt"], "nowhere.txt is no file"),
        ([TABLE, "--data", "nowhere"], "--data nowhere does not exist"),
        ([TABLE, "--only", "stt"], "did you mean 'sst'"),
        ([TABLE, "--jobs", "0"], "--jobs 0"),
    ],
)
def test_wrong_arguments_are_refused(assay, tmp_path, arguments, message):
    output = assay("reproduce", *arguments, "--out", tmp_path)
    assert (output.code, output.out) == (2, "")
    assert message in output.err
    assert list(tmp_path.iterdir()) == []


def test_the_settings_of_a_table_are_those_of_the_paper():
    paper, _ = read_paper("jain-wallace")
    models = selected_models(paper, ModelSelection(only=("imdb",)))
    settings = models[0].settings(paper, seed=0)
    assert settings == Settings(
        corpus="imdb",
        encoder="bilstm",
        preset="paper",
        limit=12559,
        threads=1,
        sample=0,
        probes=settings.probes,
    )
    assert {"agreement", "permutation"} <= set(settings.probes)


def test_stored_numbers_replace_runs_and_data(assay, tmp_path):
    runs, stored, page = tmp_path / "runs", tmp_path / "stored", tmp_path / "page.md"
    output = assay("reproduce", "jain-wallace", "--out", runs, "--export", stored)
    assert output.code == 0
    assert f"0 runs stored in {stored / 'jain-wallace'}" in output.err
    output = assay("reproduce", "jain-wallace", "--results", stored, "--page", page)
    assert output.code == 0
    assert "No run is finished yet." in page.read_text()
    output = assay("reproduce", "study", "--results", stored, "--page", page)
    assert output.code == 0
    assert "0 of" in page.read_text()


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        (["study"], "pass their folder with --results"),
        (["study", "--export", "stored"], "name a paper"),
        (["jain-wallace", "--export", "one", "--results", "two"], "pass one of the two"),
    ],
)
def test_a_contradictory_command_names_the_cure(assay, options, cure):
    output = assay("reproduce", *options)
    assert output.code == 2
    assert cure in output.err
