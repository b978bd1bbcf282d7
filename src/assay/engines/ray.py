"""The Ray engine, on this machine or on a cluster.

This is the only module that imports Ray. The nodes of a cluster must have assay installed and
see the run directory under the same path, because jobs write their results there.
"""

import logging
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from assay.engines.graph import Done, Failed, Lost, Workers, attempt
from assay.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")
MISSING = "--engine ray needs Ray, which is not installed: pip install 'attn-assay[ray]'"
STORE_BYTES = 256 * 2**20  # for the arguments of running jobs; beyond it Ray uses the disk
CONNECT_SECONDS = 10.0
# No usage statistics, and no change to the graphics cards a job sees: those belong to the job.
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray_installed() -> bool:
    """Whether Ray can be imported."""
    return find_spec("ray") is not None


@contextmanager
def ray_workers(
    function: Callable[[Argument], Result], count: int, address: str | None
) -> Iterator[Workers[Argument, Result]]:
    """Up to `count` Ray tasks at a time, on the cluster at `address` or on this machine."""
    with joined_ray(address) if address else local_ray(count):
        workers = _RayTasks(function, count)
        try:
            yield workers
        finally:
            workers.cancel()


@contextmanager
def local_ray(workers: int) -> Iterator[None]:
    """Start Ray on this machine and stop it afterwards, unless it is running already."""
    import ray

    if ray.is_initialized():
        yield
        return
    os.environ.update({name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()})
    # Not in $TMPDIR: Ray creates sockets there, and a socket's path is limited to about 100 bytes.
    parent = "/tmp" if os.name == "posix" else None
    with tempfile.TemporaryDirectory(
        prefix=f"assay-{os.getpid()}-", dir=parent, ignore_cleanup_errors=True
    ) as folder:
        with _own_signals():
            ray.init(
                "local",
                num_cpus=workers,
                object_store_memory=STORE_BYTES,
                _temp_dir=folder,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def joined_ray(address: str) -> Iterator[None]:
    """Join a running cluster and leave it afterwards."""
    import ray

    try:
        _check_connection(address)
        with _own_signals():
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise UserError(
            f"--ray-address {address} cannot be joined ({error}): check that the cluster runs "
            "and has this version of Ray, or leave the option out to run Ray on this machine."
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this process's handler of SIGTERM.

    Ray installs one that aborts the process with a native stack trace, so that nothing would be
    said about how to continue.
    """
    before = signal.getsignal(signal.SIGTERM)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def _check_connection(address: str) -> None:
    """Fail within seconds if nothing listens at the address, because Ray waits for minutes.

    Addresses without a port, such as `auto`, are left to Ray.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()


class _RayTasks(Generic[Argument, Result]):
    """Jobs as Ray tasks with one processor each."""

    def __init__(self, function: Callable[[Argument], Result], count: int) -> None:
        import ray

        self._ray = ray
        self._function = function
        self._count = count
        # No retries by Ray: the graph counts them, in the same way for every engine.
        self._remote: Any = ray.remote(num_cpus=1, max_retries=0)(attempt)
        self._running: dict[ray.ObjectRef[Any], str] = {}

    @property
    def free(self) -> bool:
        return len(self._running) < self._count

    def start(self, key: str, argument: Argument) -> None:
        self._running[self._remote.remote(self._function, argument)] = key

    def finished(self) -> list[tuple[str, Done[Result] | Failed | Lost]]:
        ready, _ = self._ray.wait(list(self._running), num_returns=1)
        return [(self._running.pop(reference), self._outcome(reference)) for reference in ready]

    def _outcome(self, reference: Any) -> Done[Result] | Failed | Lost:
        errors = self._ray.exceptions
        try:
            outcome: Done[Result] | Failed = self._ray.get(reference)
        except (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.OutOfMemoryError,
            errors.ObjectLostError,
        ) as loss:
            return Lost(f"was lost by Ray ({type(loss).__name__})")
        except errors.RayTaskError as error:  # the result cannot be pickled
            return Failed(error)
        return outcome

    def cancel(self) -> None:
        """Stop the jobs that still run."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
