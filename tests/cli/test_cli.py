"""Does the command say what it did, in the right stream, with the right exit code?"""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay import cli
from assay.config import VERSION, Settings, sample_size
from assay.data.sources import SOURCES
from assay.models.build import MODELS
from assay.probes import PROBES
from assay.verdict import CLAIMS
from tests.small_models import UNTRAINED

SMALL = ["motif", "--option", "documents=60", "--option", "length=30", "--encoder", "average",
         "--threads", "1", "--sample", "4", "--probes", ",".join(UNTRAINED)]  # fmt: skip
GOOD, BAD = ("lovely", "clever", "funny"), ("dull", "grey", "boring")
PLACES = ("harbour", "village", "castle", "garden", "market", "island", "school", "forest")


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def assay(capsys, monkeypatch):
    """Call the entry point as a shell would; returns what it said and its exit code."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("ASSAY_DATA", raising=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        code = leaving.value.code
        return Said(code if isinstance(code, int) else 0, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def reviews_csv(tmp_path_factory):
    """Own texts under column names that must be guessed, with two rows that are of no use."""
    path = tmp_path_factory.mktemp("own") / "reviews.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "opinion", "stars"])
        for i in range(60):
            word = (GOOD if i % 2 else BAD)[i // 2 % 3]
            text = f"a {PLACES[i % 8]} and {PLACES[i // 8]} film , {word} in part {i}"
            writer.writerow([i, text, "up" if i % 2 else "down"])
        writer.writerows([[60, "", "up"], [61, "well", "up"]])
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small complete run."""
    out = tmp_path_factory.mktemp("runs") / "motif"
    ended = subprocess.run(
        [sys.executable, "-m", "assay", "run", *SMALL, "--out", str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return out, ended


# What is on the shelf


def test_version_is_the_package_s(assay):
    assert assay("--version") == Said(0, f"assay {VERSION}\n", "")


@pytest.mark.parametrize("command", ["run", "report", "corpora", "probes", "bench"])
def test_help_shows_examples_a_line_each(assay, command):
    said = assay(command, "--help")
    assert said.code == 0
    examples = [line for line in said.out.splitlines() if line.startswith(f" assay {command}")]
    assert examples, said.out
    assert re.search(r"Examples?:", said.out)
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_help_answers_before_anything_large_is_imported():
    asked = "import sys, assay.cli; print(sorted({'torch', 'polars', 'altair'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_help_repeats_what_is_decided_elsewhere():
    assert f"{', '.join(MODELS)}." == cli.run.ENCODERS
    assert f"{sample_size('quick')}; preset paper: {sample_size('paper')}" == cli.run.SAMPLES
    assert Settings().exact_below == cli.run.EXACT_BELOW
    assert sample_size("paper") == Settings().sample


@pytest.mark.parametrize("width", [80, 120])
def test_corpora_lists_all_of_it_within_the_width(assay, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = assay("corpora")
    lines = said.out.splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in said.out
    words = " ".join(said.out.split())
    for source in SOURCES.values():
        assert source.name in {line.split()[0] for line in lines if line[:1].strip()}
        assert source.title in words
        assert source.size in words
    assert SOURCES["sst"].get in words
    assert words.index("motif generated") < words.index("sst missing")


def test_corpora_tells_all_about_one(assay):
    said = assay("corpora", "motif")
    assert said.code == 0
    words = " ".join(said.out.split())
    assert SOURCES["motif"].licence in words
    assert "documents=4000" in words
    assert "sst" not in words


def test_corpora_finds_files_where_it_is_told_to_look(assay, tmp_path):
    for name in ("train.txt", "dev.txt", "test.txt"):
        (tmp_path / name).write_text("(3 (2 a) (4 b))\n")
    rows = json.loads(assay("corpora", "--data", tmp_path, "--json").out)
    assert {row["name"]: row["status"] for row in rows}["sst"] == "present"
    assert [row["name"] for row in rows] == list(SOURCES)


def test_probes_are_listed_as_they_declare_themselves(assay):
    words = " ".join(assay("probes").out.split())
    rows = {row["name"]: row for row in json.loads(assay("probes", "--json").out)}
    for probe in PROBES.values():
        assert probe.question in words
        assert probe.null in words
        assert rows[probe.name]["paper"] == probe.paper
        assert all(q.name in words for q in probe.quantities if not q.detail)


# A run


def test_a_run_prints_results_to_one_stream_and_the_rest_to_the_other(finished):
    out, ended = finished
    verdict = json.loads((out / "verdict.json").read_text())
    measured = [claim for claim in verdict if claim["finding"] != "not measured"]
    lines = ended.stdout.splitlines()
    assert len(lines) == 2 * len(measured) + 2
    for line, reason, claim in zip(lines[::2], lines[1::2], measured, strict=False):
        assert line.startswith(claim["finding"])
        assert line.endswith(claim["says"])
        assert reason == f"  {claim['why']}"
    unmeasured = len(CLAIMS) - len(measured)
    assert lines[-2].startswith(f"not measured: {unmeasured} of {len(CLAIMS)} claims")
    assert lines[-1] == f"Report: {out / 'report.html'}"
    assert "classes reference, variant" in ended.stderr
    assert "test accuracy" in ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr


def test_a_finished_run_is_not_overwritten_and_can_be_resumed(assay, finished):
    out, ended = finished
    same = assay("run", *SMALL, "--out", out)
    assert same.code == 2
    assert "--resume" in same.err
    other = assay("run", *SMALL, "--seed", "5", "--out", out, "--resume")
    assert other.code == 2
    assert "seed 0 there, 5 here" in other.err
    assert assay("run", *SMALL, "--out", out, "--resume").out == ended.stdout


def test_report_is_drawn_again(assay, finished):
    out, _ = finished
    (out / "report.html").unlink()
    assert assay("report", out) == Said(0, f"Report: {out / 'report.html'}\n", "")
    assert (out / "report.html").stat().st_size > 0


def test_quiet_prints_nothing(assay, finished):
    assert assay("run", *SMALL, "--out", finished[0], "--resume", "--quiet") == Said(0, "", "")


def test_own_csv_guesses_and_losses_are_said_aloud(assay, reviews_csv, tmp_path):
    said = assay("run", "table", "--data", reviews_csv, "--encoder", "average", "--threads", "1",
                 "--probes", "permutation, permutation", "--out", tmp_path / "run")  # fmt: skip
    assert said.code == 0, said.err
    assert "'opinion' was taken for the text column" in said.err
    assert "'stars' was taken for the label column" in said.err
    assert "left out 1: empty text" in said.err
    assert "left out 1: one token only" in said.err
    assert "classes down, up" in said.err
    assert "The prediction depends" in said.out
    assert "Attention orders" not in said.out  # the probe was not asked
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert settings["probes"] == ["permutation"]


# The user's mistakes: code 2, the cure on standard error, nothing claimed, no traceback


def refused(said, *words):
    assert said.code == 2, said.err
    assert said.out == ""
    assert "Traceback" not in said.err
    for word in words:
        assert word in said.err, said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["revews"], ["'revews'", "did you mean 'reviews'?"]),
        (["--encoder", "lstm"], ["'lstm'", "bilstm"]),
        (["--attention", "softmax"], ["'softmax'", "additive"]),
        (["--probes", "foo"], ["'foo'", "all or agreement"]),
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
def test_what_cannot_be_done_is_refused_with_its_cure(assay, tmp_path, arguments, words):
    out = tmp_path / "run"
    refused(assay("run", *arguments, "--out", out), *words)
    assert not out.exists()


def test_all_faults_are_told_at_once(assay, tmp_path):
    said = assay("run", "revews", "--encoder", "lstm", "--jobs", "0", "--out", tmp_path / "run")
    refused(said, "'revews'", "'lstm'", "--jobs 0")


def test_a_device_that_is_not_there_is_refused(assay, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    said = assay("run", "--device", "cuda", "--out", tmp_path / "run")
    refused(said, "--device cuda is not available", "--device cpu")


def test_an_unknown_command_or_corpus_to_show_is_refused(assay):
    refused(assay("rn"), "'rn'", "run")
    refused(assay("corpora", "mottif"), "did you mean 'motif'?")


def test_a_wrong_column_is_refused_with_the_likely_one(assay, reviews_csv, tmp_path):
    said = assay("run", "table", "--data", reviews_csv, "--text-column", "review",
                 "--out", tmp_path / "run")  # fmt: skip
    refused(said, "'review'", "'opinion'", "--text-column opinion")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [("ACG 1 2 3\nCGT 1 2\n", ["line 2", "ragged"]), ("ACG 1 2\nCGT nan 2\n", ["line 2", "NaN"])],
)
def test_broken_vectors_are_refused(assay, tmp_path, content, words):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(content)
    refused(assay("run", *SMALL, "--vectors", vectors, "--out", tmp_path / "run"), *words)


def test_an_out_that_cannot_be_used_is_refused(assay, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    refused(assay("run", *SMALL, "--out", file), str(file), "is a file")
    refused(assay("run", *SMALL, "--out", file / "run"), str(file), "is a file")
    refused(assay("run", *SMALL, "--out", tmp_path), str(tmp_path), "not empty")
    # Root may write anywhere, so the answer of the system is made up here.
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    refused(assay("run", *SMALL, "--out", tmp_path / "new" / "run"), "closed to you")
    assert file.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_no_run_has_no_report(assay, tmp_path):
    refused(assay("report", tmp_path / "nowhere"), "nowhere is not a folder")
    refused(assay("report", tmp_path), "run.json is missing")
    refused(assay("report"), "directory")


# Neither done nor the user's mistake


def test_stopped_from_the_keyboard_says_how_to_go_on(assay, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.cli.run.execute_run", interrupted)
    said = assay("run", *SMALL, "--out", tmp_path / "run")
    assert said.code == 130
    assert said.err.count("\n") == 1
    assert "--resume" in said.err


def test_a_real_interrupt_of_a_training_leaves_with_130(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "assay", "run", "motif", "--encoder", "bilstm", "--preset",
               "paper", "--threads", "1", "--out", str(out)]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        _wait_for(out / "run.json")
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in err
    assert err.endswith(f"--resume goes on from what is in {out}.\n")


def _wait_for(path: Path, seconds: float = 60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.05)


def test_our_own_faults_keep_their_traceback(capsys, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("assay.cli.run.execute_run", broken)
    monkeypatch.setattr(sys, "argv", ["assay", "run", *SMALL, "--out", str(tmp_path / "run")])
    with pytest.raises(ZeroDivisionError):  # Python then prints it and leaves with 1
        cli.main()
