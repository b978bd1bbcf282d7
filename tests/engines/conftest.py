"""One Ray for all tests here: to start it takes seconds."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.engines.ray import local_ray

ENGINES = ("serial", "processes", "ray")


@pytest.fixture(scope="session")
def running_ray() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Its workers must find the jobs of these tests; those of assay are installed.
        here = str(Path(__file__).parent)
        patch.setenv("PYTHONPATH", os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]))
        with local_ray(workers=2):
            yield


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return _started(request)


@pytest.fixture(params=ENGINES[1:])
def several(request: pytest.FixtureRequest) -> str:
    """An engine with workers that can die."""
    return _started(request)


def _started(request: pytest.FixtureRequest) -> str:
    if request.param == "ray":
        request.getfixturevalue("running_ray")
    return str(request.param)
