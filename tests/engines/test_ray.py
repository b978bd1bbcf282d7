"""Tests of the Ray engine: joining a cluster, and errors when Ray or the cluster is missing."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay import engines
from assay.engines import engine_session, run_jobs
from assay.engines import ray as ray_engine
from assay.errors import UserError
from tests.builders.small_jobs import reciprocal

JOIN = """
import sys
from assay.engines import run_jobs
print(sorted(run_jobs("ray", abs, [-3, 1, -2], 2, ray_address=sys.argv[1])))
"""


@pytest.mark.slow
def test_a_running_cluster_is_joined_and_left_running(running_ray):
    import ray

    address = ray.get_runtime_context().gcs_address
    process = subprocess.run(
        [sys.executable, "-c", JOIN, address], capture_output=True, text=True, check=False
    )
    assert (process.stdout, process.stderr) == ("[1, 2, 3]\n", "")
    assert sorted(run_jobs("ray", abs, [-5, 4], 2)) == [4, 5]


INTERRUPTED = """
import os, pathlib, signal, sys, time
from assay.engines import run_jobs

def wait(path):
    pathlib.Path(path).write_text(f"{os.getpid()} ")
    time.sleep(120)

try:
    list(run_jobs("ray", wait, [sys.argv[2]], 1, ray_address=sys.argv[1]))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.slow
def test_an_interrupted_process_leaves_no_job_in_the_cluster(running_ray, tmp_path):
    import ray

    address, path = ray.get_runtime_context().gcs_address, tmp_path / "process"
    command = [sys.executable, "-c", INTERRUPTED, address, str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert _soon(lambda: path.exists() and path.read_text().endswith(" "))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    worker = Path(f"/proc/{path.read_text().strip()}/status")
    assert _soon(lambda: not worker.exists() or "zombie" in worker.read_text())


def _soon(happens):
    """Whether something happens within a minute."""
    end = time.monotonic() + 60
    while not (found := happens()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


@pytest.mark.slow
def test_all_graphs_of_a_session_use_the_same_ray(running_ray, ray_starts):
    with engine_session(3):
        assert ray_starts == []
        with pytest.raises(ZeroDivisionError):
            list(run_jobs("ray", reciprocal, [0], 1))
        with engine_session(2):
            assert sorted(run_jobs("ray", abs, [-5, 4], 2)) == [4, 5]
        assert sorted(run_jobs("ray", abs, [-6], 1)) == [6]
    assert ray_starts == [3]
    assert list(run_jobs("ray", abs, [-7], 1)) == [7]
    assert ray_starts == [3, 1]


def test_a_session_without_ray_starts_nothing(ray_starts):
    with engine_session(3):
        assert list(run_jobs("serial", abs, [-7], 1)) == [7]
    assert ray_starts == []


def test_a_head_that_is_silent_for_long_is_an_error(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(ray_engine.time, "monotonic", lambda: now[0])
    head = ray_engine._Head("127.0.0.1:1")
    head.check()
    now[0] += ray_engine.HEAD_SECONDS - 1
    head.check()
    now[0] += 1
    with pytest.raises(UserError, match=r"head of the Ray cluster at 127.0.0.1:1 was.*--resume"):
        head.check()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_missing_cluster_is_an_error_with_its_cure(address):
    with pytest.raises(UserError, match=rf"--ray-address {address} cannot be joined .*leave the"):
        list(run_jobs("ray", abs, [1], 1, ray_address=address))


def test_a_missing_ray_is_an_error_that_names_the_extra(monkeypatch):
    monkeypatch.setattr(engines, "ray_installed", lambda: False)
    with pytest.raises(UserError, match=r"pip install 'attn-assay\[ray\]'"):
        run_jobs("ray", abs, [1], 1)


def test_an_address_without_the_ray_engine_is_an_error():
    with pytest.raises(UserError, match="--ray-address auto is only for Ray: add --engine ray"):
        run_jobs("processes", abs, [1], 1, ray_address="auto")


HANDLED = """
import os, signal
from assay.engines.ray import local_ray

seen = []
signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
for _ in range(2):
    with local_ray(1):
        os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
print(len(seen))
"""


@pytest.mark.slow
def test_the_handler_of_sigterm_is_kept_when_ray_starts_and_stops():
    done = subprocess.run([sys.executable, "-c", HANDLED], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "4"), done.stderr
