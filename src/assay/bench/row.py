"""What does one row of the benchmark table say, and what is timed for it?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict


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
