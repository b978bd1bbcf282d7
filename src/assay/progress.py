"""How does a model learn its task, so that the same seeds give the same weights again?

One loop. Initial weights and the order of the data have seeds of their own; the epoch with the
best dev metric is kept, never the first and never by looking at test.

Which jobs may start now, which must wait, and how many are left?

How far is it, and how long will it take? On a terminal only; a pipe gets no bars.
"""

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

Track = Callable[[Iterable[Any], str, int], Iterable[Any]]  # a progress bar: items, label, total


def untracked(items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
    return items


@dataclass(frozen=True)
class Counts:
    """How far the work is, in jobs; `left` are those not yet started."""

    done: int
    running: int
    left: int


Watch = Callable[[Counts], object]  # called whenever a job starts or ends
Watching = Callable[[str], AbstractContextManager[Watch]]  # a shown Watch, by its label


def ignore(counts: Counts) -> None:
    pass


def unwatched(label: str) -> AbstractContextManager[Watch]:
    return nullcontext(ignore)


FOUND_SECONDS = 1.0  # a job done within this time was there before


def progress_tracker(console: Console, quiet: bool) -> Track:
    """A progress bar with an estimate for each stretch of work."""
    if quiet or not console.is_terminal:
        return untracked

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
    """For jobs that run side by side: how many are done, running and left, and an estimate."""
    if quiet or not console.is_terminal:
        return unwatched

    @contextmanager
    def watching(label: str) -> Iterator[Watch]:
        words = TextColumn("{task.fields[words]}")
        columns = (TextColumn("{task.description:<16}"), BarColumn(), words, _TimeLeft())
        with Progress(*columns, console=console, get_time=now) as bars:
            pace = RemainingTime(now())
            bar = bars.add_task(label, total=None, words="", ends=None)
            yield lambda counts: bars.update(
                bar,
                completed=counts.done,
                total=counts.done + counts.running + counts.left,
                words=f"{counts.done} done, {counts.running} running, {counts.left} left",
                ends=pace.ends(counts, now()),
            )

    return watching


class RemainingTime:
    """When will the last job end, if the rest go as those so far?"""

    def __init__(self, start: float) -> None:
        self._start = start
        self._found = 0

    def ends(self, counts: Counts, now: float) -> float | None:
        """Jobs found finished from an earlier start cost nothing and must not flatter it."""
        elapsed = now - self._start
        if elapsed < FOUND_SECONDS:
            self._found = counts.done
        worked = counts.done - self._found
        return now + elapsed / worked * (counts.running + counts.left) if worked else None


class _TimeLeft(ProgressColumn):
    """Counts down between two jobs; at the end it says how long all took."""

    def render(self, task: Bar) -> Text:
        if task.finished:
            return Text(_clock(task.finished_time or 0.0))
        ends = task.fields["ends"]
        return Text("-:--:--" if ends is None else _clock(max(ends - task.get_time(), 0.0)))


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
