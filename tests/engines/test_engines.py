"""Tests of all engines: equal results, order of tasks, dead workers, errors and interrupts."""

import os
import time
from collections.abc import Callable

import pytest

from assay.engines import run_graph, run_jobs
from assay.engines.graph import RETRIES, Task
from assay.errors import UserError
from assay.progress import Counts
from tests.builders.small_jobs import (
    Deadly,
    Stamp,
    Unreadable,
    accept_anything,
    exit_with_3,
    process_id,
    raise_picky,
    reciprocal,
    run_deadly,
    sleep_long,
    square,
    stamp,
    unpicklable_result,
)


def test_every_engine_gives_the_same_results(engine):
    assert sorted(run_jobs(engine, square, range(7), 2)) == [0, 1, 4, 9, 16, 25, 36]


def test_tasks_of_a_diamond_run_in_order(engine, tmp_path):
    needs = {"top": (), "left": ("top",), "right": ("top",), "bottom": ("left", "right")}
    tasks = [Task(key, Stamp(key, tmp_path), needs[key]) for key in reversed(needs)]
    times = dict(run_graph(engine, stamp, tasks, 2))
    assert times.keys() == needs.keys()
    for key, before in needs.items():
        assert all(times[need][1] <= times[key][0] for need in before)


def test_the_counts_add_up_and_end_with_all_done(engine):
    seen: list[Counts] = []
    results = run_jobs(engine, square, range(5), 2, watch=seen.append)
    assert len(list(results)) == 5
    assert all(counts.done + counts.running + counts.left == 5 for counts in seen)
    assert all(counts.running <= (1 if engine == "serial" else 2) for counts in seen)
    assert [counts.done for counts in seen] == sorted(counts.done for counts in seen)
    assert seen[0].done == 0
    assert seen[0].running > 0
    assert seen[-1] == Counts(done=5, running=0, left=0)


def test_workers_are_kept_from_job_to_job():
    workers = set(run_jobs("processes", process_id, range(8), 2))
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_a_killed_worker_is_replaced_and_the_others_go_on(parallel_engine, tmp_path):
    jobs = [Deadly("victim", tmp_path, deaths=1), *(Deadly(name, tmp_path, 0) for name in "abc")]
    results = run_jobs(parallel_engine, run_deadly, jobs, 2)
    assert sorted(results) == ["a", "b", "c", "victim"]
    attempts = sorted(path.name for path in tmp_path.iterdir())
    assert attempts == ["a-0", "b-0", "c-0", "victim-0", "victim-1"]


def test_a_job_that_always_kills_is_reported_after_all_others_are_done(parallel_engine, tmp_path):
    tasks = [Task(name, Deadly(name, tmp_path, 0)) for name in ("a", "b", "c")]
    tasks += [
        Task("killer", Deadly("killer", tmp_path, 99)),
        Task("dependent", Deadly("dependent", tmp_path, 0), ("killer",)),
    ]
    done: list[str] = []
    message = r"1 of 5 jobs.*job killer .*1 more need.*--resume"
    with pytest.raises(UserError, match=message) as raised:
        done.extend(key for key, _ in run_graph(parallel_engine, run_deadly, tasks, 2))
    assert sorted(done) == ["a", "b", "c"]
    assert f"lost their worker {RETRIES + 1} times" in str(raised.value)
    assert "The 3 finished jobs are kept" in str(raised.value)
    attempts = sorted(path.name for path in tmp_path.iterdir())
    assert attempts == ["a-0", "b-0", "c-0", *(f"killer-{n}" for n in range(RETRIES + 1))]


def test_an_error_of_a_job_is_raised_with_its_traceback_and_not_retried(engine):
    with pytest.raises(ZeroDivisionError, match="division by zero") as raised:
        list(run_jobs(engine, reciprocal, [0, 0], 1))
    trace = "".join(getattr(raised.value, "__notes__", [])) or str(raised.getrepr())
    assert "return 1 / number" in trace


def test_an_error_that_cannot_be_pickled_keeps_its_message(parallel_engine):
    with pytest.raises(RuntimeError, match="number 5 is not to my taste"):
        list(run_jobs(parallel_engine, raise_picky, [5], 1))


def test_an_argument_that_cannot_be_unpickled_fails_its_job():
    with pytest.raises(ValueError, match="not a number"):
        list(run_jobs("processes", accept_anything, [Unreadable()], 1))


def test_a_result_that_cannot_be_pickled_is_an_error():
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        list(run_jobs("processes", unpicklable_result, [1], 1))


def test_a_worker_that_exits_is_lost():
    with pytest.raises(UserError, match="job 0 ended with exit code 3"):
        list(run_jobs("processes", exit_with_3, [1], 1))


def test_an_interrupted_caller_leaves_no_worker_behind(parallel_engine, tmp_path):
    """Ctrl-C stops the running jobs and does not wait for them."""

    def interrupt(counts: Counts) -> None:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(parallel_engine, sleep_long, [tmp_path, tmp_path], 2, watch=interrupt))
    wait_until(lambda: not any(alive(int(path.name)) for path in tmp_path.iterdir()))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in a minute"
        time.sleep(0.02)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
