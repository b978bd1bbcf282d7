"""A run whose further trainings record where they start, and can be held just before they end.

A folder `record` beside the run directory has one file per start of a job. If a file `hold` is in
it, the next job that starts for the first time takes it, and stops after its training, before
anything is written.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.config import Execution, Settings
from assay.errors import UserError
from assay.runs import estimate, further_trainings
from assay.runs import run as runs
from assay.runs.store import finished, publish
from assay.runs.timing import TIMING_FILE
from assay.runs.training_graph import FurtherJob, run_further_job
from tests.builders.small_trainings import TINY

SETTINGS = Settings(
    corpus="motif",
    encoder="average",
    options={"documents": "60", "length": "27"},
    seeds=1,
    threads=1,
    probes=("permutation", "uniform", "seeds", "guide", "imitation"),
)
FINISHED = 3  # jobs, before any is held
SECONDS = 120.0  # in which a moment must come


def run_recorded(task: FurtherJob) -> Path:
    """Run a further training and record its start, unless it was finished before."""
    if finished(task.folder, task.job) is not None:
        return run_further_job(task)
    record = task.folder.parents[1] / "record"
    key = task.job.key
    start = {"process": os.getpid(), "node": _node()}
    attempt = len(list(record.glob(f"start-{key}-*")))
    held = attempt == 0 and _take(record / "hold", record / f"held-{key}")
    (record / f"start-{key}-{attempt}").write_text(json.dumps(start))
    with pytest.MonkeyPatch.context() as patch:
        if held:
            patch.setattr(further_trainings, "publish", partial(_hold, record / f"at-{key}"))
        else:
            patch.setattr(further_trainings, "publish", publish)
        return run_further_job(task)


def _take(hold: Path, held: Path) -> bool:
    try:
        hold.rename(held)  # only one of several jobs gets it
    except FileNotFoundError:
        return False
    return True


def _hold(mark: Path, *_: Any) -> Path:
    mark.touch()
    time.sleep(600)
    raise AssertionError("nobody ended the job that was held")


def _node() -> str:
    import ray

    return ray.get_runtime_context().get_node_id() if ray.is_initialized() else ""


class RecordedRun:
    """The folder of a run and the records beside it."""

    def __init__(self, place: Path) -> None:
        self.out = place / "out"
        self.record = place / "record"
        self.record.mkdir(parents=True)

    def starts(self) -> Counter[str]:
        """How often each job was started."""
        names = [path.name for path in self.record.glob("start-*")]
        return Counter(name.removeprefix("start-").rpartition("-")[0] for name in names)

    def hold(self) -> tuple[str, int, str]:
        """Hold a job after some others are finished: its key, its process and its node."""
        wait_until(lambda: len(list(self.out.glob("jobs/further-*"))) >= FINISHED)
        before = set(self.record.glob("at-*"))
        (self.record / "hold").touch()
        wait_until(lambda: set(self.record.glob("at-*")) > before)
        (mark,) = set(self.record.glob("at-*")) - before
        key = mark.name.removeprefix("at-")
        start = json.loads((self.record / f"start-{key}-0").read_text())
        return key, start["process"], start["node"]

    def files(self) -> dict[str, bytes]:
        """All files of the run, but for how long it took."""
        paths = [path for path in sorted(self.out.rglob("*")) if path.is_file()]
        return {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in paths
            if path.name != TIMING_FILE
        }


def wait_until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < limit, "the moment did not come"
        time.sleep(0.02)


def execute(out: Path, engine: str, address: str | None = None) -> None:
    """Start the run, or resume it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "recipe_for", lambda *_: TINY)
        patch.setattr(runs, "run_further_job", run_recorded)
        patch.setattr(estimate, "PROCESS_START", 0.0)
        execution = Execution(engine=engine, workers=2, ray_address=address)
        runs.execute_run(SETTINGS, out, execution=execution, resume=out.exists())


if __name__ == "__main__":
    from tests.builders.recorded_jobs import execute as execute_imported

    try:
        execute_imported(Path(sys.argv[1]), *sys.argv[2:])
    except UserError as error:
        sys.exit(f"error: {error}")
