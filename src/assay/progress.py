"""Progress of long work: the types that functions accept, and bars with an estimate.

Work in one process is reported through a `Track`, which wraps the items of a loop as tqdm does.
Jobs that an engine runs side by side are reported through a `Watch`, which is called with the
`Counts` of jobs whenever one starts or ends. By default nothing is shown (`untracked`,
`unwatched`). The command line shows bars on a terminal and, in a pipe or a log, a line for each
stage and at least one a minute (`progress_tracker`, `progress_watcher`).
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

LOG_SECONDS = 60.0  # between two lines of a log
FOUND_SECONDS = 1.0  # jobs done this soon after the start were finished by an earlier run

Track = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Yields the items of a loop and reports progress on the way: `track(items, label, total)`."""


def untracked(items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
    """The `Track` that reports nothing."""
    return items


@dataclass(frozen=True)
class Counts:
    """The number of jobs that are done, running, and left to start."""

    done: int
    running: int
    left: int


Watch = Callable[[Counts], object]
"""A callback for an engine: `watch(counts)` is called whenever a job starts or ends."""

Watching = Callable[[str], AbstractContextManager[Watch]]
"""Opens a display: `with watching(label) as watch` gives the `Watch` that updates it."""


def ignore(counts: Counts) -> None:
    """The `Watch` that does nothing."""


def unwatched(label: str) -> AbstractContextManager[Watch]:
    """The `Watching` that displays nothing."""
    return nullcontext(ignore)


Stage = Callable[[str], AbstractContextManager[object]]
"""Called with the name of each stage; the context it returns is open while the stage lasts."""


def unannounced(name: str) -> AbstractContextManager[object]:
    """The `Stage` that tells nobody."""
    return nullcontext()


def progress_tracker(console: Console, quiet: bool) -> Track:
    """A `Track` that shows a bar with the remaining time, or lines where there is no terminal."""
    if quiet:
        return untracked
    if not console.is_terminal:
        return LogLines(console.print).track

    def track(items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
        columns = (
            TextColumn("{task.description:<16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with Progress(*columns, console=console) as bars:
            yield from bars.track(items, total=total, description=label)

    return track


def progress_watcher(
    console: Console, quiet: bool, now: Callable[[], float] = time.monotonic
) -> Watching:
    """A `Watching` that shows a bar with job counts and the remaining time, or lines in a log."""
    if quiet:
        return unwatched
    if not console.is_terminal:
        return LogLines(console.print, now).watching

    @contextmanager
    def watching(label: str) -> Iterator[Watch]:
        counted = TextColumn("{task.fields[counted]}")
        columns = (TextColumn("{task.description:<16}"), BarColumn(), counted, _TimeLeft())
        with Progress(*columns, console=console, get_time=now) as bars:
            estimate = EndEstimate(now())
            bar = bars.add_task(label, total=None, counted="", end=None)
            yield lambda counts: bars.update(
                bar,
                completed=counts.done,
                total=counts.done + counts.running + counts.left,
                counted=f"{counts.done} done, {counts.running} running, {counts.left} left",
                end=estimate.end(counts, now()),
            )

    return watching


class LogLines:
    """Progress as plain lines: one when a stage begins, one a minute, one when jobs are done."""

    def __init__(
        self, write: Callable[[str], object], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._now = write, now

    def track(self, items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
        """A `Track`."""
        start = latest = self._now()
        self._write(f"{label}: {total:,} steps")
        for done, item in enumerate(items):
            here = self._now()
            if done and here - latest >= LOG_SECONDS:
                latest = here
                left = (here - start) / done * (total - done)
                self._write(f"{label}: {done / total:.0%} done, {_clock(left)} left")
            yield item

    @contextmanager
    def watching(self, label: str) -> Iterator[Watch]:
        """A `Watching`. Lines are written by a thread, because a single job may take minutes."""
        start = self._now()
        estimate, latest, stop = EndEstimate(start), Counts(0, 0, 0), threading.Event()

        def watch(counts: Counts) -> None:
            nonlocal latest
            if not latest.running and not latest.done:
                self._write(f"{label}: {counts.done + counts.running + counts.left:,} jobs")
            latest = counts

        def repeat() -> None:
            while not stop.wait(LOG_SECONDS):
                self._write(self._line(label, latest, estimate))

        writer = threading.Thread(target=repeat, daemon=True)
        writer.start()
        try:
            yield watch
        finally:
            stop.set()
            writer.join()
        self._write(f"{label}: {latest.done:,} jobs done in {_clock(self._now() - start)}")

    def _line(self, label: str, counts: Counts, estimate: "EndEstimate") -> str:
        now = self._now()
        end = estimate.end(counts, now)
        left = "" if end is None else f", about {_clock(max(end - now, 0.0))} left"
        total = counts.done + counts.running + counts.left
        return f"{label}: {counts.done:,} of {total:,} jobs done{left}"


class EndEstimate:
    """Estimates when the last job ends from the pace of the jobs so far."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._found = 0

    def end(self, counts: Counts, now: float) -> float | None:
        """The time of the end, or None while no job of this run is done.

        Jobs that an earlier run finished took no time and must not shorten the estimate.
        """
        elapsed = now - self._start
        if elapsed < FOUND_SECONDS:
            self._found = counts.done
        worked = counts.done - self._found
        return now + elapsed / worked * (counts.running + counts.left) if worked else None


class _TimeLeft(ProgressColumn):
    """Counts the remaining time down; at the end it shows the total time."""

    def render(self, task: Bar) -> Text:
        if task.finished:
            return Text(_clock(task.finished_time or 0.0))
        end = task.fields["end"]
        return Text("-:--:--" if end is None else _clock(max(end - task.get_time(), 0.0)))


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
