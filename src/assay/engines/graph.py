"""How can a job end, and what must a crew of workers be able to do?

Which jobs may start now, which must wait, and how many are left?

In which order is a graph of jobs worked off, and what if a worker dies?

A dead worker costs the others nothing: its job is tried again, and when that is of no use, all
that does not wait for this job is finished before the loss is told.
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


@dataclass(frozen=True)
class Done(Generic[Result]):
    value: Result


@dataclass(frozen=True)
class Failed:
    """The function raised: the caller gets its error, with the worker's traceback as a note."""

    error: Exception


@dataclass(frozen=True)
class Lost:
    """The worker ended without an answer."""

    words: str


class Workers(Protocol[Input, Result]):
    """Workers that take one job each; how they do it is the engine's own affair."""

    @property
    def free(self) -> bool:
        """May another job be started now?"""

    def start(self, key: str, argument: Input) -> None: ...

    def finished(self) -> Sequence[tuple[str, Done[Result] | Failed | Lost]]:
        """Wait until at least one job has ended."""


def attempt(function: Callable[[Argument], Result], argument: Argument) -> Done[Result] | Failed:
    """Run a job in a worker; whatever it raises becomes an answer that can travel."""
    try:
        return Done(function(argument))
    except Exception as error:
        return Failed(portable(error, traceback.format_exc()))


def portable(error: Exception, trace: str) -> Exception:
    """The same error with its traceback as a note; its words alone if it cannot be sent."""
    try:
        travelling = copy(error)  # builds it anew as unpickling would
        travelling.add_note(trace)
        ForkingPickler.dumps(travelling)
    except Exception:
        return RuntimeError(trace)
    return travelling


RETRIES = 2  # of a job whose worker died: a passing want of memory, not a job that always kills


@dataclass(frozen=True)
class Task(Generic[Argument]):
    """An argument with a name, and the names of those that must be finished before it."""

    key: str
    argument: Argument
    after: tuple[str, ...] = ()


class Graph(Generic[Argument]):
    """The state of every task: waiting, ready, running, done, or lost with its workers."""

    def __init__(self, tasks: Sequence[Task[Argument]]) -> None:
        _check_keys(tasks)
        self._tasks = {task.key: task for task in tasks}
        self._chains = _chains(tasks)
        self._order = TopologicalSorter({task.key: task.after for task in tasks})
        self._order.prepare()
        self._ready: list[tuple[int, int, str]] = []
        self._place = {task.key: place for place, task in enumerate(tasks)}
        self._losses: Counter[str] = Counter()
        self.running: set[str] = set()
        self.lost: dict[str, str] = {}  # key -> how the last of its workers ended
        self.done = 0
        self._release()

    @property
    def ready(self) -> bool:
        return bool(self._ready)

    @property
    def counts(self) -> Counts:
        running = len(self.running)
        return Counts(self.done, running, len(self._tasks) - self.done - running)

    def start(self) -> Task[Argument]:
        """The task that is most urgent now: the head of the longest chain.

        A long chain that starts last would leave every worker but one without work.
        """
        key = heapq.heappop(self._ready)[-1]
        self.running.add(key)
        return self._tasks[key]

    def finish(self, key: str) -> None:
        self.running.remove(key)
        self.done += 1
        self._order.done(key)
        self._release()

    def lose(self, key: str, words: str) -> None:
        """Its worker died: try again, or give up and never start what waits for it."""
        self.running.remove(key)
        self._losses[key] += 1
        if self._losses[key] <= RETRIES:
            self._push(key)
        else:
            self.lost[key] = words

    def _release(self) -> None:
        for key in self._order.get_ready():
            self._push(key)

    def _push(self, key: str) -> None:
        heapq.heappush(self._ready, (-self._chains[key], self._place[key], key))


def _check_keys(tasks: Sequence[Task[Argument]]) -> None:
    often = Counter(task.key for task in tasks)
    twice = sorted(key for key, times in often.items() if times > 1)
    if twice:
        raise ValueError(f"tasks with the same key: {', '.join(twice)}")
    unknown = sorted({need for task in tasks for need in task.after} - often.keys())
    if unknown:
        raise ValueError(f"tasks wait for keys that no task has: {', '.join(unknown)}")


def _chains(tasks: Sequence[Task[Argument]]) -> dict[str, int]:
    """Per task, how many must run one after another from it to the end of the graph."""
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
    graph: Graph[Argument], opened: AbstractContextManager[Workers[Argument, Result]], watch: Watch
) -> Iterator[tuple[str, Result]]:
    """Each task's key and result when it is ready."""
    if not graph.ready:
        return  # nothing to do, so no workers are called
    with opened as crew:
        _fill(crew, graph)
        watch(graph.counts)
        while graph.running:
            results = _settle(graph, crew.finished())
            _fill(crew, graph)  # before the caller takes its time over the results
            watch(graph.counts)
            yield from results
    if graph.lost:
        raise UserError(_told(graph))


def _fill(crew: Workers[Argument, Result], graph: Graph[Argument]) -> None:
    while crew.free and graph.ready:
        task = graph.start()
        crew.start(task.key, task.argument)


def _settle(
    graph: Graph[Argument], ended: Sequence[tuple[str, Done[Result] | Failed | Lost]]
) -> list[tuple[str, Result]]:
    results = []
    for key, outcome in ended:
        if isinstance(outcome, Failed):
            raise outcome.error
        if isinstance(outcome, Lost):
            graph.lose(key, outcome.words)
        else:
            graph.finish(key)
            results.append((key, outcome.value))
    return results


def _told(graph: Graph[Argument]) -> str:
    gone = "; ".join(f"job {key} {words}" for key, words in graph.lost.items())
    waiting = graph.counts.left - len(graph.lost)
    return (
        f"{len(graph.lost)} of {graph.counts.done + graph.counts.left} jobs lost their worker "
        f"{RETRIES + 1} times, perhaps for want of memory ({gone}); {waiting} more need them. "
        f"The {graph.done} finished jobs are kept: run the same command with --resume, and "
        "perhaps fewer --jobs."
    )
