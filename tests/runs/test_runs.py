"""Whole runs: the files they leave, resuming, and equal bytes from every engine."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import assay
from assay.config import Execution, Settings, sample_size
from assay.errors import UserError
from assay.report.page import write_report
from assay.runs.lock import locked
from assay.runs.run import execute_run
from assay.runs.without_text import copy_without_text
from tests.builders.small_models import UNTRAINED

SAME = (
    "model.safetensors",
    "model.json",
    "instances.parquet",
    "evidence.parquet",
    "summary.csv",
    "summary.json",
    "verdict.json",
    "probes.json",
    "run.json",
)
MOTIF = Settings(
    corpus="motif",
    encoder="cnn",
    options={"documents": "160", "length": "30"},
    probes=UNTRAINED,
    sample=2,
    threads=1,
)
COMMAND = [
    sys.executable,
    "-m",
    "assay",
    "run",
    "motif",
    "--encoder",
    "cnn",
    "--threads",
    "1",
    "--option",
    "documents=160",
    "--option",
    "length=30",
    "--sample",
    "2",
    "--probes",
    ",".join(UNTRAINED),
    "--quiet",
]


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "undisturbed"
    execute_run(MOTIF, out)
    return out


def test_a_run_directory_holds_what_the_design_says(undisturbed: Path):
    record = json.loads((undisturbed / "run.json").read_text())
    assert record["status"] == "complete"
    assert len(record["training"]["epochs"]) == record["recipe"]["epochs"]
    instances = pl.read_parquet(undisturbed / "instances.parquet")
    evidence = pl.read_parquet(undisturbed / "evidence.parquet")
    assert len(instances) == record["corpus"]["sizes"]["test"]
    assert evidence.columns == ["instance", "probe", "quantity", "group", "method", "seed", "value"]
    assert set(evidence["instance"]) == set(instances["id"])
    assert sorted(p.name for p in undisturbed.glob("*")) == sorted([*SAME, "jobs", "timing.json"])


def test_anyone_can_recompute_the_logits(undisturbed: Path):
    """logits = bias + sum attention * token_logits, then the sigmoid."""
    for row in pl.read_parquet(undisturbed / "instances.parquet").head(20).iter_rows(named=True):
        terms = zip(row["attention"], row["token_logits"], strict=True)
        logit = row["bias"][0] + sum(weight * item[0] for weight, item in terms)
        positive = 1 / (1 + pl.Series([-logit]).exp()[0])
        assert positive == pytest.approx(row["probabilities"][1], abs=1e-12)
        assert sum(row["attention"]) == pytest.approx(1, abs=1e-6)


def test_processes_give_the_same_bytes(undisturbed: Path, tmp_path: Path):
    execute_run(MOTIF, tmp_path / "out", execution=Execution(engine="processes", workers=2))
    assert contents(tmp_path / "out") == contents(undisturbed)


def test_brackets_and_stars_in_the_name_of_a_folder_are_no_pattern(undisturbed, tmp_path: Path):
    """For polars they are, unless it is told otherwise."""
    out = tmp_path / "lambda [0.1] *?{a,b}"
    execute_run(MOTIF, out)
    assert contents(out) == contents(undisturbed)
    write_report(out)
    write_report(copy_without_text(out, tmp_path / "copy [1]"))


def test_a_second_run_in_the_same_folder_is_told_who_is_first(tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    with locked(out):  # as a first run does; a real one could end before the second begins
        second = subprocess.run([*COMMAND, "--out", str(out)], capture_output=True, text=True)
    assert second.returncode == 2
    assert f"is in use by process {os.getpid()}, which started at 20" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_resumed_complete_run_is_left_as_it_is(undisturbed: Path):
    before = contents(undisturbed)
    execute_run(MOTIF, undisturbed, resume=True)
    assert contents(undisturbed) == before


def test_another_run_is_not_overwritten(undisturbed: Path):
    with pytest.raises(UserError, match=r"already holds this run: pass --resume"):
        execute_run(MOTIF, undisturbed)
    other = Settings(**{**vars(MOTIF), "seed": 1})
    with pytest.raises(UserError, match=r"another run \(seed 0 there, 1 here\)"):
        execute_run(other, undisturbed, resume=True)


def test_a_folder_with_other_things_is_refused(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="not empty and holds no run"):
        execute_run(MOTIF, tmp_path)


def test_a_mistake_in_the_corpus_claims_no_folder(tmp_path: Path):
    out = tmp_path / "out"
    with pytest.raises(UserError):
        execute_run(
            Settings(corpus="table"), out, execution=Execution(data=tmp_path / "missing.csv")
        )
    assert not out.exists()


def test_a_full_disk_is_told_and_nothing_measured_is_lost(undisturbed: Path, tmp_path: Path):
    """A limit on file size stands in for the full disk: writes beyond it fail for real."""
    out = tmp_path / "out"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    failed = subprocess.run(
        [*COMMAND, "--out", str(out)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert failed.returncode == 2
    assert "disk is full" in failed.stderr
    assert "--resume" in failed.stderr
    assert "Traceback" not in failed.stderr
    subprocess.run([*COMMAND, "--out", str(out), "--resume"], check=True)
    assert contents(out) == contents(undisturbed)


def test_from_python_in_four_lines(tmp_path: Path):
    corpus = assay.load_corpus("motif", options={"documents": "300", "length": "30"})
    model = assay.train(corpus, encoder="average")
    audit = assay.audit(model, corpus, probes=UNTRAINED)
    sample = audit.manifest.section("sample")
    assert sample.count("wanted") == sample_size("quick")  # as the command would
    page = audit.report(tmp_path / "report.html")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert set(audit.evidence()["probe"]) == set(UNTRAINED)
    assert {"value", "low", "high", "n", "skipped"} <= set(audit.summary().columns)
