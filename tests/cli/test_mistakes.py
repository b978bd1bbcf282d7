"""Tests of mistakes on the command line: exit code 2, the cure on standard error, no traceback."""

import os

import pytest


def assert_refused(output, *words):
    assert output.code == 2, output.err
    assert output.out == ""
    assert "Traceback" not in output.err
    for word in words:
        assert word in output.err, output.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["revews"], ["'revews'", "did you mean 'reviews'?"]),
        (["--encoder", "lstm"], ["'lstm'", "bilstm"]),
        (["--attention", "softmax"], ["'softmax'", "additive"]),
        (["--probes", "foo"], ["'foo'", "adversary, agreement, all"]),
        (["--probes", "agrement,uniform"], ["'agrement'", "did you mean 'agreement'?"]),
        (["--preset", "fast"], ["'fast'", "quick"]),
        (["--engine", "rays"], ["'rays'", "serial or processes or ray"]),
        (["--ray-address", "auto"], ["--ray-address auto", "add --engine ray"]),
        (["--device", "tpu"], ["'tpu'", "cpu"]),
        (["--limit", "0"], ["--limit 0", "from 1"]),
        (["--limit", "-5"], ["--limit -5", "from 1"]),
        (["--limit", "many"], ["--limit", "'many'", "whole number"]),
        (["--seed", "abc"], ["--seed", "'abc'", "whole number"]),
        (["--seed", "-1"], ["--seed -1", "from 0"]),
        (["--threads", "0"], ["--threads 0", "from 1"]),
        (["--jobs", "0"], ["--jobs 0", "from 1"]),
        (["motif", "--option", "length"], ["'length'", "name=value"]),
        (["motif", "--option", "lenght=40"], ["'lenght'", "did you mean 'length'?"]),
        (["motif", "--option", "length=3"], ["length=3"]),
        (["--sed", "1"], ["--sed", "--seed"]),
        (["--vectors", "nowhere.txt"], ["nowhere.txt", "no file"]),
        (["table"], ["table needs files", "--data"]),
        (["table", "--data", "nowhere.csv"], ["nowhere.csv does not exist"]),
        (["sst"], ["sst needs files", "nlp.stanford.edu", "ASSAY_DATA"]),
    ],
)
def test_a_wrong_argument_is_refused_with_its_cure(assay, tmp_path, arguments, words):
    out = tmp_path / "run"
    assert_refused(assay("run", *arguments, "--out", out), *words)
    assert not out.exists()


def test_all_mistakes_are_reported_at_once(assay, tmp_path):
    output = assay("run", "revews", "--encoder", "lstm", "--jobs", "0", "--out", tmp_path / "run")
    assert_refused(output, "'revews'", "'lstm'", "--jobs 0")


def test_a_missing_device_is_refused(assay, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    output = assay("run", "--device", "cuda", "--out", tmp_path / "run")
    assert_refused(output, "device cuda is not available", "cpu")


def test_an_unknown_command_or_corpus_is_refused(assay):
    assert_refused(assay("rn"), "'rn'", "run")
    assert_refused(assay("corpora", "mottif"), "did you mean 'motif'?")


def test_an_unknown_column_is_refused_with_the_likely_one(assay, reviews_csv, tmp_path):
    output = assay(
        *("run", "table", "--data", reviews_csv, "--text-column", "review"),
        *("--out", tmp_path / "run"),
    )
    assert_refused(output, "'review'", "'opinion'", "--text-column opinion")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [("ACG 1 2 3\nCGT 1 2\n", ["line 2", "damaged"]), ("ACG 1 2\nCGT nan 2\n", ["line 2", "NaN"])],
)
def test_broken_vectors_are_refused(assay, small_run, tmp_path, content, words):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(content)
    output = assay("run", *small_run, "--vectors", vectors, "--out", tmp_path / "run")
    assert_refused(output, *words)


def test_an_unusable_out_is_refused(assay, small_run, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    assert_refused(assay("run", *small_run, "--out", file), str(file), "is a file")
    assert_refused(assay("run", *small_run, "--out", file / "run"), str(file), "is a file")
    assert_refused(assay("run", *small_run, "--out", tmp_path), str(tmp_path), "not empty")
    # The answer of the system is simulated, because root may write anywhere.
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    output = assay("run", *small_run, "--out", tmp_path / "new" / "run")
    assert_refused(output, f"{tmp_path / 'new' / 'run'} cannot be written")
    assert file.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_folder_without_a_run_has_no_report(assay, tmp_path):
    assert_refused(assay("report", tmp_path / "nowhere"), "nowhere is not a folder")
    assert_refused(assay("report", tmp_path), "run.json is missing")
    assert_refused(assay("report"), "directory")
