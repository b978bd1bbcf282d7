"""Fixtures of the engine tests: one Ray for all of them, because starting it takes seconds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.engines import ray as ray_engine
from assay.engines.ray import local_ray

RAY = pytest.param("ray", marks=pytest.mark.slow)


@pytest.fixture(scope="session")
def running_ray() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # The workers must be able to import `small_jobs` from this folder.
        here = str(Path(__file__).parent)
        patch.setenv("PYTHONPATH", os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]))
        with local_ray(workers=2):
            yield


@pytest.fixture
def ray_starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of workers of each Ray that is started, or that would be if none were running."""
    starts: list[int] = []

    @contextmanager
    def counted(workers: int) -> Iterator[None]:
        starts.append(workers)
        with local_ray(workers):
            yield

    monkeypatch.setattr(ray_engine, "local_ray", counted)
    return starts


@pytest.fixture(params=["serial", "processes", RAY])
def engine(request: pytest.FixtureRequest) -> str:
    """Each of the three engines."""
    return _start(request)


@pytest.fixture(params=["processes", RAY])
def parallel_engine(request: pytest.FixtureRequest) -> str:
    """An engine whose workers are processes of their own and can die."""
    return _start(request)


def _start(request: pytest.FixtureRequest) -> str:
    if request.param == "ray":
        request.getfixturevalue("running_ray")
    return str(request.param)
