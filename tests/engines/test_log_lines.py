"""Progress in a log: a line per stage and one a minute, with the share done and an estimate."""

import threading

from assay import progress
from assay.progress import Counts, LogLines


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_loop_writes_its_length_and_then_one_line_a_minute():
    lines: list[str] = []
    clock = Clock()
    for _ in LogLines(lines.append, clock).track(range(10), "epoch 1 of 3", 10):
        clock.time += 30
    assert lines == [
        "epoch 1 of 3: 10 steps",
        "epoch 1 of 3: 20% done, 0:04:00 left",
        "epoch 1 of 3: 40% done, 0:03:00 left",
        "epoch 1 of 3: 60% done, 0:02:00 left",
        "epoch 1 of 3: 80% done, 0:01:00 left",
    ]


def test_a_first_step_that_takes_minutes_has_no_estimate_yet():
    lines: list[str] = []
    clock = Clock()

    def slow():
        clock.time += 300
        yield "first"

    assert list(LogLines(lines.append, clock).track(slow(), "bench", 1)) == ["first"]
    assert lines == ["bench: 1 steps"]


def test_jobs_write_a_line_while_a_single_job_runs_on(monkeypatch):
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.01)
    lines: list[str] = []
    written = threading.Event()

    def write(line: str) -> None:
        lines.append(line)
        if "of 4 jobs done" in line:
            written.set()

    clock = Clock()
    with LogLines(write, clock).watching("audit") as watch:
        watch(Counts(0, 2, 2))
        clock.time = 10.0
        watch(Counts(1, 2, 1))
        assert written.wait(10)
        watch(Counts(4, 0, 0))
        clock.time = 40.0
    assert lines[0] == "audit: 4 jobs"
    assert "audit: 1 of 4 jobs done, about 0:00:30 left" in lines
    assert lines[-1] == "audit: 4 jobs done in 0:00:40"
