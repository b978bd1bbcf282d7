"""The browser of the tests, and the reports that it opens."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from assay.report.page import write_report
from tests.builders.plain_run import write_plain_run
from tests.builders.synthetic_run import write_run

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
        pytest.skip("no browser found: install the system package 'chromium' (make programs)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the run that the tests in `tests/report` draw, as a task of pairs."""
    return write_report(write_run(tmp_path_factory.mktemp("run"), query=True))


@pytest.fixture(scope="session")
def two_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 documents of 60 items, one of 2,000; one logit."""
    return write_report(write_plain_run(tmp_path_factory.mktemp("two"), longest=2000))


@pytest.fixture(scope="session")
def three_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_plain_run(tmp_path_factory.mktemp("three"), documents=12, items=9, logits=3)
    return write_report(folder)
