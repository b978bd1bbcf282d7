"""Where does work run: here, in several processes, or on Ray?

An engine knows a function and a graph of arguments, nothing of what they mean. Results come as
they are ready; callers must not depend on their order. The number of torch threads belongs to
the job, never to the engine, so that every engine gives the same bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from assay.engines.graph import Graph, Task, Workers, execute_graph
from assay.engines.local import processes, serial
from assay.engines.ray import MISSING, on_ray, ray_installed
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
    """Yield each result when it is ready; no job waits for another."""
    tasks = [Task(str(number), argument) for number, argument in enumerate(arguments)]
    pairs = run_graph(engine, function, tasks, workers, ray_address=ray_address, watch=watch)
    return (result for _, result in pairs)


def run_graph(
    engine: str,
    function: Callable[[Argument], Result],
    tasks: Sequence[Task[Argument]],
    workers: int,
    *,
    ray_address: str | None = None,
    watch: Watch = ignore,
) -> Iterator[tuple[str, Result]]:
    """Yield each task's key and result when it is ready; a task starts after all it needs."""
    faults = list(engine_faults(engine, ray_address))
    if workers < 1:
        faults.append(f"--jobs {workers} is too low: pass a whole number from 1 up.")
    if faults:
        raise UserError("\n       ".join(faults))
    workers = min(workers, max(len(tasks), 1))
    return execute_graph(Graph(tasks), open_workers(engine, function, workers, ray_address), watch)


def engine_faults(engine: str, ray_address: str | None = None) -> Iterator[str]:
    """What is wrong with the engine asked for, each fault with its cure."""
    if engine not in ENGINES:
        yield f"--engine '{engine}' is unknown: pass {' or '.join(ENGINES)}."
    if engine == "ray" and not ray_installed():
        yield f"{MISSING}."
    if engine != "ray" and ray_address is not None:
        yield f"--ray-address {ray_address} is for Ray alone: add --engine ray."


def open_workers(
    engine: str,
    function: Callable[[Argument], Result],
    workers: int,
    ray_address: str | None = None,
) -> AbstractContextManager[Workers[Argument, Result]]:
    """Workers who stay from graph to graph until they are dismissed."""
    if engine == "processes":
        return processes(function, workers)
    if engine == "ray":
        return on_ray(function, workers, ray_address)
    return serial(function)


__all__ = [
    "ENGINES",
    "Graph",
    "Task",
    "Workers",
    "engine_faults",
    "execute_graph",
    "open_workers",
    "run_graph",
    "run_jobs",
]
