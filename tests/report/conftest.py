"""Which run do the report's tests draw?"""

from pathlib import Path

import pytest

from tests.report.synthetic_run import write_run


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that tests may read but not change."""
    return write_run(tmp_path_factory.mktemp("runs") / "shared")


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run that a test may break."""
    return write_run(tmp_path / "own", documents=12, query=True)
