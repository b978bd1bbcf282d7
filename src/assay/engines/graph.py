"""Which jobs may start now, which must wait, and how many are left?"""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Generic, TypeVar

Argument = TypeVar("Argument")
RETRIES = 2  # of a job whose worker died: a passing want of memory, not a job that always kills


@dataclass(frozen=True)
class Task(Generic[Argument]):
    """An argument with a name, and the names of those that must be finished before it."""

    key: str
    argument: Argument
    after: tuple[str, ...] = ()


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
