"""Tests of the Ray engine: joining a cluster, and errors when Ray or the cluster is missing."""

import subprocess
import sys

import pytest

from assay import engines
from assay.engines import run_jobs
from assay.errors import UserError

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
