"""The runs that the report's tests draw."""

from pathlib import Path

import pytest

from assay.report.comparison import Side, read_sides
from tests.builders.compared_runs import write_compared_runs
from tests.builders.synthetic_run import write_run


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that tests may read but not change."""
    return write_run(tmp_path_factory.mktemp("runs") / "shared")


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run that a test may break."""
    return write_run(tmp_path / "own", documents=12, query=True)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs that tests may compare but not change."""
    return write_compared_runs(tmp_path_factory.mktemp("compared"))


@pytest.fixture(scope="session")
def sides(folders: tuple[Path, Path]) -> tuple[Side, ...]:
    return read_sides(folders)
