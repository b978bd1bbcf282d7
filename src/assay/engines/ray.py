"""How does Ray do the work, on this machine or on a cluster that is joined?

The one place where Ray is imported. The nodes of a cluster must have assay installed and see the
run directory under the same path, because jobs leave their results there.
"""

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from assay.engines.graph import Done, Failed, Lost, Workers, attempt
from assay.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")
MISSING = "--engine ray needs Ray, which is not installed: pip install 'attn-assay[ray]'"
STORE_BYTES = 256 * 2**20  # holds the arguments of running jobs; beyond it Ray uses the disk
KNOCK_SECONDS = 10.0
# Silent, offline, and without a hand in which graphics cards a job may see: that is the job's.
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray_installed() -> bool:
    return find_spec("ray") is not None


@contextmanager
def on_ray(
    function: Callable[[Argument], Result], workers: int, address: str | None
) -> Iterator[Workers[Argument, Result]]:
    with joined_ray(address) if address else local_ray(workers):
        crew = _Rays(function, workers)
        try:
            yield crew
        finally:
            crew.cancel()


@contextmanager
def local_ray(workers: int) -> Iterator[None]:
    """A Ray of our own for as long as the work lasts; one that is already there is used."""
    import ray

    if ray.is_initialized():
        yield
        return
    os.environ.update({name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()})
    # Not in $TMPDIR: Ray puts sockets there, and a socket's whole path has about 100 characters.
    place = "/tmp" if os.name == "posix" else None
    with tempfile.TemporaryDirectory(
        prefix=f"assay-{os.getpid()}-", dir=place, ignore_cleanup_errors=True
    ) as folder:
        ray.init("local", num_cpus=workers, object_store_memory=STORE_BYTES, _temp_dir=folder,
                 include_dashboard=False, log_to_driver=False,
                 logging_level=logging.ERROR)  # fmt: skip
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def joined_ray(address: str) -> Iterator[None]:
    import ray

    try:
        _knock(address)
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise UserError(
            f"--ray-address {address} cannot be joined ({error}): check that the cluster runs "
            "and has this version of Ray, or leave the option out for a Ray on this machine."
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Is anyone there? Ray itself waits for minutes. Addresses without a port are Ray's to read."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), KNOCK_SECONDS).close()


class _Rays(Generic[Argument, Result]):
    """Every job is a native task with one processor."""

    def __init__(self, function: Callable[[Argument], Result], workers: int) -> None:
        import ray

        self._ray = ray
        self._function = function
        self._workers = workers
        # Ray shall not try again by itself: retries are counted once, for every engine alike.
        self._remote: Any = ray.remote(num_cpus=1, max_retries=0)(attempt)
        self._running: dict[ray.ObjectRef[Any], str] = {}

    @property
    def free(self) -> bool:
        return len(self._running) < self._workers

    def start(self, key: str, argument: Argument) -> None:
        self._running[self._remote.remote(self._function, argument)] = key

    def finished(self) -> list[tuple[str, Done[Result] | Failed | Lost]]:
        ready, _ = self._ray.wait(list(self._running), num_returns=1)
        return [(self._running.pop(reference), self._outcome(reference)) for reference in ready]

    def _outcome(self, reference: Any) -> Done[Result] | Failed | Lost:
        errors = self._ray.exceptions
        try:
            outcome: Done[Result] | Failed = self._ray.get(reference)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError,
                errors.ObjectLostError) as death:  # fmt: skip
            return Lost(f"was lost by Ray ({type(death).__name__})")
        except errors.RayTaskError as unsendable:
            return Failed(unsendable)
        return outcome

    def cancel(self) -> None:
        for reference in self._running:
            self._ray.cancel(reference, force=True)
