"""How is a result put on disk so that a reader never sees half of it?

Everything is written under a temporary name and renamed. A job's results are a folder named by
the hash of all that can change them: if the folder is there, the job is done.
"""

import errno
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import UserError
from assay.version import VERSION

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_UNWRITABLE = (PermissionError, NotADirectoryError, FileExistsError, FileNotFoundError)
_TEMPORARY = ".writing-"


@dataclass(frozen=True)
class Job:
    """A piece of work, named by what can change its result and by nothing else."""

    kind: str
    identity: Mapping[str, Any]

    @property
    def key(self) -> str:
        named = {"kind": self.kind, "version": VERSION, **self.identity}
        return f"{self.kind}-{hashlib.sha256(canonical(named)).hexdigest()[:16]}"


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """`write` fills a temporary file beside `path`, which then takes its name."""
    temporary = path.with_name(f"{_TEMPORARY}{os.getpid()}-{path.name}")
    with _disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    # Through memory: a full disk must be an OSError, not an error of polars.
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_file(path, lambda temporary: temporary.write_bytes(buffer.getvalue()))


def write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not readable JSON ({error}): was it edited by hand?") from error


def finished(folder: Path, job: Job) -> Path | None:
    """Where the job's results are, if it was done before."""
    place = folder / job.key
    return place if place.is_dir() else None


def publish(folder: Path, job: Job, fill: Callable[[Path], object]) -> Path:
    """Let `fill` write the job's files into a folder that appears only when it is complete."""
    place = folder / job.key
    temporary = folder / f"{_TEMPORARY}{os.getpid()}-{job.key}"
    with _disk(place):
        temporary.mkdir(parents=True)
        try:
            fill(temporary)
            temporary.replace(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return place


def sweep(folder: Path) -> None:
    """Remove what a killed process was writing."""
    for left in folder.rglob(f"{_TEMPORARY}*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UserError(
                f"the disk is full: could not write {path}. Free some space and run the same "
                "command with --resume; everything measured so far is kept."
            ) from error
        if isinstance(error, _UNWRITABLE):
            raise UserError(
                f"cannot write {path} ({error.strerror}): pass an --out that you may write to"
            ) from error
        raise
