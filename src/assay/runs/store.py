"""Content-addressed job folders.

The results of a job are a folder named by a hash of everything that can change them. If the folder
is there, the job is done: resuming a run is therefore no special case.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from assay.config import VERSION
from assay.data.files import TEMPORARY, disk_errors, sync, temporary_prefix, write_file

CHECKPOINT = "checkpoint-"
PACKAGE = Path(__file__).resolve().parents[1]
# The code that can change the result of a job of each kind, relative to the package.
TRAINING_CODE = ("data", "models", "statistics", "training")
CODE: Mapping[str, tuple[str, ...]] = {
    "vectors": ("data/embeddings.py",),
    "train": TRAINING_CODE,
    "further": (*TRAINING_CODE, "scores", "runs/further_trainings.py"),
    "predictions": (*TRAINING_CODE, "scores", "runs/further_trainings.py"),
    # The predictions of attached models, and of those that a trainer has trained.
    **dict.fromkeys(
        ("attached", "trainer"),
        (*TRAINING_CODE, "runs/trainer_jobs.py", "runs/training_texts.py"),
    ),
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
    temporary = folder / f"{temporary_prefix()}{job.key}"
    with disk_errors(place):
        temporary.mkdir(parents=True)
        try:
            fill(temporary)
            for path in sorted(temporary.rglob("*"), reverse=True):
                sync(path)
            sync(temporary)
            _rename(temporary, place)
            sync(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    checkpoint_path(folder, job).unlink(missing_ok=True)
    return place


def _rename(temporary: Path, place: Path) -> None:
    """Rename a folder, unless another worker has published the same job in the meantime.

    A worker that outlives a killed run for a moment may finish the job that a resumed run repeats.
    """
    try:
        temporary.replace(place)
    except OSError:
        if not place.is_dir():
            raise


def checkpoint_path(folder: Path, job: Job) -> Path:
    """The file with the last long epoch of an unfinished training; see `training.checkpoints`."""
    return folder / f"{CHECKPOINT}{job.key}.safetensors"


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, atomically."""
    write_file(target, lambda unfinished: shutil.copyfile(source, unfinished))


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing, and checkpoints of trainings that are finished."""
    for left in folder.rglob(f"{TEMPORARY}*"):
        shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
    for checkpoint in folder.rglob(f"{CHECKPOINT}*.safetensors"):
        if checkpoint.with_name(checkpoint.stem.removeprefix(CHECKPOINT)).is_dir():
            checkpoint.unlink(missing_ok=True)
