"""The tutorial's commands, run as they stand on the page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
WRITTEN = (
    "runs/tutorial/report.html",
    "runs/tutorial/card.md",
    "runs/tutorial/figures/adversary_histogram.png",
    "runs/tutorial/tables/table-1.tex",
    "to-share/report.html",
)


def run(kind: str, block: str, folder: Path) -> str:
    """The output of one block: a Python program, or shell commands with this Python's assay."""
    if kind == "python":
        command = [sys.executable, "-c", block]
    else:
        ours = re.sub(r"^assay ", f"{sys.executable} -m assay ", block, flags=re.M)
        command = ["bash", "-euc", ours]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_every_command_of_the_tutorial_works(tmp_path: Path):
    outputs = [
        run(kind, block, tmp_path) for kind, block in BLOCKS if not block.startswith("pip install")
    ]
    assert len(outputs) == len(BLOCKS) - 1 == 6
    assert "May this model's attention be shown" in outputs[-2]  # the card
    for name in WRITTEN:
        assert (tmp_path / name).stat().st_size > 0, name
