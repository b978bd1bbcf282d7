"""A Ray cluster with a head and two nodes that loses a worker, a node or its head in mid-job.

Jobs are held between their training and the writing of their results, so that the loss always
comes in the middle of a job.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.recorded_jobs import RecordedRun, execute

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    run = RecordedRun(tmp_path_factory.mktemp("undisturbed"))
    execute(run.out, "serial")
    assert set(run.starts().values()) == {1}
    return run


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator:
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    head = {**NODE, "num_cpus": 0, "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            started.add_node(**NODE)
        yield started
    finally:
        started.shutdown()


@pytest.fixture
def run(tmp_path: Path) -> RecordedRun:
    return RecordedRun(tmp_path)


def start(run: RecordedRun, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.builders.recorded_jobs", str(run.out), *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )


def check_files(run: RecordedRun, undisturbed: RecordedRun) -> None:
    found, expected = run.files(), undisturbed.files()
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


def test_a_lost_worker_and_a_lost_node_cost_only_their_jobs(cluster, run, undisturbed):
    process = start(run, "ray", cluster.address)
    try:
        of_worker, worker, _ = run.hold()
        os.kill(worker, signal.SIGKILL)
        of_node, _, node = run.hold()
        cluster.remove_node(node_of(cluster, node), allow_graceful=False)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    check_files(run, undisturbed)
    repeated = {key: count for key, count in run.starts().items() if count > 1}
    assert repeated == {of_worker: 2, of_node: 2}
    assert run.starts().keys() == undisturbed.starts().keys()


def node_of(cluster, name: str):
    (found,) = [node for node in cluster.worker_nodes if node.node_id == name]
    return found


LOSSES = {
    "the head of the Ray cluster at": lambda cluster: cluster.remove_node(
        cluster.head_node, allow_graceful=False
    ),
    "the node of this command in the Ray cluster at": lambda cluster: (
        cluster.head_node.kill_raylet()
    ),
}


@pytest.mark.parametrize("lost", LOSSES)
def test_a_lost_head_is_an_error_and_the_run_can_be_resumed(lost, cluster, run, undisturbed):
    address = cluster.address
    process = start(run, "ray", address)
    try:
        held, _, _ = run.hold()
        LOSSES[lost](cluster)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "Traceback" not in errors, errors
    assert f"{lost} {address} was lost" in errors
    assert "--resume" in errors
    cluster.shutdown()  # the nodes, with the job that is still held
    finished = {path.name for path in (run.out / "jobs").iterdir()}
    before = run.starts()
    execute(run.out, "serial")
    check_files(run, undisturbed)
    again = [key for key in before if run.starts()[key] > before[key]]
    assert held in again
    assert not finished & set(again)
