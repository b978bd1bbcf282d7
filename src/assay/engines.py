"""Where does work run: here, or in several processes?

An engine knows a function and a list of arguments, nothing of what they mean. Results come as
they are ready; callers must not depend on their order. The number of torch threads belongs to
the job, never to the engine, so that every engine gives the same bytes.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from assay.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")
ENGINES = ("serial", "processes")


def run_jobs(
    engine: str, function: Callable[[Argument], Result], arguments: Sequence[Argument], workers: int
) -> Iterator[Result]:
    """Yield each result when it is ready."""
    if engine not in ENGINES:
        raise UserError(f"unknown engine {engine!r}: pass one of {', '.join(ENGINES)}")
    if workers < 1:
        raise UserError(f"--jobs {workers}: at least one worker is needed")
    if engine == "serial" or not arguments:
        return map(function, arguments)
    return _processes(function, arguments, workers)


def _processes(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], workers: int
) -> Iterator[Result]:
    # Spawned, not forked: a fork copies torch's thread pools in an undefined state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(arguments)), mp_context=context) as pool:
        pending = [pool.submit(function, argument) for argument in arguments]
        try:
            for future in as_completed(pending):
                yield future.result()
        except BrokenProcessPool as error:
            raise UserError(
                "a worker process died, perhaps for want of memory. What was measured is kept: "
                "run the same command with --resume, and perhaps fewer --jobs."
            ) from error
        finally:
            for future in pending:
                future.cancel()
