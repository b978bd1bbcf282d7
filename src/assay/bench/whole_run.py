"""Whole `assay run` commands as a user starts them: generated texts, time, and peak memory.

The command runs in a process of its own, so everything counts: starting Python, importing
libraries, reading the corpus, worker processes, files, tables and the page. Memory is that of the
command and all its worker processes together; pages that they share are counted in each.
"""

import csv
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from assay.bench.measurement import KILOBYTE, MEGABYTE

VOCABULARY = 7_000  # about as many words as `reviews` has
CLASSES = {"negative": ("dull", "bad", "boring"), "positive": ("lovely", "good", "funny")}
TELLING = 20  # one item in so many tells the class
MISLEADING = 0.2  # the share of those that tell the other class
SEED = 2019
PROCESSES = Path("/proc")
SAMPLING_SECONDS = 0.1  # between two looks at the memory


@dataclass(frozen=True)
class TextShape:
    """The number of documents, and of the words in each."""

    documents: int
    items: int

    @property
    def cells(self) -> int:
        """Words in all."""
        return self.documents * self.items


def write_texts(path: Path, shape: TextShape) -> Path:
    """Write a table of generated texts: frequent and rare words, and a few that tell the class."""
    rng = Random(SEED)
    words = [f"word{rank}" for rank in range(1, VOCABULARY + 1)]
    frequencies = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    telling = max(1, shape.items // TELLING)
    names = list(CLASSES)
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["text", "label"])
        for number in range(shape.documents):
            label = number % len(names)
            chosen = rng.choices(words, cum_weights=frequencies, k=shape.items - telling)
            for _ in range(telling):
                told = label if rng.random() >= MISLEADING else 1 - label
                chosen.append(rng.choice(CLASSES[names[told]]))
            rng.shuffle(chosen)
            table.writerow([" ".join(chosen), names[label]])
    return path


def table_arguments(path: Path) -> list[str]:
    """The arguments of `assay run` for such a table."""
    return ["table", f"--data={path}", "--text-column=text", "--label-column=label"]


@dataclass(frozen=True)
class WholeRun:
    """The cost of one command, and the `timing.json` that it wrote."""

    seconds: float
    peak_mb: float | None  # None where the system does not tell it
    timing: dict[str, Any]


def execute_command(arguments: Sequence[str], out: Path) -> WholeRun:
    """Run `assay run` with these arguments in a new process, from its start to its page."""
    command = [sys.executable, "-m", "assay", "run", *arguments, f"--out={out}"]
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        memory = PeakMemory(process.pid)
        _, errors = process.communicate()
        seconds = time.perf_counter() - start
        peak = memory.stop()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{errors}")
    timing = json.loads((out / "timing.json").read_text(encoding="utf-8"))
    return WholeRun(seconds, peak, timing)


class PeakMemory:
    """Looks at the memory of a process and its descendants several times a second."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._peak = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float | None:
        """The largest sum seen, in megabytes."""
        self._stopped.set()
        self._thread.join()
        return self._peak / MEGABYTE if self._peak else None

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLING_SECONDS):
            self._peak = max(self._peak, tree_bytes(self._process))


def tree_bytes(process: int) -> int:
    """The resident memory of a process and its descendants; 0 on systems without /proc."""
    total, todo = 0, [process]
    while todo:
        folder = PROCESSES / str(todo.pop())
        with suppress(OSError):  # the process ended while we looked
            total += _resident_bytes(folder)
            for thread in (folder / "task").iterdir():
                todo += map(int, (thread / "children").read_text().split())
    return total


def _resident_bytes(folder: Path) -> int:
    for line in (folder / "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * KILOBYTE
    return 0  # a process that has ended keeps its folder, without memory
