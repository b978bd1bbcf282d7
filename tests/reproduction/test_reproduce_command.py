"""Do the commands `reproduce` and `vectors` say what they did, with the right exit code?"""

import sys

import pytest

from assay import cli
from assay.config import Settings
from assay.papers.declared import known, read_paper
from assay.reproduction import reproduce
from assay.reproduction.execution import RunOutcome
from assay.reproduction.models import ModelSelection, selected_models


@pytest.fixture
def assay(capsys, monkeypatch):
    """Call the entry point as a shell would; returns exit code, standard output and error."""
    monkeypatch.delenv("ASSAY_DATA", raising=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        said = capsys.readouterr()
        return leaving.value.code or 0, said.out, said.err

    return call


def test_the_list_names_every_table(assay):
    code, out, _ = assay("reproduce", "--list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(known())


def test_a_missing_corpus_leaves_with_two_and_a_page(assay, tmp_path):
    page = tmp_path / "page.md"
    code, out, err = assay("reproduce", "jain-wallace/table1", "--only", "sst", "--out",
                           tmp_path / "runs", "--page", page)  # fmt: skip
    assert code == 2
    assert "sst bilstm+additive random all: not run: files missing" in out
    assert "20news" not in out
    assert "sst: its files are not here" in err
    assert "18 of 18 runs are missing" in err
    assert "published" not in out
    assert "0.81 | not run: files missing" in page.read_text()


def test_quiet_prints_errors_only(assay, tmp_path):
    code, out, err = assay("reproduce", "jain-wallace/table1", "--only", "sst", "--quiet",
                           "--out", tmp_path / "runs", "--page", tmp_path / "page.md")  # fmt: skip
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_our_own_fault_leaves_with_one(assay, tmp_path, monkeypatch):
    def failing(tasks, execution, tell):
        return [RunOutcome(task.settings, "failed", "Traceback\nKeyError: 'x'") for task in tasks]

    monkeypatch.setattr(reproduce, "reproduce_runs", failing)
    page = tmp_path / "page.md"
    code, _, err = assay("reproduce", "jain-wallace/table1", "--only", "babi1", "--out",
                         tmp_path / "runs", "--page", page)  # fmt: skip
    assert code == 1
    assert "2 of 2 runs are missing" in err
    assert "babi1 (bilstm+additive, average+additive): KeyError: 'x'" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["jain-wallace/tabel1"], "did you mean 'jain-wallace/table1'"),
        (["jain-wallace/table1", "--vectors", "nowhere.txt"], "nowhere.txt is no file"),
        (["jain-wallace/table1", "--data", "nowhere"], "--data nowhere does not exist"),
        (["jain-wallace/table1", "--only", "stt"], "did you mean 'sst'"),
        (["jain-wallace/table1", "--jobs", "0"], "--jobs 0"),
    ],
)
def test_what_cannot_be_done_is_refused(assay, tmp_path, arguments, words):
    code, out, err = assay("reproduce", *arguments, "--page", tmp_path / "page.md")
    assert (code, out) == (2, "")
    assert words in err
    assert not (tmp_path / "page.md").exists()


def test_settings_of_a_table_are_the_papers(assay):
    paper, _ = read_paper("jain-wallace")
    cells = selected_models(paper, ModelSelection(only=("imdb",)))
    settings = cells[0].settings(paper, seed=0)
    assert settings == Settings(corpus="imdb", encoder="bilstm", preset="paper", limit=12559,
                                threads=1, sample=0, probes=settings.probes)  # fmt: skip
    assert {"agreement", "permutation"} <= set(settings.probes)


def test_vectors_are_trained_and_told(assay, tmp_path):
    file = tmp_path / "motif.txt.gz"
    code, out, _ = assay("vectors", "motif", "--limit", 60, "--dimension", 4, "--epochs", 1,
                         "--kind", "cbow", "--out", file)  # fmt: skip
    assert code == 0
    assert str(file) in out
    assert file.read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["motiv"], "did you mean 'motif'"),
        (["motif", "--kind", "glove", "--epochs", "0"], "pass skipgram or cbow"),
        (["motif", "--epochs", "0"], "--epochs 0"),
    ],
)
def test_vectors_that_cannot_be_trained_are_refused(assay, tmp_path, arguments, words):
    file = tmp_path / "v.txt"
    code, out, err = assay("vectors", *arguments, "--out", file)
    assert (code, out) == (2, "")
    assert words in err
    assert not file.exists()
