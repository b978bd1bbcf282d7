"""Fixtures of the command-line tests: calls of the entry point, a user's table, a finished run."""

import csv
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay import cli
from tests.builders.small_models import UNTRAINED

GOOD, BAD = ("lovely", "clever", "funny"), ("dull", "grey", "boring")
PLACES = ("harbour", "village", "castle", "garden", "market", "island", "school", "forest")


@dataclass(frozen=True)
class Output:
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def assay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Output]:
    """A function that calls the entry point with arguments, as a shell would."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("ASSAY_DATA", raising=False)

    def call(*arguments: object) -> Output:
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        code = exit_info.value.code
        return Output(code if isinstance(code, int) else 0, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def small_run() -> list[str]:
    """Arguments of a run that takes seconds."""
    return [
        *("motif", "--option", "documents=60", "--option", "length=30", "--encoder", "average"),
        *("--threads", "1", "--sample", "4", "--probes", ",".join(UNTRAINED)),
    ]


@pytest.fixture(scope="session")
def finished(
    small_run: list[str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The directory and the output of a small complete run."""
    out = tmp_path_factory.mktemp("runs") / "motif"
    process = subprocess.run(
        [sys.executable, "-m", "assay", "run", *small_run, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return out, process


@pytest.fixture(scope="session")
def reviews_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose column names must be guessed, with two unusable rows."""
    path = tmp_path_factory.mktemp("own") / "reviews.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "opinion", "stars"])
        for i in range(60):
            word = (GOOD if i % 2 else BAD)[i // 2 % 3]
            text = f"a {PLACES[i % 8]} and {PLACES[i // 8]} film , {word} in part {i}"
            writer.writerow([i, text, "up" if i % 2 else "down"])
        writer.writerows([[60, "", "up"], [61, "well", "up"]])
    return path
