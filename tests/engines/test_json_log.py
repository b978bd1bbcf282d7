"""Tests of `--log-json`: every line is one object, stages are in order, no minute is silent."""

import json
import threading

import pytest

from assay import json_log
from assay.json_log import JsonLog
from assay.progress import Counts

KEYS = {"time", "stage", "event", "done", "total", "seconds", "left", "message"}


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def log(lines: list[str], clock: Clock) -> JsonLog:
    return JsonLog(lines.append, clock)


def records(lines: list[str]) -> list[dict]:
    return [json.loads(line) for line in lines]


def without_time(lines: list[str], *keys: str) -> list[tuple]:
    return [tuple(record[key] for key in keys) for record in records(lines)]


def test_every_line_is_one_object_with_all_keys(log, lines):
    log.message("two\nlines, and “quotes”")
    with log.stage("corpus"):
        list(log.track(range(3), "epoch 1 of 1", 3))
    assert all("\n" not in line for line in lines)
    assert all(set(record) == KEYS for record in records(lines))
    assert records(lines)[0]["message"] == "two\nlines, and “quotes”"


def test_stages_start_and_end_in_order(log, lines, clock):
    for name, seconds in (("corpus", 1.5), ("training", 20.0)):
        with log.stage(name):
            clock.time += seconds
    log.message("done")
    assert without_time(lines, "stage", "event", "seconds") == [
        ("corpus", "start", 0.0),
        ("corpus", "end", 1.5),
        ("training", "start", 0.0),
        ("training", "end", 20.0),
        (None, "message", None),
    ]


def test_a_stage_that_fails_has_no_end(log, lines):
    with pytest.raises(ZeroDivisionError), log.stage("audit"):
        raise ZeroDivisionError
    log.message("assay: a mistake", "error")
    assert without_time(lines, "stage", "event") == [("audit", "start"), (None, "error")]


def test_a_loop_counts_and_estimates(log, lines, clock):
    with log.stage("training"):
        for _ in log.track(range(4), "epoch 1 of 3", 4):
            clock.time += 30
    counted = [record for record in records(lines) if record["event"] == "progress"]
    assert [(r["done"], r["total"], r["seconds"], r["left"]) for r in counted] == [
        (0, 4, 0.0, None),
        (1, 4, 30.0, 90.0),
        (2, 4, 60.0, 60.0),
        (3, 4, 90.0, 30.0),
    ]
    assert {record["message"] for record in counted} == {"epoch 1 of 3"}


def test_a_fast_loop_does_not_flood_the_log(log, lines, clock):
    for _ in log.track(range(1000), "epoch 1 of 3", 1000):
        clock.time += 0.01
    assert len(lines) == 2  # at the start, and after five of its ten seconds


def test_jobs_are_counted_and_the_last_one_is_always_reported(log, lines, clock):
    with log.stage("audit"), log.watching("audit") as watch:
        watch(Counts(0, 2, 2))
        clock.time = 10.0
        watch(Counts(1, 2, 1))
        clock.time = 11.0
        watch(Counts(2, 2, 0))  # too soon after the last
        clock.time = 12.0
        watch(Counts(4, 0, 0))
    assert without_time(lines, "event", "done", "total", "left") == [
        ("start", None, None, None),
        ("progress", 0, 4, None),
        ("progress", 1, 4, 30.0),
        ("progress", 4, 4, 0.0),
        ("end", None, None, None),
    ]


def test_a_silent_minute_repeats_the_latest_progress(log, lines, clock):
    with log.stage("audit"), log.watching("audit") as watch:
        watch(Counts(0, 1, 0))
        written = len(lines)
        clock.time = 59.0
        log.repeat()
        assert len(lines) == written
        clock.time = 60.0
        log.repeat()
        clock.time = 119.0
        log.repeat()
    assert without_time(lines[written:-1], "event", "done", "total", "seconds") == [
        ("progress", 0, 1, 60.0)
    ]


def test_a_thread_watches_over_a_stage_without_any_progress(monkeypatch):
    monkeypatch.setattr(json_log, "MOST_SECONDS", 0.02)
    written = threading.Event()
    lines: list[str] = []

    def write(line: str) -> None:
        lines.append(line)
        if json.loads(line)["event"] == "progress":
            written.set()

    with JsonLog(write).stage("tables"):
        assert written.wait(10)
    assert records(lines)[-1]["event"] == "end"
