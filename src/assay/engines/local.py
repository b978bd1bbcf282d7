"""Engines on this machine: one job after another, or several worker processes side by side.

The death of a worker process (killed, out of memory) must cost only the job it was running.
`concurrent.futures.ProcessPoolExecutor` cannot promise this: when one of its processes dies, every
job that has been submitted fails with `BrokenProcessPool`. One executor with a single process per
slot would contain the damage, but we tried it and it is not simpler. Before Python 3.14 it has no
public way to stop a running process, it does not report how a process ended, and its processes
stay forever when the parent is killed, each with half a gigabyte of libraries
(`tests/engines/test_process_pools.py` shows both faults). Here every process has its own pipe. A
job goes out and its outcome comes back through it, so a broken pipe concerns one job, and a worker
whose parent is gone reads the end of its pipe and exits.
"""

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, TypeVar

from assay.engines.graph import Done, Failed, Lost, Workers, attempt

Argument = TypeVar("Argument")
Result = TypeVar("Result")
GRACE_SECONDS = 5.0  # for an idle process to exit by itself


def serial_workers(
    function: Callable[[Argument], Result],
) -> AbstractContextManager[Workers[Argument, Result]]:
    """The calling process as the only worker."""
    return nullcontext(_CallingProcess(function))


class _CallingProcess(Generic[Argument, Result]):
    """Runs a job when its result is awaited; exceptions of the job are raised unchanged."""

    def __init__(self, function: Callable[[Argument], Result]) -> None:
        self._function = function
        self._next: list[tuple[str, Argument]] = []

    @property
    def free(self) -> bool:
        return not self._next

    def start(self, key: str, argument: Argument) -> None:
        self._next.append((key, argument))

    def finished(self) -> Sequence[tuple[str, Done[Result]]]:
        key, argument = self._next.pop()
        return [(key, Done(self._function(argument)))]


@contextmanager
def process_workers(
    function: Callable[[Argument], Result], count: int
) -> Iterator[Workers[Argument, Result]]:
    """Up to `count` worker processes, which are stopped at the end."""
    workers = _Processes(function, count)
    try:
        yield workers
    finally:
        workers.close()


class _Processes(Generic[Argument, Result]):
    """Worker processes, started when there is work for them and kept from job to job."""

    def __init__(self, function: Callable[[Argument], Result], count: int) -> None:
        self._function = function
        self._count = count
        self._idle: list[_Process] = []
        self._busy: dict[str, _Process] = {}

    @property
    def free(self) -> bool:
        return len(self._busy) < self._count

    def start(self, key: str, argument: Argument) -> None:
        worker = self._idle.pop() if self._idle else _Process(self._function)
        self._busy[key] = worker
        worker.send(argument)

    def finished(self) -> list[tuple[str, Done[Result] | Failed | Lost]]:
        ready = set(wait([handle for worker in self._busy.values() for handle in worker.handles]))
        ended = [key for key, worker in self._busy.items() if ready & set(worker.handles)]
        return [(key, self._collect(key)) for key in ended]

    def _collect(self, key: str) -> Done[Result] | Failed | Lost:
        worker = self._busy.pop(key)
        outcome: Done[Result] | Failed | Lost = worker.outcome()
        if isinstance(outcome, Lost):
            worker.close()
        else:
            self._idle.append(worker)
        return outcome

    def close(self) -> None:
        """Stop all processes, also those that still run a job.

        Jobs write under temporary names, so an unfinished file is never taken for a result.
        """
        for worker in self._busy.values():
            worker.process.terminate()
        workers = (*self._idle, *self._busy.values())
        for worker in workers:
            worker.pipe.close()  # all processes end at the same time
        for worker in workers:
            worker.close()


class _Process:
    """A worker process and our end of its pipe."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        # Spawned, not forked: a fork copies torch's thread pools in an undefined state.
        context = multiprocessing.get_context("spawn")
        self.pipe, worker_end = context.Pipe()
        self.process = context.Process(target=serve, args=(function, worker_end), daemon=True)
        self.process.start()
        worker_end.close()  # now only the worker holds its end, and the end closes when it dies
        self.handles: tuple[Any, ...] = (self.pipe, self.process.sentinel)

    def send(self, argument: Any) -> None:
        try:
            self.pipe.send(argument)
        except ConnectionError:
            # The process died while it was idle. Its sentinel is ready when we wait for the job.
            self.process.join()

    def outcome(self) -> Any:
        """The outcome that the process sent; if it ended without one, its job is lost."""
        with suppress(EOFError, OSError):
            if self.pipe.poll():
                return self.pipe.recv()
        self.process.join()  # pipe and sentinel close a moment before the exit code is known
        return Lost(_describe_exit(self.process.exitcode))

    def close(self) -> None:
        self.pipe.close()
        self.process.join(GRACE_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def serve(function: Callable[[Any], Any], pipe: Connection) -> None:
    """Run jobs from the pipe in a worker process, one after another, until the pipe closes."""
    # Ctrl-C reaches every process of the terminal; the parent stops this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not the command line's handler
    # If the parent is gone, exit quietly: the files of finished jobs are complete.
    with suppress(EOFError, ConnectionError):
        while True:
            packed = pipe.recv_bytes()
            _send_outcome(pipe, attempt(_unpickling(function), packed))
    # Leave all objects out of the search for garbage at exit, for which the parent would wait.
    gc.freeze()


def _unpickling(function: Callable[[Any], Any]) -> Callable[[bytes], Any]:
    """Make unpickling a part of the job, so that an unreadable argument is an error of the job."""
    return lambda packed: function(ForkingPickler.loads(packed))


def _send_outcome(pipe: Connection, outcome: Done[Any] | Failed) -> None:
    try:
        packed = ForkingPickler.dumps(outcome)
    except Exception as error:
        message = f"the result cannot be sent to another process: {error!r}"
        packed = ForkingPickler.dumps(Failed(TypeError(message)))
    pipe.send_bytes(packed)


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
