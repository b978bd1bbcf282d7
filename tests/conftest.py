"""Fixtures for all tests: the folder of the full corpora, and no skipped tests in CI.

Every reader is tested on small files that the tests write. Tests of the full corpora are collected
only where the files are: see `full_data`.
"""

import os
import tempfile
from pathlib import Path

import pytest
import torch

import assay  # noqa: F401 - before torch, so that its settings for threads apply

CI = bool(os.environ.get("CI"))
torch.set_num_threads(1)  # small tensors: several threads would only wait for each other


def full_data_folder() -> Path:
    """$ASSAY_TEST_DATA, else $ASSAY_DATA, else `../shared/data` beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("ASSAY_TEST_DATA") or os.environ.get("ASSAY_DATA") or beside)


FULL_DATA = full_data_folder()
# The tests must not depend on the data folder of the person who runs them.
os.environ.pop("ASSAY_DATA", None)
# Nor may they write into that person's cache. The folder outlives the tests: computing the film
# vectors takes seconds, and every process of the tests needs them.
os.environ["ASSAY_CACHE"] = str(Path(tempfile.gettempdir()) / "assay-test-cache")


@pytest.fixture(scope="session")
def full_data() -> Path:
    """The folder of the full corpora.

    A test that uses it is marked with the subfolders it reads, `@pytest.mark.full_data("sst")`, and
    is not collected if one of them is missing.
    """
    return FULL_DATA


# Folders whose tests train models, start processes, render pages or read large files.
SLOW = {
    "api",
    "bench",
    "browser",
    "cli",
    "controls",
    "engines",
    "report",
    "reproduction",
    "runs",
    "training",
}
SLOW_MODULES = {
    "test_classification_readers",
    "test_coverage",
    "test_diverse",
    "test_entry_points",
    "test_every_score",
    "test_examples",
    "test_extreme_models",
    "test_full_corpora",
    "test_integrated_gradients",
    "test_leave_one_out",
    "test_many_class_runs",
    "test_search",
    "test_several_classes",
    "test_surrogates",
    "test_trained_probes",
    "test_wheel",
    "test_word_vectors",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests, and deselect tests of full corpora that are not here.

    Skipped tests would fail in CI.
    """
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder in SLOW or item.path.stem in SLOW_MODULES:
            item.add_marker(pytest.mark.slow)
    absent = [item for item in items if _needs_absent_data(item)]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


def _needs_absent_data(item: pytest.Item) -> bool:
    folders = [name for mark in item.iter_markers("full_data") for name in mark.args]
    if "full_data" in getattr(item, "fixturenames", ()) and not folders:
        raise pytest.UsageError(f"{item.nodeid}: mark it with the folders it reads (full_data)")
    return not all((FULL_DATA / folder).is_dir() for folder in folders)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Let the session fail in CI if a test was skipped: a skipped test checks nothing."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if CI and reporter is not None and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
