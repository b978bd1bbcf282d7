"""The properties of `tests/models/test_number_properties.py`, with many more examples."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = 1000
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(7200)
def test_every_property_holds_for_many_examples() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "3600"]
    done = subprocess.run(
        [*command, "tests/models/test_number_properties.py"],
        cwd=ROOT,
        env={**os.environ, "ASSAY_EXAMPLES": str(EXAMPLES)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-4000:]
