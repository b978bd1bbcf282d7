"""Tests of whole runs as the bench starts them: texts, command, memory of the process tree."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.bench.whole_run import (
    CLASSES,
    PROCESSES,
    TextShape,
    execute_command,
    table_arguments,
    tree_bytes,
    write_texts,
)

MEGABYTES = 60


def test_texts_have_the_declared_shape_and_both_classes(tmp_path: Path):
    path = write_texts(tmp_path / "texts.csv", TextShape(6, 25))
    with path.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [len(row["text"].split()) for row in rows] == [25] * 6
    assert [row["label"] for row in rows] == list(CLASSES) * 3
    assert len({row["text"] for row in rows}) == 6
    telling = {word for words in CLASSES.values() for word in words}
    assert all(telling & set(row["text"].split()) for row in rows)


def test_the_same_shape_gives_the_same_texts(tmp_path: Path):
    one, other = (write_texts(tmp_path / name, TextShape(3, 8)) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()


def test_a_command_is_timed_from_start_to_page(tmp_path: Path):
    texts = write_texts(tmp_path / "texts.csv", TextShape(60, 8))
    options = ["--encoder=average", "--probes=permutation", "--threads=1", "--quiet"]
    run = execute_command([*table_arguments(texts), *options], tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()
    assert {"corpus", "training", "audit", "tables", "report"} <= set(run.timing["stages"])
    assert run.seconds > sum(run.timing["stages"].values())
    if PROCESSES.exists():
        assert run.peak_mb is not None
        assert run.peak_mb > 100  # torch alone has more


def test_a_command_that_fails_says_why(tmp_path: Path):
    with pytest.raises(RuntimeError, match=r"missing\.csv"):
        execute_command(table_arguments(tmp_path / "missing.csv"), tmp_path / "out")


@pytest.mark.skipif(not PROCESSES.exists(), reason="this system does not show its processes")
def test_memory_of_a_child_counts():
    hold = f"block = bytearray({MEGABYTES} * 2**20); print('ready', flush=True); input()"
    before = tree_bytes(os.getpid())
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        with_child = tree_bytes(os.getpid())
        alone = tree_bytes(child.pid)
        child.communicate("\n")
    assert alone >= MEGABYTES * 2**20
    assert with_child - before >= 0.9 * MEGABYTES * 2**20


def test_a_process_that_is_gone_has_no_memory():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert tree_bytes(child.pid) == 0
