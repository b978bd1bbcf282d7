"""Does a whole run, trained and audited by a worker, end in the same bytes on every engine?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.config import Execution, Settings
from assay.engines import run_jobs
from assay.reproduction.execution import ReproductionRun, reproduce_run
from assay.reproduction.models import slug
from assay.runs import run as runs
from tests.training.small_lessons import TINY as TINY_RECIPE

SAME = ("model.safetensors", "evidence.parquet", "instances.parquet", "summary.json", "run.json")
TINY = {"documents": "60", "length": "27"}
PROBES = ("permutation",)
ASKED = [Settings(corpus="motif", encoder=encoder, options=TINY, probes=PROBES, sample=4,
                  threads=1) for encoder in ("cnn", "average")]  # fmt: skip


def made_by(engine: str, out: Path) -> dict[str, bytes]:
    tasks = [ReproductionRun(settings, out, None, None) for settings in ASKED]
    outcomes = list(run_jobs(engine, reproduce_run, tasks, 2))
    assert [outcome.state for outcome in outcomes] == ["trained", "trained"], outcomes
    folders = [out / slug(settings) for settings in ASKED]
    return {f"{at.name}/{name}": (at / name).read_bytes() for at in folders for name in SAME}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return made_by("serial", tmp_path_factory.mktemp("serial"))


def test_two_runs_side_by_side_are_the_same_bytes(several, serial, tmp_path):
    made = made_by(several, tmp_path)
    assert made.keys() == serial.keys()
    assert [name for name in made if made[name] != serial[name]] == []


GRID = Settings(corpus="motif", encoder="average", options=TINY, seeds=1, threads=1,
                probes=("permutation", "uniform", "seeds", "guide", "imitation"))  # fmt: skip
LEFT = (*SAME, "verdict.json", "outputs/train.parquet", "outputs/dev.parquet")


def trained_by(engine: str, out: Path) -> dict[str, bytes]:
    """A run with a graph of further trainings; every file of every training counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "recipe_for", lambda *given: TINY_RECIPE)
        runs.execute_run(GRID, out, execution=Execution(engine=engine, workers=2))
    left = [out / name for name in LEFT]
    left += [path for path in sorted((out / "jobs").rglob("*")) if path.is_file()]
    return {str(path.relative_to(out)): path.read_bytes() for path in left}


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return trained_by("serial", tmp_path_factory.mktemp("grid") / "out")


def test_a_run_with_a_grid_of_trainings_is_the_same_bytes(several, grid, tmp_path):
    made = trained_by(several, tmp_path / "out")
    assert made.keys() == grid.keys()
    assert sum("lesson-" in name for name in made) > 10
    assert [name for name in made if made[name] != grid[name]] == []


def test_the_command_starts_a_ray_of_its_own_and_leaves_nothing_behind(serial, tmp_path):
    command = [sys.executable, "-m", "assay", "run", "motif", "--encoder", "cnn", "--threads", "1",
               "--option", "documents=60", "--option", "length=27", "--sample", "4",
               "--probes", ",".join(PROBES), "--engine", "ray", "--jobs", "1", "--quiet",
               "--out", str(tmp_path / "out")]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=without_ray())  # fmt: skip
    assert process.communicate() == ("", "")
    assert process.returncode == 0
    evidence = (tmp_path / "out" / "evidence.parquet").read_bytes()
    assert evidence == serial[f"{slug(ASKED[0])}/evidence.parquet"]
    assert list(Path("/tmp").glob(f"assay-{process.pid}-*")) == []


def without_ray() -> dict[str, str]:
    """The environment without what a Ray of this process may have put there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
