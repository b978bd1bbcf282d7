"""Jobs that a worker can import: harmless ones, failing ones and deadly ones."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Picky(Exception):
    """An error that pickling cannot build again: it needs two arguments and keeps one."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what + why)


@dataclass(frozen=True)
class Stamp:
    """A job that notes when it began and ended."""

    name: str
    folder: Path
    seconds: float = 0.02


def square(number: int) -> int:
    return number * number


def stamp(job: Stamp) -> tuple[float, float]:
    """Begin and end on the clock that all processes share; leaves a file as a real job does."""
    begin = time.monotonic()
    time.sleep(job.seconds)
    (job.folder / job.name).touch()
    return begin, time.monotonic()


@dataclass(frozen=True)
class Deadly:
    """A job that kills its worker as often as told, counted by files that survive it."""

    name: str
    folder: Path
    deaths: int


def perhaps_die(job: Deadly) -> str:
    tries = sum(1 for _ in job.folder.glob(f"{job.name}-*"))
    (job.folder / f"{job.name}-{tries}").touch()
    if tries < job.deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return job.name


def sleep_long(folder: Path) -> None:
    """Says under which number it sleeps, for far longer than any test."""
    (folder / str(os.getpid())).touch()
    time.sleep(600)


def reciprocal(number: int) -> float:
    return 1 / number


def be_picky(number: int) -> int:
    raise Picky(f"number {number}", " is not to my taste")


def unsendable(number: int) -> Any:
    return lambda: number


def leave(number: int) -> int:
    raise SystemExit(3)


def process_id(number: int) -> int:
    time.sleep(0.05)
    return os.getpid()
