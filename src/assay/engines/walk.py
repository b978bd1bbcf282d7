"""In which order is a graph of jobs worked off, and what if a worker dies?

A dead worker costs the others nothing: its job is tried again, and when that is of no use, all
that does not wait for this job is finished before the loss is told.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from assay.engines.graph import RETRIES, Graph, Watch
from assay.engines.outcomes import Crew, Done, Failed, Lost
from assay.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def walk(
    graph: Graph[Argument], opened: AbstractContextManager[Crew[Argument, Result]], watch: Watch
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


def _fill(crew: Crew[Argument, Result], graph: Graph[Argument]) -> None:
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
