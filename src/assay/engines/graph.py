"""Execution of a graph of jobs by the workers of any engine.

The death of a worker does not stop the others. Its job is retried, and if that does not help, all
jobs that do not depend on it are finished before the loss is reported.
"""

import heapq
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from multiprocessing.reduction import ForkingPickler
from typing import Generic, Protocol, TypeVar

from assay.errors import UserError
from assay.progress import Counts, Watch

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Input = TypeVar("Input", contravariant=True)
RETRIES = 2  # of a job whose worker died: enough for a short lack of memory


@dataclass(frozen=True)
class Done(Generic[Result]):
    """The job returned a result."""

    value: Result


@dataclass(frozen=True)
class Failed:
    """The job raised an exception, which has the worker's traceback as a note."""

    error: Exception


@dataclass(frozen=True)
class Lost:
    """The worker ended before the job did."""

    reason: str


class Workers(Protocol[Input, Result]):
    """Workers of an engine, each of which runs one job at a time."""

    @property
    def free(self) -> bool:
        """Whether another job can be started now."""

    def start(self, key: str, argument: Input) -> None:
        """Start the job of that key."""

    def finished(self) -> Sequence[tuple[str, Done[Result] | Failed | Lost]]:
        """Wait until at least one job has ended, and return all that have."""


def attempt(function: Callable[[Argument], Result], argument: Argument) -> Done[Result] | Failed:
    """Run a job in a worker and turn an exception into an outcome that can be sent back."""
    try:
        return Done(function(argument))
    except Exception as error:
        return Failed(portable(error, traceback.format_exc()))


def portable(error: Exception, trace: str) -> Exception:
    """The error with its traceback as a note, or a RuntimeError if it cannot be pickled."""
    try:
        copied = copy(error)  # fails for the same errors as unpickling
        copied.add_note(trace)
        ForkingPickler.dumps(copied)
    except Exception:
        return RuntimeError(trace)
    return copied


@dataclass(frozen=True)
class Task(Generic[Argument]):
    """The argument of a job with a key, and the keys of the tasks that must be finished before."""

    key: str
    argument: Argument
    after: tuple[str, ...] = ()


class Graph(Generic[Argument]):
    """The state of every task: waiting, ready, running, done, or lost with its workers."""

    def __init__(self, tasks: Sequence[Task[Argument]]) -> None:
        _check_keys(tasks)
        self._tasks = {task.key: task for task in tasks}
        self._chains = _chain_lengths(tasks)
        self._order = TopologicalSorter({task.key: task.after for task in tasks})
        self._order.prepare()
        self._ready: list[tuple[int, int, str]] = []
        self._position = {task.key: position for position, task in enumerate(tasks)}
        self._losses: Counter[str] = Counter()
        self.running: set[str] = set()
        self.lost: dict[str, str] = {}  # key -> how the last of its workers ended
        self.done = 0
        self._release()

    @property
    def ready(self) -> bool:
        """Whether a task can be started now."""
        return bool(self._ready)

    @property
    def counts(self) -> Counts:
        """The number of tasks in each state."""
        running = len(self.running)
        return Counts(self.done, running, len(self._tasks) - self.done - running)

    def start(self) -> Task[Argument]:
        """Take the ready task at the head of the longest chain.

        A long chain that starts last would leave all workers but one without work.
        """
        key = heapq.heappop(self._ready)[-1]
        self.running.add(key)
        return self._tasks[key]

    def finish(self, key: str) -> None:
        """Mark a running task as done and release the tasks that waited for it."""
        self.running.remove(key)
        self.done += 1
        self._order.done(key)
        self._release()

    def lose(self, key: str, reason: str) -> None:
        """Make a task ready again after its worker died, or give it up after `RETRIES` retries."""
        self.running.remove(key)
        self._losses[key] += 1
        if self._losses[key] <= RETRIES:
            self._push(key)
        else:
            self.lost[key] = reason

    def _release(self) -> None:
        for key in self._order.get_ready():
            self._push(key)

    def _push(self, key: str) -> None:
        heapq.heappush(self._ready, (-self._chains[key], self._position[key], key))


def _check_keys(tasks: Sequence[Task[Argument]]) -> None:
    counts = Counter(task.key for task in tasks)
    repeated = sorted(key for key, count in counts.items() if count > 1)
    if repeated:
        raise ValueError(f"tasks with the same key: {', '.join(repeated)}")
    unknown = sorted({need for task in tasks for need in task.after} - counts.keys())
    if unknown:
        raise ValueError(f"tasks wait for keys that no task has: {', '.join(unknown)}")


def _chain_lengths(tasks: Sequence[Task[Argument]]) -> dict[str, int]:
    """For each task, the number of tasks on the longest path from it to the end of the graph."""
    needs = {task.key: task.after for task in tasks}
    try:
        order = tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise ValueError(f"tasks wait for each other in a circle: {circle}") from error
    length = dict.fromkeys(order, 1)
    for key in reversed(order):
        for need in needs[key]:
            length[need] = max(length[need], length[key] + 1)
    return length


def execute_graph(
    graph: Graph[Argument], opening: AbstractContextManager[Workers[Argument, Result]], watch: Watch
) -> Iterator[tuple[str, Result]]:
    """Run all tasks and yield each key and result when it is ready."""
    if not graph.ready:
        return  # no work, so no worker is started
    with opening as workers:
        _start_ready(workers, graph)
        watch(graph.counts)
        while graph.running:
            results = _record(graph, workers.finished())
            _start_ready(workers, graph)  # before the caller spends time on the results
            watch(graph.counts)
            yield from results
    if graph.lost:
        raise UserError(_loss_message(graph))


def _start_ready(workers: Workers[Argument, Result], graph: Graph[Argument]) -> None:
    while workers.free and graph.ready:
        task = graph.start()
        workers.start(task.key, task.argument)


def _record(
    graph: Graph[Argument], outcomes: Sequence[tuple[str, Done[Result] | Failed | Lost]]
) -> list[tuple[str, Result]]:
    """Update the graph and return the results; the first error of a job is raised."""
    results = []
    for key, outcome in outcomes:
        if isinstance(outcome, Failed):
            raise outcome.error
        if isinstance(outcome, Lost):
            graph.lose(key, outcome.reason)
        else:
            graph.finish(key)
            results.append((key, outcome.value))
    return results


def _loss_message(graph: Graph[Argument]) -> str:
    lost = "; ".join(f"job {key} {reason}" for key, reason in graph.lost.items())
    waiting = graph.counts.left - len(graph.lost)
    return (
        f"{len(graph.lost)} of {graph.counts.done + graph.counts.left} jobs lost their worker "
        f"{RETRIES + 1} times, perhaps because memory ran out ({lost}); {waiting} more need them. "
        f"The {graph.done} finished jobs are kept: run the same command with --resume, and "
        "perhaps with fewer --jobs."
    )
