"""Jobs for the engine tests, in a module that workers can import."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Picky(Exception):
    """An error that cannot be unpickled, because it needs two arguments and keeps one."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what + why)


@dataclass(frozen=True)
class Stamp:
    """A job that records when it began and ended."""

    name: str
    folder: Path
    seconds: float = 0.02


def square(number: int) -> int:
    return number * number


def stamp(job: Stamp) -> tuple[float, float]:
    """Write a file, and return begin and end on the clock that all processes share."""
    begin = time.monotonic()
    time.sleep(job.seconds)
    (job.folder / job.name).touch()
    return begin, time.monotonic()


@dataclass(frozen=True)
class Deadly:
    """A job that kills its worker `deaths` times; files count the attempts."""

    name: str
    folder: Path
    deaths: int


def run_deadly(job: Deadly) -> str:
    attempts = sum(1 for _ in job.folder.glob(f"{job.name}-*"))
    (job.folder / f"{job.name}-{attempts}").touch()
    if attempts < job.deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return job.name


def sleep_long(folder: Path) -> None:
    """Write a file named by the process id, then sleep for longer than any test."""
    (folder / str(os.getpid())).touch()
    time.sleep(600)


def reciprocal(number: int) -> float:
    return 1 / number


def raise_picky(number: int) -> int:
    raise Picky(f"number {number}", " is not to my taste")


def unpicklable_result(number: int) -> Any:
    return lambda: number


def exit_with_3(number: int) -> int:
    raise SystemExit(3)


def process_id(number: int) -> int:
    time.sleep(0.05)
    return os.getpid()


class Unreadable:
    """An argument that can be pickled but not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def accept_anything(argument: object) -> bool:
    return True


def kill_after_others(job: tuple[str, Path]) -> str:
    """Sleep, or kill the worker as soon as the other jobs have begun."""
    name, folder = job
    (folder / name).touch()
    if name == "killer":
        while len(list(folder.iterdir())) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1)
    return name
