"""What does one row of the benchmark table say, and what is timed for it?

Which of several ways to the same result is quicker, on a machine that may be disturbed?

The ways take turns, so that a slow moment hits all of them alike, and each is judged by its
quickest turn, the one least disturbed; or, where turns are long and few, by all of them.

How much memory and time does a piece of work need, apart from everything around it?

Memory once taken is rarely handed back, so each piece gets a fresh process. What was in use
before the work began (Python, torch, the model, the documents) does not count.

How are benchmark rows shown to a person?

What does `assay bench` do, once its options are read?
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
class Figures:
    """What a row measured. Some have no plain loop beside them: no ratio, and nothing to equal."""

    n: int  # documents, or trainings
    seconds: float
    baseline_seconds: float | None = None
    equal: bool | None = None
    peak_mb: float | None = None  # of our route alone, in a process of its own
    possible_ratio: float | None = None  # if our route cost nothing but its matrix products
    plain_n: int | None = None  # documents the plain loop was timed on, if not all: it is scaled


@dataclass(frozen=True)
class Bench:
    """A row before it is measured."""

    name: str
    what: str
    measure: Callable[[], Figures]
    long: bool = False  # only on demand
    grid: bool = False  # of the grid of trainings, which is timed by itself
    target: float | None = None  # the ratio we hold ourselves to, on two quiet cores


class Row(TypedDict):
    """A row as it is written to JSON; null where a value has no meaning."""

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


def run_bench(bench: Bench) -> Row:
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
    )


REPEATS = 3


def race(
    *execution: Callable[[], Any],
    repeats: int = REPEATS,
    judge: Callable[[list[float]], float] = min,
) -> list[tuple[float, Any]]:
    """For each way the seconds it is judged by and its last result."""
    seconds: list[list[float]] = [[] for _ in execution]
    results: list[Any] = [None] * len(execution)
    for _ in range(repeats):
        for number, way in enumerate(execution):
            start = time.perf_counter()
            results[number] = way()
            seconds[number].append(time.perf_counter() - start)
    return [(judge(turns), result) for turns, result in zip(seconds, results, strict=True)]


Work = Callable[[], Any]
Prepare = Callable[[Any], Work]
MEGABYTE = 2**20
KILOBYTE = 2**10
_STATUS = Path("/proc/self/status")
_HIGHEST = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Alone:
    seconds: float
    peak_mb: float


def alone(prepare: Prepare, argument: Any) -> Alone:
    """Prepare the work in a fresh process, do it once, and say what it took.

    `prepare` is a top-level function, so that the other process can find it. It should also do
    something small of the same kind, so that libraries have loaded what they load late.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measure, prepare, argument).result()


def _measure(prepare: Prepare, argument: Any) -> Alone:
    work = prepare(argument)
    before = _peak_bytes()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    return Alone(seconds, (_peak_bytes() - before) / MEGABYTE)


def _peak_bytes() -> int:
    """The most memory this process ever held."""
    # Linux lets a spawned process inherit its parent's ru_maxrss, which would hide all growth.
    found = _HIGHEST.search(_STATUS.read_text()) if _STATUS.exists() else None
    if found is not None:
        return int(found[1]) * KILOBYTE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * KILOBYTE


NOTHING = ""
WHOLE_FROM = 100  # from here on no decimals, and no power of ten
HEADINGS = (
    "row", "n", "plain s", "ours s", "ratio", "target", "possible", "equal", "MB",
)  # fmt: skip


def show_rows(console: Console, rows: Sequence[Row]) -> None:
    """The numbers, narrow enough for any terminal, and below them what each row is."""
    table = Table(box=box.SIMPLE, padding=0)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "row" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    for row in rows:
        console.print(f"{row['name']}: {row['what']}{_scaled(row)}", highlight=False)
    used = f"torch {torch.__version__}, {torch.get_num_threads()} threads"
    console.print(f"{used}; MB: the memory of ours at its peak", highlight=False)


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
    return NOTHING if timed is None else f"; the plain loop timed on {timed} of them, and scaled"


def _digits(number: float | None) -> str:
    if number is None:
        return NOTHING
    return f"{number:.3g}" if number < WHOLE_FROM else f"{number:,.0f}"


def _times(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio:.1f}"
