"""The pytest plugin: `--assay-report DIR` keeps the run directory of every `assert_attention`."""

from pathlib import Path
from typing import Any

import pytest

from assay.testing import REPORTS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option; it can also stand in the configuration file as `assay_report`."""
    group = parser.getgroup("assay", "attention audits")
    said = "keep the run directory and the report of every assert_attention below this folder"
    group.addoption("--assay-report", metavar="DIR", default=None, help=said)
    parser.addini("assay_report", said, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Tell the assertions where to keep their audits."""
    named = config.getoption("--assay-report") or config.getini("assay_report")
    REPORTS.folder = Path(str(named)) if named else None
    REPORTS.pages.clear()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the reports that were written."""
    if REPORTS.pages:
        terminalreporter.section("attention audits")
        for page in REPORTS.pages:
            terminalreporter.write_line(str(page))
