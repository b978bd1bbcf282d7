"""Every reader on a thousand damaged files, in a process that may take a gigabyte more."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.fuzzed_readers import BY_NAME

FILES = 1000
MOST_SECONDS = 30.0  # of the clock for one file, also on a busy machine
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", BY_NAME)
def test_damaged_files_cost_neither_time_nor_memory(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    command = [sys.executable, "-m", "tests.builders.fuzzed_readers", "run", name, str(FILES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    outcome = json.loads(done.stdout)
    record_property("outcome", outcome)
    assert outcome["faults"] == []  # also names what took more than ten seconds of the processor
    assert outcome["longest"] < MOST_SECONDS
    assert outcome["megabytes"] < 2**10
    assert outcome["counts"]["loaded"] + outcome["counts"]["refused"] == FILES
