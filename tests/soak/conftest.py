"""A soak that was stopped continues: tests that passed are listed in the file ASSAY_SOAK_PASSED.

    ASSAY_SOAK_PASSED=passed.txt make soak

Every passed test is appended to the file with its seconds and what it counted, and tests that are
listed there are not run again. Delete the file after the code has changed.
"""

import json
import os
from pathlib import Path

import pytest

LISTED = os.environ.get("ASSAY_SOAK_PASSED", "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not LISTED or not Path(LISTED).exists():
        return
    lines = Path(LISTED).read_text(encoding="utf-8").splitlines()
    passed = {line.partition(" s ")[2].partition("\t")[0] for line in lines}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if LISTED and report.when == "call" and report.passed:
        counted = f"\t{json.dumps(dict(report.user_properties))}" if report.user_properties else ""
        with Path(LISTED).open("a", encoding="utf-8") as file:
            file.write(f"{report.duration:.0f} s {report.nodeid}{counted}\n")
