"""Where are the real corpora, and may a test be skipped here?"""

import os
from pathlib import Path

import pytest
import torch

CI = bool(os.environ.get("CI"))
torch.set_num_threads(1)  # small tensors: threads only wait for each other


def real_data() -> Path | None:
    """The original corpus files: `$ASSAY_DATA`, or `../shared/data` beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    given = os.environ.get("ASSAY_DATA")
    folder = Path(given) if given else beside
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    folder = real_data()
    if folder is None:
        pytest.skip("the original corpus files are not here: set ASSAY_DATA to their folder")
    return folder


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI a skipped test is a failure: it would otherwise pass by not looking."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if CI and reporter is not None and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
