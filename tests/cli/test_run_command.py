"""Tests of `assay run` and `assay report`: output streams, exit codes, resuming, interrupts."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay import cli

pytestmark = pytest.mark.slow


def test_results_and_messages_go_to_different_streams(finished):
    out, process = finished
    verdict = json.loads((out / "verdict.json").read_text())
    measured = [claim for claim in verdict if claim["finding"] != "not measured"]
    tested = [claim for claim in measured if claim["finding"] != "not applicable"]
    guessing, found, rest = process.stdout.rpartition("0 supported, ")
    count, *lines = (found + rest).splitlines()
    assert guessing.startswith("The model guesses: ")  # it learns nothing from so few documents
    findings = [claim["finding"] for claim in verdict]
    for part in count.split(", "):
        number, finding = part.split(" ", 1)
        assert findings.count(finding) == int(number)
    assert len(lines) == len(tested) + 2
    for line, claim in zip(lines, tested, strict=False):
        assert line.startswith(claim["finding"])
        assert claim["claim"] in line
        assert len(line) <= 80
    assert lines[-2] == f"Reasons: assay report {out} --explain"
    assert lines[-1] == f"Report: {out / 'report.html'}"
    assert "classes reference, variant" in process.stderr
    assert "test accuracy" in process.stderr
    assert "\x1b" not in process.stdout + process.stderr


def test_a_finished_run_is_not_overwritten_and_can_be_resumed(assay, small_run, finished):
    out, process = finished
    same = assay("run", *small_run, "--out", out)
    assert same.code == 2
    assert "--resume" in same.err
    other = assay("run", *small_run, "--seed", "5", "--out", out, "--resume")
    assert other.code == 2
    assert "seed 0 there, 5 here" in other.err
    assert assay("run", *small_run, "--out", out, "--resume").out == process.stdout


def test_a_copy_without_texts_is_written_beside_the_run_or_elsewhere(assay, finished, tmp_path):
    out, _ = finished
    beside = out.with_name(f"{out.name}-without-text")
    assert assay("report", out, "--without-text").out == f"Report: {beside / 'report.html'}\n"
    copy = tmp_path / "copy"
    assert assay("report", out, "--without-text", "--out", copy).code == 0
    assert (copy / "report.html").read_bytes() == (beside / "report.html").read_bytes()
    refused = assay("report", out, "--out", copy)
    assert refused.code == 2
    assert "--without-text" in refused.err


def test_the_report_is_redrawn(assay, finished):
    out, _ = finished
    (out / "report.html").unlink()
    output = assay("report", out)
    assert (output.code, output.err) == (0, "")
    assert output.out == f"Report: {out / 'report.html'}\n"
    assert (out / "report.html").stat().st_size > 0


def test_the_reasons_are_printed_on_demand(assay, finished):
    out, _ = finished
    output = assay("report", out, "--explain")
    printed = " ".join(output.out.split())
    for claim in json.loads((out / "verdict.json").read_text()):
        assert claim["claim"] in printed
        assert " ".join(claim["why"].split()) in printed
    assert max(map(len, output.out.splitlines()[:-1])) <= 88


def test_quiet_prints_nothing(assay, small_run, finished):
    output = assay("run", *small_run, "--out", finished[0], "--resume", "--quiet")
    assert (output.code, output.out, output.err) == (0, "", "")


def test_guesses_about_a_table_and_dropped_rows_are_printed(assay, reviews_csv, tmp_path):
    output = assay(
        *("run", "table", "--data", reviews_csv, "--encoder", "average", "--threads", "1"),
        *("--probes", "permutation, permutation", "--out", tmp_path / "run"),
    )
    assert output.code == 0, output.err
    assert "'opinion' was taken for the text column" in output.err
    assert "'stars' was taken for the label column" in output.err
    assert "left out 1: empty text" in output.err
    assert "left out 1: one token only" in output.err
    assert "classes down, up" in output.err
    assert "depends" in output.out
    assert "Attention orders" not in output.out  # its probe was not selected
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert settings["probes"] == ["permutation"]


@pytest.mark.parametrize("stage", ["assay.runs.run.execute_run", "assay.cli.run.write_page"])
def test_an_interrupt_explains_how_to_continue(assay, small_run, tmp_path, monkeypatch, stage):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.runs.run.execute_run", lambda *_, **__: None)
    monkeypatch.setattr(stage, interrupted)
    output = assay("run", *small_run, "--out", tmp_path / "run")
    assert output.code == 130
    assert output.err.count("\n") == 1
    assert "--resume" in output.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_training_says_how_to_continue(number, code, tmp_path):
    out = tmp_path / "run"
    command = [
        *(sys.executable, "-m", "assay", "run", "motif", "--encoder", "bilstm"),
        *("--preset", "paper", "--threads", "1", "--out", str(out)),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        _wait_for(out / "run.json")
        time.sleep(0.2)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in err
    assert err.endswith(f"with --resume to continue the run in {out}.\n")


def _wait_for(path: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} was not written in {seconds} seconds"
        time.sleep(0.05)


def test_a_bug_keeps_its_traceback(small_run, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("assay.runs.run.execute_run", broken)
    monkeypatch.setattr(sys, "argv", ["assay", "run", *small_run, "--out", str(tmp_path / "run")])
    with pytest.raises(ZeroDivisionError):  # Python prints it and exits with code 1
        cli.main()


def test_log_json_writes_one_object_per_line(assay, small_run, finished):
    out, process = finished
    output = assay("run", *small_run, "--out", out, "--resume", "--log-json")
    assert output.out == process.stdout  # results are the same lines as ever
    records = [json.loads(line) for line in output.err.splitlines()]
    started = [record["stage"] for record in records if record["event"] == "start"]
    ended = [record["stage"] for record in records if record["event"] == "end"]
    stages = ["corpus", "training", "audit", "further trainings", "tables", "report"]
    assert started == ended == stages
    assert any("test accuracy" in (record["message"] or "") for record in records)


def test_a_mistake_is_an_object_too(assay, small_run, finished):
    output = assay("run", *small_run, "--out", finished[0], "--log-json")
    assert output.code == 2
    *_, last = map(json.loads, output.err.splitlines())
    assert last["event"] == "error"
    assert "--resume" in last["message"]
    assert not assay("run", *small_run, "--out", finished[0]).err.startswith("{")
