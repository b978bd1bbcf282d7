"""Tests that whole runs write the same bytes on every engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.config import COSTLY_PROBES, Execution, Settings
from assay.engines import run_jobs
from assay.reproduction.execution import ReproductionRun, reproduce_run
from assay.reproduction.models import slug
from assay.runs import estimate
from assay.runs import run as runs
from assay.runs.timing import TIMING_FILE
from tests.builders.small_trainings import TINY as TINY_RECIPE

pytestmark = pytest.mark.slow
TABLES = ("model.safetensors", "evidence.parquet", "instances.parquet", "summary.json", "run.json")
TINY_CORPUS = {"documents": "60", "length": "27"}
PROBES = ("permutation",)
TWO_RUNS = [
    Settings(
        corpus="motif", encoder=encoder, options=TINY_CORPUS, probes=PROBES, sample=4, threads=1
    )
    for encoder in ("cnn", "average")
]


def files_of_two_runs(engine: str, out: Path) -> dict[str, bytes]:
    tasks = [ReproductionRun(settings, out, None, None) for settings in TWO_RUNS]
    outcomes = list(run_jobs(engine, reproduce_run, tasks, 2))
    assert [outcome.state for outcome in outcomes] == ["trained", "trained"], outcomes
    folders = [out / slug(settings) for settings in TWO_RUNS]
    return {f"{at.name}/{name}": (at / name).read_bytes() for at in folders for name in TABLES}


@pytest.fixture(scope="module")
def serial_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files_of_two_runs("serial", tmp_path_factory.mktemp("serial"))


def test_two_runs_side_by_side_write_the_same_bytes(parallel_engine, serial_files, tmp_path):
    files = files_of_two_runs(parallel_engine, tmp_path)
    assert files.keys() == serial_files.keys()
    assert [name for name in files if files[name] != serial_files[name]] == []


GRID = Settings(
    corpus="motif",
    encoder="average",
    options=TINY_CORPUS,
    seeds=1,
    sample=2,
    threads=1,
    probes=("permutation", "uniform", "seeds", "guide", "imitation", *COSTLY_PROBES),
)
OUTPUTS = (*TABLES, "verdict.json", "outputs/train.parquet", "outputs/dev.parquet")


def files_of_grid(engine: str, out: Path) -> dict[str, bytes]:
    """All files of a run with a graph of further trainings, but for the seconds of each job."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "recipe_for", lambda *_: TINY_RECIPE)
        patch.setattr(estimate, "PROCESS_START", 0.0)  # else so little work stays in this process
        runs.execute_run(GRID, out, execution=Execution(engine=engine, workers=2))
    paths = [out / name for name in OUTPUTS]
    jobs = [path for path in sorted((out / "jobs").rglob("*")) if path.is_file()]
    paths += [path for path in jobs if path.name != TIMING_FILE]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def serial_grid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files_of_grid("serial", tmp_path_factory.mktemp("grid") / "out")


def test_a_run_with_further_trainings_writes_the_same_bytes(
    parallel_engine, serial_grid, ray_starts, tmp_path
):
    files = files_of_grid(parallel_engine, tmp_path / "out")
    assert files.keys() == serial_grid.keys()
    assert sum(name.startswith("jobs/further-") for name in files) > 10
    assert [name for name in files if files[name] != serial_grid[name]] == []
    assert ray_starts == ([2] if parallel_engine == "ray" else [])  # once for audit and trainings


def test_the_command_starts_its_own_ray_and_leaves_nothing_behind(serial_files, tmp_path):
    command = [
        *(sys.executable, "-m", "assay", "run", "motif", "--encoder", "cnn", "--threads", "1"),
        *("--option", "documents=60", "--option", "length=27", "--sample", "4"),
        *("--probes", ",".join(PROBES), "--engine", "ray", "--jobs", "1", "--quiet"),
        *("--out", str(tmp_path / "out")),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=without_ray()
    )
    assert process.communicate() == ("", "")
    assert process.returncode == 0
    evidence = (tmp_path / "out" / "evidence.parquet").read_bytes()
    assert evidence == serial_files[f"{slug(TWO_RUNS[0])}/evidence.parquet"]
    assert list(Path("/tmp").glob(f"assay-{process.pid}-*")) == []


def without_ray() -> dict[str, str]:
    """The environment without the variables that a Ray of this process may have set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
