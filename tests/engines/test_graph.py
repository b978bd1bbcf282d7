"""Tests of the task graph: order of release, retries, and graphs that are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines import run_graph, run_jobs
from assay.engines.graph import RETRIES, Graph, Task
from assay.errors import UserError
from assay.progress import Counts

DIAMOND = [
    Task("top", 1),
    Task("left", 2, ("top",)),
    Task("right", 3, ("top",)),
    Task("bottom", 4, ("left", "right")),
]


def test_a_diamond_by_hand():
    graph = Graph(DIAMOND)
    assert graph.start().key == "top"
    assert not graph.ready
    graph.finish("top")
    assert [graph.start().key, graph.start().key] == ["left", "right"]
    graph.finish("right")
    assert not graph.ready
    assert graph.counts == Counts(done=2, running=1, left=1)
    graph.finish("left")
    assert graph.start().key == "bottom"


def test_the_longest_chain_starts_first():
    tasks = [Task("short", 0), Task("a", 0), Task("b", 0, ("a",)), Task("c", 0, ("b",))]
    graph = Graph(tasks)
    assert [graph.start().key, graph.start().key] == ["a", "short"]


def test_a_lost_task_is_ready_again_until_its_retries_are_used_up():
    graph = Graph(DIAMOND)
    for _ in range(RETRIES):
        graph.lose(graph.start().key, "killed")
        assert graph.ready
    graph.lose(graph.start().key, "killed")
    assert not graph.ready
    assert graph.lost == {"top": "killed"}
    assert graph.counts == Counts(done=0, running=0, left=4)


@given(st.data())
def test_every_task_runs_once_and_after_its_needs(data):
    """Any graph without cycles, given to the engine in any order."""
    size = data.draw(st.integers(1, 12))
    needs = [data.draw(st.sets(st.integers(0, row - 1))) if row else set() for row in range(size)]
    tasks = [Task(str(row), row, tuple(map(str, sorted(needs[row])))) for row in range(size)]
    seen: list[int] = []
    results = run_graph("serial", seen.append, data.draw(st.permutations(tasks)), 1)
    assert sorted(int(key) for key, _ in results) == list(range(size))
    assert all(seen.index(need) < seen.index(row) for row in seen for need in needs[row])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([Task("a", 0, ("b",)), Task("b", 0, ("a",))], "circle: (a -> b -> a|b -> a -> b)"),
        ([Task("a", 0, ("a",))], "circle: a -> a"),
        ([Task("a", 0, ("zebra",))], "no task has: zebra"),
        ([Task("a", 0), Task("a", 1)], "same key: a"),
    ],
)
def test_an_impossible_graph_is_refused_at_once(tasks, message):
    with pytest.raises(ValueError, match=message):
        run_graph("serial", print, tasks, 1)


@pytest.mark.parametrize(("engine", "workers"), [("threads", 1), ("serial", 0)])
def test_a_wrong_engine_is_refused_at_the_call(engine, workers):
    with pytest.raises(UserError, match=r"threads|--jobs 0"):
        run_jobs(engine, print, [1], workers)


def test_no_tasks_give_no_results():
    assert list(run_jobs("processes", print, [], 2)) == []
    assert list(run_graph("processes", print, [], 2)) == []
