"""The Ray engine, on this machine or on a cluster.

This is the only module that imports Ray. The nodes of a cluster must have assay installed and
see the run directory under the same path, because jobs write their results there.

The loss of a worker or of a node costs only the jobs that it was running. The loss of the head, or
of the node that this process is connected to, ends the run with an error.
"""

import logging
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from assay.engines.graph import Done, Failed, Lost, Workers, attempt
from assay.engines.shared import Packed, Packer, unpack
from assay.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")
MISSING = "--engine ray needs Ray, which is not installed: pip install 'attn-assay[ray]'"
STORE_BYTES = 256 * 2**20  # for the arguments of running jobs; beyond it Ray uses the disk
CONNECT_SECONDS = 10.0
WAIT_SECONDS = 2.0  # for a job, between looks at the head
HEAD_SECONDS = 20.0  # without an answer; after 60 Ray would end this process without our message
CONTINUE = (
    "The finished jobs are kept: run the same command with --resume when the cluster runs again, "
    "or with --resume and another --engine."
)
# No usage statistics, and no change to the graphics cards a job sees: those belong to the job.
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray_installed() -> bool:
    """Whether Ray can be imported."""
    return find_spec("ray") is not None


@contextmanager
def ray_workers(
    function: Callable[[Argument], Result],
    count: int,
    address: str | None,
    shared: Sequence[Any] = (),
) -> Iterator[Workers[Argument, Result]]:
    """Up to `count` Ray tasks at a time, on the cluster at `address` or on this machine.

    `shared` are objects that several arguments have in common; they are sent once.
    """
    with ExitStack() as stack:
        session = _session or stack.enter_context(ray_session(count))
        session.start(address)
        workers = _RayTasks(function, count, shared, _Head.of_running_ray(address))
        try:
            yield workers
        finally:
            if session.found_running:
                workers.cancel()


@dataclass
class Session:
    """A Ray that is started when it is first needed and serves all graphs until the end."""

    workers: int
    stack: ExitStack
    started: bool = field(default=False, init=False)
    # Ray was running in this process before. It then outlives the session, and so would its jobs.
    # Any other Ray ends its jobs when this process leaves it. To cancel them before that is not
    # safe: a job that finishes at the same moment makes Ray abort this process.
    found_running: bool = field(default=False, init=False)

    def start(self, address: str | None) -> None:
        """Start Ray, or join the cluster, unless that is done."""
        import ray

        if not self.started:
            self.found_running = ray.is_initialized()
            self.stack.enter_context(joined_ray(address) if address else local_ray(self.workers))
            self.started = True


_session: Session | None = None  # one for the whole process, as Ray itself


@contextmanager
def ray_session(workers: int) -> Iterator[Session]:
    """Let all graphs use the same Ray; an inner session is a part of the outer one."""
    global _session
    if _session is not None:
        yield _session
        return
    with ExitStack() as stack:
        _session = Session(workers, stack)
        try:
            yield _session
        finally:
            _session = None


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
            _shut_down()


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
        _shut_down()


def _shut_down() -> None:
    import ray

    with _own_signals():
        ray.shutdown()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this process's handler of SIGTERM.

    When Ray starts, it installs one that aborts the process with a native stack trace, and when it
    stops, it lets the signal end the process. Nothing would be said about how to continue.
    """
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _check_connection(address: str) -> None:
    """Fail within seconds if nothing listens at the address, because Ray waits for minutes.

    Addresses without a port, such as `auto`, are left to Ray.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()


class _Head:
    """The head of the cluster and the node of this process: without them no result comes back."""

    def __init__(self, address: str, node: str | None = None) -> None:
        self._address = address
        self._node = node  # None for a Ray client, which is on no node
        self._silent_since: float | None = None

    @classmethod
    def of_running_ray(cls, address: str | None) -> "_Head":
        """The head that this process is connected to; a Ray client knows only its address."""
        import ray

        if address is not None and address.startswith("ray://"):
            return cls(address)
        context = ray.get_runtime_context()
        return cls(context.gcs_address, context.get_node_id())

    def check(self) -> None:
        """Raise an error if the node is dead or the head is silent for `HEAD_SECONDS`."""
        now = time.monotonic()
        try:
            _check_connection(self._address)
        except OSError as error:
            self._silent_since = self._silent_since or now
            if now - self._silent_since >= HEAD_SECONDS:
                lost = f"the head of the Ray cluster at {self._address} was lost ({error})"
                raise UserError(f"{lost}. {CONTINUE}") from error
        else:
            self._silent_since = None
            if self._node is not None and not _is_alive(self._node):
                raise self.node_lost()

    def node_lost(self) -> UserError:
        """The error if the node of this process is dead."""
        lost = f"the node of this command in the Ray cluster at {self._address} was lost"
        return UserError(f"{lost}. {CONTINUE}")


def _is_alive(node: str) -> bool:
    import ray

    return any(each["NodeID"] == node and each["Alive"] for each in ray.nodes())  # type: ignore[no-untyped-call]


def run_packed(content: bytes, references: Mapping[str, Any]) -> Done[Any] | Failed:
    """Run a packed job in a worker; the references are those of the parts that it needs."""
    import ray

    function, argument = unpack(content, tuple(references), lambda name: ray.get(references[name]))
    return attempt(function, argument)


class _RayTasks(Generic[Argument, Result]):
    """Jobs as Ray tasks with one processor each."""

    def __init__(
        self,
        function: Callable[[Argument], Result],
        count: int,
        shared: Sequence[Any],
        head: _Head,
    ) -> None:
        import ray
        from ray import cloudpickle

        self._ray = ray
        self._function = function
        self._count = count
        # No retries by Ray: the graph counts them, in the same way for every engine.
        self._remote: Any = ray.remote(num_cpus=1, max_retries=0)(run_packed)
        self._running: dict[ray.ObjectRef[Any], str] = {}
        self._references: dict[str, ray.ObjectRef[bytes]] = {}
        self._head = head
        self._packer = Packer(cloudpickle.Pickler, shared, self._put)

    def _put(self, part: Packed) -> None:
        self._references[part.name] = self._ray.put(part.content)

    @property
    def free(self) -> bool:
        return len(self._running) < self._count

    def start(self, key: str, argument: Argument) -> None:
        job = self._packer.pack((self._function, argument))
        references = {name: self._references[name] for name in job.needs}
        self._running[self._remote.remote(job.content, references)] = key

    def finished(self) -> list[tuple[str, Done[Result] | Failed | Lost]]:
        ready: list[Any] = []
        while not ready:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=WAIT_SECONDS)
            if not ready:
                self._head.check()
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
        except errors.LocalRayletDiedError as error:
            raise self._head.node_lost() from error
        except errors.RayTaskError as error:  # the result cannot be pickled
            return Failed(error)
        return outcome

    def cancel(self) -> None:
        """Stop the jobs that still run."""
        if not self._ray.is_initialized():
            return
        for reference in self._running:
            self._ray.cancel(reference, force=True)
