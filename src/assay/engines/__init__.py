"""Engines that run a graph of jobs: in this process, in several processes, or on Ray.

An engine gets a function and a graph of its arguments and does not know what they mean. Results
are yielded in the order in which they become ready, and callers must not depend on it. The number
of torch threads belongs to the job, never to the engine, so that every engine gives the same bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from assay.config import Execution
from assay.engines.graph import Graph, Task, Workers, execute_graph
from assay.engines.local import process_workers, serial_workers
from assay.engines.ray import MISSING, ray_installed, ray_session, ray_workers
from assay.engines.shared import shared_objects
from assay.errors import UserError
from assay.progress import Watch, ignore

Argument = TypeVar("Argument")
Result = TypeVar("Result")
ENGINES = ("serial", "processes", "ray")


def run_jobs(
    engine: str,
    function: Callable[[Argument], Result],
    arguments: Sequence[Argument],
    workers: int,
    *,
    ray_address: str | None = None,
    watch: Watch = ignore,
) -> Iterator[Result]:
    """Run independent jobs and yield each result when it is ready."""
    tasks = [Task(str(number), argument) for number, argument in enumerate(arguments)]
    pairs = run_graph(engine, function, tasks, workers, ray_address=ray_address, watch=watch)
    return (result for _, result in pairs)


def execute_jobs(
    execution: Execution,
    label: str,
    function: Callable[[Argument], Result],
    arguments: Sequence[Argument],
) -> Iterator[Result]:
    """Run independent jobs as a command asks for it, and show their progress under a label."""
    with execution.watching(label) as watch:
        yield from run_jobs(
            execution.engine,
            function,
            arguments,
            execution.workers,
            ray_address=execution.ray_address,
            watch=watch,
        )


def run_graph(
    engine: str,
    function: Callable[[Argument], Result],
    tasks: Sequence[Task[Argument]],
    workers: int,
    *,
    ray_address: str | None = None,
    watch: Watch = ignore,
) -> Iterator[tuple[str, Result]]:
    """Run tasks, each after those it needs, and yield each key and result when it is ready."""
    faults = list(engine_faults(engine, ray_address))
    if workers < 1:
        faults.append(f"--jobs {workers} is too low: pass a whole number from 1 up.")
    if faults:
        raise UserError("\n       ".join(faults))
    workers = min(workers, max(len(tasks), 1))
    shared = shared_objects(tasks) if engine == "ray" else ()
    opening = open_workers(engine, function, workers, ray_address, shared=shared)
    return execute_graph(Graph(tasks), opening, watch)


def engine_faults(engine: str, ray_address: str | None = None) -> Iterator[str]:
    """The faults in the choice of an engine, each with its cure."""
    if engine not in ENGINES:
        yield f"--engine '{engine}' is unknown: pass {' or '.join(ENGINES)}."
    if engine == "ray" and not ray_installed():
        yield f"{MISSING}."
    if engine != "ray" and ray_address is not None:
        yield f"--ray-address {ray_address} is only for Ray: add --engine ray."


def open_workers(
    engine: str,
    function: Callable[[Argument], Result],
    workers: int,
    ray_address: str | None = None,
    *,
    shared: Sequence[Any] = (),
) -> AbstractContextManager[Workers[Argument, Result]]:
    """Workers of an engine; they can run several graphs before the context ends.

    `shared` are objects that several arguments have in common, which Ray sends only once.
    """
    if engine == "processes":
        return process_workers(function, workers)
    if engine == "ray":
        return ray_workers(function, workers, ray_address, shared)
    return serial_workers(function)


@contextmanager
def engine_session(workers: int) -> Iterator[None]:
    """Let all graphs within it use the same Ray, which starts when the first of them needs it.

    `workers` is the largest number of workers of any of these graphs.
    """
    with ray_session(workers):
        yield


__all__ = [
    "ENGINES",
    "Graph",
    "Task",
    "Workers",
    "engine_faults",
    "engine_session",
    "execute_graph",
    "open_workers",
    "run_graph",
    "run_jobs",
]
