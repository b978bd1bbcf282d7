"""Tests of the rows for whole runs: their arithmetic by hand, and the limit on the rest."""

from io import StringIO

import pytest
from rich.console import Console

from assay.bench import runs
from assay.bench.runs import (
    MOST_RATIO,
    AuditComparison,
    RunBench,
    arithmetic_seconds,
    audited_corpus,
    battery_part,
    compare_audit,
    row_of,
    run_rows,
    show_run_rows,
    stage_seconds,
)
from assay.bench.whole_run import WholeRun
from assay.models.build import TrainedModel, save_model
from assay.runs.audit import audit_documents
from tests.builders.small_models import corpus, network

TIMING = {
    "stages": {"corpus": 1.0, "training": 11.0, "audit": 8.0, "further trainings": 21.0},
    "jobs": {
        "training": {"jobs": 1, "workers": 1, "seconds": 10.0, "longest": 10.0},
        "audit": {"jobs": 4, "workers": 2, "seconds": 14.0, "longest": 4.0},
        "further trainings": {"jobs": 5, "workers": 2, "seconds": 30.0, "longest": 9.0},
    },
    "scores": {"leave_one_out": 8.0, "gradient": 2.0},
    "probes": {"adversary": 2.0},
    "trainings": {},
    "estimate": {"training": 9.0, "audit": 7.0, "further trainings": 20.0, "report": 5.0},
}
BENCH = RunBench("run_small", "a small run", lambda _: [])


def run_of(seconds: float) -> WholeRun:
    return WholeRun(seconds, 512.0, TIMING)


def test_arithmetic_is_shared_by_the_workers():
    shared = {"vectors": 0.0, "training": 10.0, "audit": 6.0, "further trainings": 15.0}
    assert arithmetic_seconds(TIMING) == shared


def test_word_vectors_are_arithmetic():
    timing = {**TIMING, "stages": {**TIMING["stages"], "vectors": 7.0}}
    assert arithmetic_seconds(timing)["vectors"] == 7.0


def test_the_longest_job_cannot_be_shared():
    further = {"jobs": 2, "workers": 2, "seconds": 30.0, "longest": 29.0}
    timing = {**TIMING, "jobs": {**TIMING["jobs"], "further trainings": further}}
    assert arithmetic_seconds(timing)["further trainings"] == 29.0


def test_the_stages_add_up_to_the_whole_run():
    stages = stage_seconds(run_of(45.0))
    assert stages["start"] == pytest.approx(4.0)
    assert sum(stages.values()) == pytest.approx(45.0)


def test_a_row_by_hand():
    row = row_of(BENCH, run_of(62.0))
    assert row["ratio"] == pytest.approx(2.0)
    assert row["overhead_share"] == pytest.approx(0.5)
    assert row["estimate"] == pytest.approx(41.0)
    assert not row["passed"]
    assert row_of(BENCH, run_of(31.0 * MOST_RATIO))["passed"]


def test_the_declared_runs_are_measured_one_after_another(monkeypatch):
    asked: list[list[str]] = []

    def execute(arguments, out):
        asked.append(arguments)
        return run_of(40.0)

    monkeypatch.setattr(runs, "execute_command", execute)
    compared = AuditComparison(documents=100, stage_seconds=6.0, battery_seconds=5.0)
    monkeypatch.setattr(runs, "compare_audit", lambda out, timing: compared)
    rows = list(run_rows())
    assert [row["name"] for row in rows] == [bench.name for bench in runs.RUNS]
    assert [row["audit_ratio"] for row in rows] == [None, 1.2, None]
    assert asked[-1] == []  # the demo is `assay run` without arguments
    assert all(arguments[0] == "table" for arguments in asked[:-1])


def test_the_table_shows_every_stage_and_the_ratio():
    console = Console(file=StringIO(), width=80)
    audit = AuditComparison(documents=100, stage_seconds=6.0, battery_seconds=5.0)
    show_run_rows(console, [row_of(BENCH, run_of(62.0), audit)])
    shown = console.file.getvalue()
    for text in (
        "further trainings",
        "21.0",
        "2.00",
        "50%",
        "41.0",
        "a small run",
        "0.0600 s",
        "ratio 1.20",
    ):
        assert text in shown
    assert "vectors" not in shown


AUDIT_TIMING = {
    "stages": {"audit": 20.0},
    "jobs": {"audit": {"workers": 2}},
    "scores": {"attention": 1.0, "gradient": 2.0, "leave_one_out": 8.0, "lime": 6.0},
    "probes": {"agreement": 1.0, "permutation": 1.0, "adversary": 1.0, "uniform": 4.0},
}


def test_other_scores_and_probes_are_subtracted_as_the_workers_share_them():
    assert battery_part(AUDIT_TIMING) == 20.0 - (6.0 + 4.0) / 2


def test_the_documents_of_a_run_are_audited_once_more(tmp_path):
    small = corpus()
    model = network().float()
    trained = TrainedModel(model, small.vocabulary)
    save_model(tmp_path, trained)
    audited = audit_documents(
        model, small.test, small.vocabulary, probes=["permutation"], seed=0, model_seed=0
    )
    audited.instances.write_parquet(tmp_path / "instances.parquet")
    read = audited_corpus(tmp_path)
    assert [d.tokens for d in read.test] == [d.tokens for d in small.test]
    assert [d.id for d in read.test] == [d.id for d in small.test]
    found = compare_audit(tmp_path, AUDIT_TIMING)
    assert found.documents == len(small.test)
    assert found.ratio == pytest.approx(15.0 / found.battery_seconds)
