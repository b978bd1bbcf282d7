"""Content-addressed job folders, and the lock on a run directory.

The results of a job are a folder named by a hash of everything that can change them. If the folder
is there, the job is done: resuming a run is therefore no special case.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from assay.config import VERSION
from assay.data.files import TEMPORARY, disk_errors
from assay.errors import UserError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock; there runs are not locked
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
PACKAGE = Path(__file__).resolve().parents[1]
# The code that can change the result of a job of each kind, relative to the package.
TRAINING_CODE = ("data", "models", "statistics", "training")
CODE: Mapping[str, tuple[str, ...]] = {
    "vectors": ("data/embeddings.py",),
    "train": TRAINING_CODE,
    "further": (*TRAINING_CODE, "scores", "runs/further_trainings.py"),
    "predictions": (*TRAINING_CODE, "scores", "runs/further_trainings.py"),
    "audit": (
        *("data", "models", "statistics", "scores", "exact", "probes"),
        *("evidence.py", "runs/audit.py", "runs/jobs.py"),
    ),
    "graded": (
        *("data", "models", "statistics", "scores", "exact", "probes", "verdict"),
        *("evidence.py", "runs/audit.py", "controls/graded"),
    ),
}


@dataclass(frozen=True)
class Job:
    """A piece of work, named by what can change its result and by nothing else."""

    kind: str
    identity: Mapping[str, Any]
    # Of the process that planned the job: a worker that starts later may find edited files.
    code: str | None = None

    @property
    def key(self) -> str:
        code = code_identity(self.kind) if self.code is None else self.code
        named = {"kind": self.kind, "code": code, **self.identity}
        return f"{self.kind}-{hashlib.sha256(canonical(named)).hexdigest()[:16]}"


@cache
def code_identity(kind: str) -> str:
    """The version of an installed release; a digest of the source files in a working copy.

    Without it, a run that is resumed after a probe was edited would show the old numbers.
    """
    if "site-packages" in PACKAGE.parts:
        return VERSION
    digest = hashlib.sha256()
    for place in CODE[kind]:
        found = PACKAGE / place
        files = sorted(found.rglob("*.py")) if found.is_dir() else [found]
        for path in files:
            digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def canonical(value: Any) -> bytes:
    """JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def finished(folder: Path, job: Job) -> Path | None:
    """The folder with the job's results, if it was done before."""
    place = folder / job.key
    return place if place.is_dir() else None


def publish(folder: Path, job: Job, fill: Callable[[Path], object]) -> Path:
    """Let `fill` write the job's files into a folder that appears only when it is complete."""
    place = folder / job.key
    temporary = folder / f"{TEMPORARY}{os.getpid()}-{job.key}"
    with disk_errors(place):
        temporary.mkdir(parents=True)
        try:
            fill(temporary)
            temporary.replace(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return place


def sweep(folder: Path) -> None:
    """Remove what a killed process was writing."""
    for left in folder.rglob(f"{TEMPORARY}*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keep a run directory for this process; a second process is refused with the first's name.

    The operating system releases the lock when the process ends, however it ends.
    """
    if fcntl is None:  # pragma: no cover - see above
        yield
        return
    with _open_lock(out) as stream:
        stream.seek(0)
        stream.truncate()
        started = datetime.now().astimezone().isoformat(timespec="seconds")
        json.dump({"process": os.getpid(), "started": started}, stream)
        stream.flush()
        try:
            yield
        finally:
            (out / LOCK).unlink(missing_ok=True)


def _open_lock(out: Path) -> TextIO:
    """The lock file, opened and locked.

    Its last owner removes the file. Who had opened it just before that holds the lock of a file
    that nobody else can see, and opens it again.
    """
    while True:
        with disk_errors(out):
            out.mkdir(parents=True, exist_ok=True)
            stream = (out / LOCK).open("a+", encoding="utf-8")
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.close()
            raise UserError(_in_use(out)) from None
        if _is_same_file(stream, out / LOCK):
            return stream
        stream.close()


def _is_same_file(stream: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _in_use(out: Path) -> str:
    try:
        holder = json.loads((out / LOCK).read_text(encoding="utf-8"))
        who = f"process {holder['process']}, which started at {holder['started']}"
    except (OSError, ValueError, KeyError):
        who = "another process"
    return (
        f"--out {out} is in use by {who}: wait until it ends, stop it and add --resume, or pass "
        "another folder."
    )
