"""Tests of `timing.json`: seconds per stage, score, probe and kind of training."""

import json
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.config import Execution, Settings
from assay.probes import PROBES
from assay.runs import jobs
from assay.runs.audit import scores_for
from assay.runs.run import execute_run
from assay.runs.timing import (
    TIMING_FILE,
    RunTiming,
    Stopwatch,
    add_stage,
    training_kind,
    write_job_timing,
)
from assay.training.specs import (
    BaseModelSpec,
    DeceptionObjective,
    ImitationObjective,
    ImposedWeights,
    TrainingSpec,
)

PROBES_ASKED = ("agreement", "permutation", "seeds")
TINY = Settings(
    corpus="motif",
    encoder="average",
    options={"documents": "60", "length": "27"},
    probes=PROBES_ASKED,
    sample=2,
    seeds=1,
    threads=1,
)


def test_a_stopwatch_sums_what_has_one_name():
    times = iter([0.0, 1.0, 10.0, 13.0, 20.0, 20.5])
    stopwatch = Stopwatch(lambda: next(times))
    with stopwatch("gradient"):
        pass
    with stopwatch("gradient"):
        pass
    with pytest.raises(ValueError, match="on the way"), stopwatch("lime"):
        raise ValueError("on the way")
    assert stopwatch.seconds == {"gradient": 4.0, "lime": 0.5}


def test_jobs_are_added_up_by_hand(tmp_path: Path):
    for name, seconds in (("one", 2.0), ("two", 3.0)):
        (tmp_path / name).mkdir()
        scores = {"gradient": seconds / 2}
        write_job_timing(tmp_path / name, seconds, scores=scores, probes={"permutation": 0.25})
    (tmp_path / "of an earlier version").mkdir()
    (tmp_path / "three").mkdir()
    write_job_timing(tmp_path / "three", 7.0, kind="imitation")
    timing = RunTiming()
    timing.add_jobs("audit", [tmp_path / "one", tmp_path / "two"], workers=4)
    timing.add_jobs("further trainings", [tmp_path / "three", tmp_path / "of an earlier version"])
    assert timing.as_record() == {
        "stages": {},
        "jobs": {
            "audit": {"jobs": 2, "workers": 2, "seconds": 5.0, "longest": 3.0},
            "further trainings": {"jobs": 2, "workers": 1, "seconds": 7.0, "longest": 7.0},
        },
        "scores": {"gradient": 2.5},
        "probes": {"permutation": 0.5},
        "trainings": {"imitation": {"jobs": 1, "seconds": 7.0}},
    }


def test_every_kind_of_training_has_a_name():
    plain = {"init_seed": 1, "order_seed": 1}
    kinds = {
        "predictions": BaseModelSpec(),
        "task": TrainingSpec(**plain),
        "uniform": TrainingSpec(**plain, attention="uniform"),
        "imitation": TrainingSpec(**plain, objective=ImitationObjective(BaseModelSpec(), 0.1)),
        "deception": TrainingSpec(**plain, objective=DeceptionObjective(1.0)),
        "imposed: permuted": TrainingSpec(**plain, imposed=ImposedWeights("permuted")),
        "half of the documents": TrainingSpec(**plain, half=0),
    }
    assert {name: training_kind(spec) for name, spec in kinds.items()} == {n: n for n in kinds}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("timing") / "out"
    execute_run(TINY, out)
    return out


def read(out: Path) -> dict:
    return json.loads((out / TIMING_FILE).read_text())


def test_a_run_records_stages_scores_probes_and_trainings(finished: Path):
    record = read(finished)
    stages = {"corpus", "training", "audit", "further trainings", "tables"}
    assert set(record["stages"]) == stages
    sought = {score.name for score in scores_for([PROBES["agreement"]]) if not score.heads}
    assert set(record["scores"]) == sought
    assert set(record["probes"]) == {"agreement", "permutation"}
    assert set(record["trainings"]) == {"predictions", "task"}
    assert all(value > 0 for value in record["scores"].values())
    within = sum(record["scores"].values()) + sum(record["probes"].values())
    assert within <= record["jobs"]["audit"]["seconds"] <= record["stages"]["audit"]
    assert record["jobs"]["training"]["seconds"] <= record["stages"]["training"]


def test_a_resumed_run_keeps_the_seconds_of_finished_jobs(finished: Path, monkeypatch):
    before = read(finished)
    monkeypatch.setattr(jobs, "train_model", lambda *_: pytest.fail("the model is trained again"))
    execute_run(TINY, finished, resume=True)
    after = read(finished)
    assert {**after, "stages": None} == {**before, "stages": None}


def test_the_report_is_a_stage_of_its_own(finished: Path):
    add_stage(finished, "report", 1.5)
    assert read(finished)["stages"]["report"] == 1.5


def test_stages_are_announced_in_order(tmp_path: Path):
    heard: list[str] = []

    @contextmanager
    def stage(name: str):
        heard.append(f"start {name}")
        yield
        heard.append(f"end {name}")

    plain = Settings(**{**vars(TINY), "probes": ("permutation",)})
    execute_run(plain, tmp_path / "out", execution=Execution(stage=stage))
    names = ["corpus", "training", "audit", "further trainings", "tables"]
    assert heard == [f"{event} {name}" for name in names for event in ("start", "end")]
