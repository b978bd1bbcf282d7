"""Every reader on damaged and hostile files: a corpus or a `UserError`, never anything else.

`make soak` does the same with ten times as many files (`tests/soak`).
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.fuzzed_readers import (
    BY_NAME,
    CASES,
    PARQUET,
    Case,
    run_case,
    valid_files,
    write_mutated,
)

FILES = 100
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_damaged_file_gives_a_corpus_or_a_user_error(case: Case, tmp_path: Path) -> None:
    for name, content in valid_files(case).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    case.load(tmp_path)  # the files are valid, so that the damage is what is tested
    outcome = run_case(case, range(FILES))
    assert not outcome.faults
    assert outcome.counts["loaded"] + outcome.counts["refused"] == FILES
    assert outcome.counts["refused"] > FILES // 10


@pytest.mark.slow
def test_a_damaged_parquet_file_gives_a_corpus_or_a_user_error() -> None:
    command = [sys.executable, "-m", "tests.builders.fuzzed_readers", "run", PARQUET.name]
    done = subprocess.run([*command, str(FILES)], cwd=ROOT, capture_output=True, check=True)
    outcome = json.loads(done.stdout)
    assert outcome["faults"] == []
    assert sum(outcome["counts"].values()) == FILES
    assert outcome["counts"]["refused"] > FILES // 10
    assert outcome["counts"]["loaded"] > 0


def test_every_reader_of_files_is_among_the_cases() -> None:
    from assay.data.sources import SOURCES

    covered = {name.partition("-")[0] for name in BY_NAME}
    assert {name for name, source in SOURCES.items() if source.locate} <= covered
    assert len(BY_NAME) == len(CASES) + 1


def test_a_damage_can_be_written_again_by_its_number(tmp_path: Path) -> None:
    case = BY_NAME["table-a.csv"]
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        (path,) = write_mutated(case, 7, folder)
        assert path.read_bytes() != valid_files(case)["a.csv"]
    assert (first / "a.csv").read_bytes() == (second / "a.csv").read_bytes()
