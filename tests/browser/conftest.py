"""Which browser opens the report, and which reports does it open?"""

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_run import write_plain_run
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
    from assay.report.page import write_report

    sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
    synthetic_run = importlib.import_module("synthetic_run")
    return write_report(synthetic_run.write_run(tmp_path_factory.mktemp("run"), query=True))


@pytest.fixture(scope="session")
def two_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 documents of 60 items, one of 2,000; one logit."""
    from assay.report.page import write_report

    return write_report(write_plain_run(tmp_path_factory.mktemp("two"), longest=2000))


@pytest.fixture(scope="session")
def three_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from assay.report.page import write_report

    folder = write_plain_run(tmp_path_factory.mktemp("three"), documents=12, items=9, logits=3)
    return write_report(folder)
