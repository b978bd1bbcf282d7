"""Which browser opens the report, and what does it see there?"""

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; nothing is downloaded."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no browser found: install the system package 'chromium' (make browser)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the run that the tests in `tests/report` draw, with questions asked."""
    from assay.report import write_report

    sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
    synthetic_run = importlib.import_module("synthetic_run")
    return write_report(synthetic_run.write_run(tmp_path_factory.mktemp("run"), query=True))
