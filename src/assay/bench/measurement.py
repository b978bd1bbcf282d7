"""Benchmark rows: how time and memory are measured, and how the table is printed.

Time: alternatives take turns, so that a slow moment of the machine affects all of them alike.
Each is judged by its fastest turn, which is the least disturbed one, or, where turns are long and
few, by the sum of all turns. A baseline of minutes is timed once, in parts, and our route before,
between and after them, so that neither has the machine's best or worst minute to itself.

Memory: a process rarely returns memory, so each measurement gets a new process. What was in use
before the work began (Python, torch, the model, the documents) is not counted.
"""

import multiprocessing
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import torch
from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Measurement:
    """The result of a row. Rows without a baseline have no ratio and nothing to compare."""

    n: int  # documents, or trainings
    seconds: float
    baseline_seconds: float | None = None
    equal: bool | None = None
    peak_mb: float | None = None  # of our route, in a process of its own
    possible_ratio: float | None = None  # if our route cost only its matrix products
    plain_n: int | None = None  # documents of the baseline, if it was timed on some and scaled
    notes: str = ""  # printed below the table


@dataclass(frozen=True)
class Bench:
    """A declared row."""

    name: str
    what: str
    measure: Callable[[], Measurement]
    long: bool = False  # only with --long
    grid: bool = False  # only with --grid
    target: float | None = None  # the ratio to reach on two idle cores


class Row(TypedDict):
    """A row as it is written to JSON; a value without meaning is null."""

    name: str
    what: str
    n: int
    baseline_seconds: float | None
    seconds: float
    ratio: float | None
    target: float | None
    equal: bool | None
    peak_mb: float | None
    possible_ratio: float | None
    plain_n: int | None
    notes: str


def run_bench(bench: Bench) -> Row:
    """Measure one row."""
    found = bench.measure()
    plain = found.baseline_seconds
    return Row(
        name=bench.name,
        what=bench.what,
        n=found.n,
        baseline_seconds=plain,
        seconds=found.seconds,
        ratio=None if plain is None else plain / found.seconds,
        target=bench.target,
        equal=found.equal,
        peak_mb=found.peak_mb,
        possible_ratio=found.possible_ratio,
        plain_n=found.plain_n,
        notes=found.notes,
    )


REPEATS = 3


def time_in_turns(
    *alternatives: Callable[[], Any],
    repeats: int = REPEATS,
    summarize: Callable[[list[float]], float] = min,
) -> list[tuple[float, Any]]:
    """The summarized seconds and the last result of each alternative."""
    seconds: list[list[float]] = [[] for _ in alternatives]
    results: list[Any] = [None] * len(alternatives)
    for _ in range(repeats):
        for number, alternative in enumerate(alternatives):
            start = time.perf_counter()
            results[number] = alternative()
            seconds[number].append(time.perf_counter() - start)
    return [(summarize(turns), result) for turns, result in zip(seconds, results, strict=True)]


def time_between_parts(
    parts: Sequence[Callable[[], Any]], work: Callable[[], Any]
) -> tuple[float, list[Any], float, Any]:
    """The total seconds and results of the parts; the mean seconds and last result of the work.

    The work is done before, between and after the parts.
    """
    [(own, result)] = time_in_turns(work, repeats=1)
    total, found, turns = 0.0, [], [own]
    for part in parts:
        (seconds, value), (own, result) = time_in_turns(part, work, repeats=1)
        total += seconds
        found.append(value)
        turns.append(own)
    return total, found, sum(turns) / len(turns), result


Work = Callable[[], Any]
Prepare = Callable[[Any], Work]
MEGABYTE = 2**20
KILOBYTE = 2**10
_STATUS = Path("/proc/self/status")
_HIGHEST = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class ProcessCost:
    """Time and peak memory of work in a process of its own."""

    seconds: float
    peak_mb: float


def measure_in_new_process(prepare: Prepare, argument: Any) -> ProcessCost:
    """Prepare the work in a new process, do it once, and measure its time and peak memory.

    `prepare` must be a top-level function, so that the other process can import it. It should also
    do a small piece of the same work, so that lazy imports of libraries are not measured.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measure, prepare, argument).result()


def _measure(prepare: Prepare, argument: Any) -> ProcessCost:
    work = prepare(argument)
    before = _peak_bytes()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    return ProcessCost(seconds, (_peak_bytes() - before) / MEGABYTE)


def _peak_bytes() -> int:
    """The peak memory of this process so far."""
    # On Linux a spawned process inherits its parent's ru_maxrss, which would hide all growth.
    found = _HIGHEST.search(_STATUS.read_text()) if _STATUS.exists() else None
    if found is not None:
        return int(found[1]) * KILOBYTE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * KILOBYTE


NOTHING = ""
WHOLE_FROM = 100  # from here without decimals and without a power of ten
HEADINGS = ("row", "n", "plain s", "ours s", "ratio", "target", "possible", "equal", "MB")


def show_rows(console: Console, rows: Sequence[Row]) -> None:
    """Print the numbers, narrow enough for any terminal, and a description of each row."""
    table = Table(box=box.SIMPLE, padding=0)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "row" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    for row in rows:
        notes = f"; {row['notes']}" if row["notes"] else NOTHING
        console.print(f"{row['name']}: {row['what']}{_scaled(row)}{notes}", highlight=False)
    used = f"torch {torch.__version__}, {torch.get_num_threads()} threads"
    console.print(
        f"{used}; plain: the papers' plain loops; MB: peak memory of ours", highlight=False
    )


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row["name"],
        str(row["n"]),
        _digits(row["baseline_seconds"]),
        _digits(row["seconds"]),
        _times(row["ratio"]),
        _digits(row["target"]),
        _times(row["possible_ratio"]),
        {True: "yes", False: "NO", None: NOTHING}[row["equal"]],
        NOTHING if row["peak_mb"] is None else f"{row['peak_mb']:.0f}",
    )


def _scaled(row: Row) -> str:
    timed = row["plain_n"]
    return NOTHING if timed is None else f"; the plain loop was timed on {timed} of them and scaled"


def _digits(number: float | None) -> str:
    if number is None:
        return NOTHING
    return f"{number:.3g}" if number < WHOLE_FROM else f"{number:,.0f}"


def _times(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio:.1f}"
