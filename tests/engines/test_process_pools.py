"""Faults of `ProcessPoolExecutor` for which the processes engine has its own workers."""

import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from assay.engines import run_graph
from assay.engines.graph import Task
from assay.errors import UserError
from tests.builders.small_jobs import kill_after_others

pytestmark = pytest.mark.slow


def test_a_plain_pool_loses_innocent_jobs_with_a_killed_worker(tmp_path):
    """The reference fault: jobs that run or wait beside a killed one fail with it."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        names = ("killer", "innocent", "waiting")
        futures = {name: pool.submit(kill_after_others, (name, tmp_path)) for name in names}
    errors = {name: type(future.exception()) for name, future in futures.items()}
    assert errors == dict.fromkeys(names, BrokenProcessPool)


def test_our_processes_keep_the_innocent_jobs(tmp_path):
    names = ("killer", "innocent", "waiting")
    tasks = [Task(name, (name, tmp_path)) for name in names]
    done = []
    with pytest.raises(UserError, match="job killer killed by SIGKILL"):
        done.extend(key for key, _ in run_graph("processes", kill_after_others, tasks, 2))
    assert sorted(done) == ["innocent", "waiting"]


OUR_PARENT = """
import time
from tests.builders.small_jobs import process_id
from assay.engines import open_workers

if __name__ == "__main__":
    with open_workers("processes", process_id, 1) as workers:
        workers.start("job", 0)
        print(workers.finished()[0][1].value, flush=True)
        time.sleep(600)
"""
POOL_PARENT = """
import multiprocessing, time
from concurrent.futures import ProcessPoolExecutor
from tests.builders.small_jobs import process_id

if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(process_id, 0).result(), flush=True)
        time.sleep(600)
"""


@pytest.mark.parametrize(("script", "ends"), [(OUR_PARENT, True), (POOL_PARENT, False)])
def test_a_worker_ends_when_its_parent_is_killed(tmp_path, script, ends):
    """A worker of a pool, even of one with a single process, stays and keeps its memory."""
    worker = worker_of_killed_parent(tmp_path / "parent.py", script)
    try:
        assert ended_within(30 if ends else 3, worker) is ends
    finally:
        if not ends:
            os.kill(worker, 9)


def worker_of_killed_parent(file: Path, script: str) -> int:
    file.write_text(script)
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # Python warns of the semaphores that a killed pool leaves
        text=True,
    ) as parent:
        worker = int(parent.stdout.readline())
        parent.kill()
        parent.stdout.close()
    return worker


def ended_within(seconds: float, process: int) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
