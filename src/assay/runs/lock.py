"""The lock on a run directory, which one process holds at a time.

The operating system's lock decides (`flock`): it ends with its process, however that ends. Some
network file systems have no such locks. There the record in the lock file decides: the number of
the process, its host and its start. A number may be given to another process later, but that one
has another start, so the lock of a dead process is recognized and taken over.
"""

import errno
import json
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TextIO

from assay.data.files import disk_errors
from assay.errors import UserError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock; there runs are not locked
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
PROCESSES = Path("/proc")
BOOT = PROCESSES / "sys/kernel/random/boot_id"
START_FIELD = 19  # of /proc/PID/stat, counted from the field behind the name of the program
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


@dataclass(frozen=True)
class Holder:
    """The process that holds a run directory."""

    process: int
    started: str  # the run, as a date and a time
    host: str
    start: str | None  # of the process, as `process_start` tells it

    @classmethod
    def this_process(cls) -> "Holder":
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        return cls(os.getpid(), now, socket.gethostname(), process_start(os.getpid()))

    @classmethod
    def read(cls, path: Path) -> "Holder | None":
        """The holder that a lock file names; None if there is no file or no name in it."""
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                int(record["process"]), str(record["started"]), record["host"], record["start"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def here(self) -> bool:
        """Whether it is a process of this machine."""
        return self.host == socket.gethostname()

    @property
    def runs(self) -> bool:
        """Whether the process still runs, as far as this machine can tell: others' may."""
        if not self.here:
            return True
        if self.start is not None:
            return process_start(self.process) == self.start
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it is another user's
            pass
        return True


def process_start(process: int) -> str | None:
    """The boot of this machine and the tick at which a process started; None if there is none.

    Also None on systems without /proc.
    """
    try:
        fields = (PROCESSES / str(process) / "stat").read_text().rpartition(")")[2].split()
        return f"{BOOT.read_text().strip()} {fields[START_FIELD]}"
    except (OSError, IndexError):
        return None


def check_free(out: Path) -> None:
    """Refuse a run directory that a process of this machine is filling.

    A look before the long work; who holds the directory is decided by `locked`.
    """
    holder = Holder.read(out / LOCK)
    if fcntl is not None and holder is not None and holder.here and holder.runs:
        raise UserError(_in_use(out, holder))


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold a run directory for this process; a second process is refused with the first's name."""
    if fcntl is None:  # pragma: no cover - see above
        yield
        return
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    stream = _system_lock(out) or _recorded_lock(out)
    with stream:
        stream.seek(0)
        stream.truncate()
        json.dump(asdict(Holder.this_process()), stream)
        stream.flush()
        try:
            yield
        finally:
            (out / LOCK).unlink(missing_ok=True)


def _system_lock(out: Path) -> TextIO | None:
    """The lock file, opened and locked; None if its file system has no locks.

    Its last owner removes the file. Who had opened it just before that holds the lock of a file
    that nobody else can see, and opens it again.
    """
    while True:
        with disk_errors(out):
            stream = (out / LOCK).open("a+", encoding="utf-8")
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.close()
            raise UserError(_in_use(out, Holder.read(out / LOCK))) from None
        except OSError as error:
            stream.close()
            if error.errno in NO_LOCKS:
                return None
            raise
        if _is_same_file(stream, out / LOCK):
            return stream
        stream.close()


def _recorded_lock(out: Path) -> TextIO:
    """The lock file, created by this process after a holder that has ended, if any, is removed."""
    path = out / LOCK
    holder = Holder.read(path)
    if holder is not None and holder.runs:
        raise UserError(_in_use(out, holder))
    # Renamed, not removed: of several processes that see the dead holder, one renames its file.
    stale = path.with_name(f"{LOCK}-{uuid.uuid4().hex}")
    with suppress(FileNotFoundError):
        path.rename(stale)
        newer = Holder.read(stale)
        if newer != holder:  # another process was faster; it gets its file back
            stale.rename(path)
            raise UserError(_in_use(out, newer))
        stale.unlink()
    try:
        return path.open("x", encoding="utf-8")
    except FileExistsError:
        raise UserError(_in_use(out, Holder.read(path))) from None


def _is_same_file(stream: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _in_use(out: Path, holder: Holder | None) -> str:
    who = "another process"
    if holder is not None:
        where = "" if holder.here else f" on {holder.host}"
        who = f"process {holder.process}{where}, which started at {holder.started}"
    cure = "wait until it ends, stop it and add --resume, or pass another folder."
    if holder is not None and not holder.here:
        cure += f" If it has ended, remove {out / LOCK}."
    return f"--out {out} is in use by {who}: {cure}"
