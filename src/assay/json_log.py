"""Progress for programs: one JSON object per line, for stages, loops, jobs and messages.

Every object has the same keys; a value that is not known is null.

| key | content |
|---|---|
| `time` | date and time with the time zone, ISO 8601 |
| `stage` | `corpus`, `training`, `audit` and so on; null outside of a stage |
| `event` | `start` and `end` of a stage, `progress` within one, `message`, or `error` |
| `done`, `total` | how much of the current loop or of the jobs is done, and of how much |
| `seconds` | since the start of the stage |
| `left` | seconds that the counted work still takes, estimated from its pace so far |
| `message` | what is counted (such as `epoch 1 of 3`), or a line for people |

A stage writes at least one object a minute, whatever it does.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from assay.progress import Counts, EndEstimate, Watch

MOST_SECONDS = 60.0  # between two objects of a stage
LEAST_SECONDS = 5.0  # between two objects that report the same loop or the same jobs
MILLISECONDS = 3  # digits


class JsonLog:
    """Writes the objects. Its methods are a `Track`, a `Watching` and a `Stage`."""

    def __init__(
        self, write: Callable[[str], object], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._now = write, now
        self._lock = threading.Lock()  # the thread of a stage writes too
        self._stage: str | None = None
        self._start = self._latest = now()
        self._counted: dict[str, Any] = {}  # of the latest progress, which a silent minute repeats

    def message(self, line: str, event: str = "message") -> None:
        """Write a line for people."""
        self._put(event, message=line)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A `Stage`: its start, its end and, if nothing else is written, one object a minute."""
        self._stage, self._start, self._counted = name, self._now(), {}
        self._put("start")
        stop = threading.Event()
        pulse = threading.Thread(target=self._pulse, args=(stop,), daemon=True)
        pulse.start()
        try:
            yield
            self._put("end")
        finally:
            stop.set()
            pulse.join()
            self._stage = None

    def track(self, items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
        """A `Track`."""
        start = self._now()
        self._progress(label, 0, total, None)
        for done, item in enumerate(items):
            here = self._now()
            if done and here - self._latest >= LEAST_SECONDS:
                self._progress(label, done, total, (here - start) / done * (total - done))
            yield item

    @contextmanager
    def watching(self, label: str) -> Iterator[Watch]:
        """A `Watching`."""
        estimate = EndEstimate(self._now())
        reported: Counts | None = None

        def watch(counts: Counts) -> None:
            nonlocal reported
            now = self._now()
            last = not counts.running and not counts.left
            if reported is None or last or now - self._latest >= LEAST_SECONDS:
                end = estimate.end(counts, now)
                left = None if end is None else max(end - now, 0.0)
                total = counts.done + counts.running + counts.left
                self._progress(label, counts.done, total, left)
                reported = counts

        yield watch

    def repeat(self) -> None:
        """Write the latest progress again if the stage has been silent for a minute."""
        if self._now() - self._latest >= MOST_SECONDS:
            self._put("progress", **self._counted)

    def _pulse(self, stop: threading.Event) -> None:
        while not stop.wait(MOST_SECONDS / 2):
            self.repeat()

    def _progress(self, label: str, done: int, total: int, left: float | None) -> None:
        rounded = None if left is None else round(left, MILLISECONDS)
        self._counted = {"done": done, "total": total, "left": rounded, "message": label}
        self._put("progress", **self._counted)

    def _put(self, event: str, **known: Any) -> None:
        self._latest = now = self._now()
        record = {
            "time": datetime.now().astimezone().isoformat(timespec="milliseconds"),
            "stage": self._stage,
            "event": event,
            "done": None,
            "total": None,
            "seconds": None if self._stage is None else round(now - self._start, MILLISECONDS),
            "left": None,
            "message": None,
            **known,
        }
        with self._lock:
            self._write(json.dumps(record, ensure_ascii=False))
