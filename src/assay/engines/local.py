"""How does work run here, one job after another?

How do several processes share the work, so that the death of one costs one job alone?

The standard pool gives up as a whole when one of its processes is killed. Here every process
has a pipe of its own, over which a job goes out and its outcome comes back; a broken pipe
concerns the job at its end and no other.
"""

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


def serial(
    function: Callable[[Argument], Result],
) -> AbstractContextManager[Workers[Argument, Result]]:
    return nullcontext(_Alone(function))


class _Alone(Generic[Argument, Result]):
    """A job runs when its result is asked for; what it raises is raised as it is."""

    def __init__(self, function: Callable[[Argument], Result]) -> None:
        self._function = function
        self._given: list[tuple[str, Argument]] = []

    @property
    def free(self) -> bool:
        return not self._given

    def start(self, key: str, argument: Argument) -> None:
        self._given.append((key, argument))

    def finished(self) -> Sequence[tuple[str, Done[Result]]]:
        key, argument = self._given.pop()
        return [(key, Done(self._function(argument)))]


GRACE_SECONDS = 5.0  # for a worker without work to end by itself


@contextmanager
def processes(
    function: Callable[[Argument], Result], workers: int
) -> Iterator[Workers[Argument, Result]]:
    crew = _Pool(function, workers)
    try:
        yield crew
    finally:
        crew.close()


class _Pool(Generic[Argument, Result]):
    """Processes are started when there is work for them and kept from job to job."""

    def __init__(self, function: Callable[[Argument], Result], workers: int) -> None:
        self._function = function
        self._workers = workers
        self._idle: list[_Worker] = []
        self._busy: dict[str, _Worker] = {}

    @property
    def free(self) -> bool:
        return len(self._busy) < self._workers

    def start(self, key: str, argument: Argument) -> None:
        worker = self._idle.pop() if self._idle else _Worker(self._function)
        self._busy[key] = worker
        worker.give(argument)

    def finished(self) -> list[tuple[str, Done[Result] | Failed | Lost]]:
        ready = set(wait([sign for worker in self._busy.values() for sign in worker.signs]))
        ended = [key for key, worker in self._busy.items() if ready & set(worker.signs)]
        return [(key, self._take(key)) for key in ended]

    def _take(self, key: str) -> Done[Result] | Failed | Lost:
        worker = self._busy.pop(key)
        outcome: Done[Result] | Failed | Lost = worker.answer()
        if isinstance(outcome, Lost):
            worker.end()
        else:
            self._idle.append(worker)
        return outcome

    def close(self) -> None:
        """Jobs still running are stopped: whatever they had begun to write is under a temporary
        name, so nothing half-done is ever taken for a result."""
        for worker in self._busy.values():
            worker.process.terminate()
        for worker in (*self._idle, *self._busy.values()):
            worker.end()


class _Worker:
    def __init__(self, function: Callable[[Any], Any]) -> None:
        # Spawned, not forked: a fork copies torch's thread pools in an undefined state.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(function, theirs), daemon=True)
        self.process.start()
        theirs.close()  # now the worker alone holds its end, and the end dies with it
        self.signs: tuple[Any, ...] = (self.pipe, self.process.sentinel)

    def give(self, argument: Any) -> None:
        try:
            self.pipe.send(argument)
        except ConnectionError:
            # It died while it had no work: its sentinel tells so as soon as we wait for it.
            self.process.join()

    def answer(self) -> Any:
        """The outcome sent; a process that ended without one has lost its job."""
        try:
            if self.pipe.poll():
                return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()  # the pipe closes a moment before the process is gone
        return Lost(_ending(self.process.exitcode))

    def end(self) -> None:
        self.pipe.close()
        self.process.join(GRACE_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def serve(function: Callable[[Any], Any], pipe: Connection) -> None:
    """A worker's whole life: one job after another until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends us
    # A parent that is gone is an end like any other: finished jobs have their files in place.
    with suppress(EOFError, ConnectionError):
        while True:
            packed = pipe.recv_bytes()
            _answer(pipe, attempt(_unpacked(function), packed))


def _unpacked(function: Callable[[Any], Any]) -> Callable[[bytes], Any]:
    """Unpacking is part of the job: an argument that cannot be read fails it with its words."""
    return lambda packed: function(ForkingPickler.loads(packed))


def _answer(pipe: Connection, outcome: Done[Any] | Failed) -> None:
    try:
        packed = ForkingPickler.dumps(outcome)
    except Exception as error:
        words = f"the result cannot be sent to another process: {error!r}"
        packed = ForkingPickler.dumps(Failed(TypeError(words)))
    pipe.send_bytes(packed)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
