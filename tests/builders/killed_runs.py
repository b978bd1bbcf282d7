"""Whole runs that are killed at a chosen moment, also by a power failure, and then resumed.

A moment is an operation on the run's folder: the first fsync, the second rename, and so on. All
processes of a run count them together (`watched_process/sitecustomize.py`). A power failure is
simulated: the folder is rebuilt from what had been brought to the disk with fsync. Of everything
else an arbitrary part survives: names that were not synced may be there or not, and files that were
not synced may be cut anywhere.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.runs.timing import TIMING_FILE

WATCHED = Path(__file__).parent / "watched_process"
COMMAND = [
    *(sys.executable, "-m", "assay", "run", "motif", "--encoder", "average", "--threads", "1"),
    *("--option", "documents=60", "--option", "length=27", "--seeds", "1", "--sample", "2"),
    *("--probes", "permutation,uniform,seeds", "--jobs", "2", "--quiet"),
]
# Every epoch is long enough for a checkpoint, and little work is enough for worker processes.
CONSTANTS = {
    "assay.training.checkpoints": {"LONG_EPOCH": -1.0},
    "assay.runs.estimate": {"PROCESS_START": 0.0},
}
POWER = "power failure"
ENDINGS: dict[str, int | None] = {
    "SIGKILL": signal.SIGKILL,
    "SIGTERM": signal.SIGTERM,
    "SIGINT": signal.SIGINT,
    POWER: None,
}
CODES = {"SIGKILL": -signal.SIGKILL, "SIGTERM": 143, "SIGINT": 130, POWER: -signal.SIGKILL}
SECONDS = 240.0  # in which a run or its processes must end


@dataclass(frozen=True)
class Trial:
    """How and when a run is ended."""

    engine: str
    ending: str
    moment: float  # as a share of all operations of an undisturbed run
    waits: bool  # the process stops at the moment; else it goes on until the signal arrives
    seed: int = 0  # of what survives a power failure

    def __str__(self) -> str:
        how = "at" if self.waits else "after"
        return f"{self.engine}, {self.ending} {how} {self.moment:.3f}"


@dataclass
class WatchedRun:
    """The folder of a run, and the records about it in other folders beside it."""

    place: Path
    engine: str
    ended: list[int] = field(default_factory=list)  # exit codes
    errors: str = ""

    def __post_init__(self) -> None:
        self.place.mkdir(parents=True, exist_ok=True)

    @property
    def out(self) -> Path:
        return self.place / "out"

    @property
    def disk(self) -> Path:
        return self.place / "disk"

    @property
    def reached(self) -> Path:
        return self.place / "reached"

    @property
    def operations(self) -> int:
        """The number of operations so far."""
        counter = self.place / "counter"
        return counter.stat().st_size if counter.exists() else 0

    def start(self, stop_before: int = 0, wait: float = 0.0, *, power: bool = False) -> Any:
        """Start the command, or resume it."""
        self.disk.mkdir(exist_ok=True)
        plan = {
            "out": str(self.out),
            "counter": str(self.place / "counter"),
            "reached": str(self.reached),
            "disk": str(self.disk) if power else "",
            "stop_before": stop_before,
            "wait": wait,
            "constants": CONSTANTS,
        }
        path = os.pathsep.join([str(WATCHED), os.environ.get("PYTHONPATH", "")])
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        environment |= {"WATCHED_PLAN": json.dumps(plan), "PYTHONPATH": path}
        resume = ["--resume"] if self.out.exists() else []
        return subprocess.Popen(
            [*COMMAND, "--engine", self.engine, "--out", str(self.out), *resume],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self) -> None:
        """Run the command to its end."""
        with self.start() as process:
            self._wait(process)

    def end(self, trial: Trial, operations: int) -> None:
        """Start the command and end it in the way of the trial."""
        self.reached.unlink(missing_ok=True)
        (self.place / "counter").unlink(missing_ok=True)
        stop_before = max(1, round(trial.moment * operations))
        power = trial.ending == POWER
        if power and self.out.exists():
            self._record_all()
        with self.start(stop_before, 3.0 if trial.waits else 0.0, power=power) as process:
            limit = time.monotonic() + SECONDS
            while not self.reached.exists() and process.poll() is None:
                assert time.monotonic() < limit, "the moment was not reached"
                time.sleep(0.005)
            if power:
                self.kill_all()
            else:
                process.send_signal(ENDINGS[trial.ending])
            self._wait(process)
        if power:
            lose_power(self.out, self.disk, random.Random(trial.seed))

    def _record_all(self) -> None:
        """Record that what is there when a run starts is on the disk."""
        self.disk.mkdir(exist_ok=True)
        for path in (self.out, *self.out.rglob("*")):
            number = path.stat().st_ino
            if path.is_dir():
                names = {each.name: each.stat().st_ino for each in path.iterdir()}
                (self.disk / f"folder-{number}").write_text(json.dumps(names))
            else:
                shutil.copyfile(path, self.disk / f"content-{number}")
                os.link(path, self.disk / f"pin-{number}")

    def _wait(self, process: Any) -> None:
        try:
            _, self.errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise
        self.ended.append(process.returncode)
        for left in Path("/tmp").glob(f"assay-{process.pid}-*"):  # of a Ray that was killed
            shutil.rmtree(left, ignore_errors=True)

    def processes(self) -> Iterator[int]:
        """All processes that have this run's plan in their environment."""
        mark = str(self.place).encode() + b"/counter"
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                    yield int(folder.name)

    def kill_all(self) -> None:
        """Kill all processes of the run at once."""
        for process in self.processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def wait_for_workers(self) -> None:
        """Wait until no process of the run is left."""
        limit = time.monotonic() + SECONDS
        while left := list(self.processes()):
            assert time.monotonic() < limit, f"processes are left: {left}"
            time.sleep(0.05)

    def files(self) -> dict[str, bytes]:
        """All files of the finished run, but for how long it took."""
        paths = [path for path in sorted(self.out.rglob("*")) if path.is_file()]
        return {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in paths
            if path.name != TIMING_FILE
        }


def lose_power(out: Path, disk: Path, rng: random.Random) -> None:
    """Leave in a folder what a power failure may have left of it."""
    if not out.exists():
        return
    now = {path.stat().st_ino: path for path in (out, *out.rglob("*"))}
    rebuilt = out.with_name("rebuilt")
    _rebuild(out.stat().st_ino, rebuilt, now, disk, rng)
    shutil.rmtree(out)
    rebuilt.rename(out)
    shutil.rmtree(disk)


def _rebuild(
    number: int, place: Path, now: dict[int, Path], disk: Path, rng: random.Random
) -> None:
    """A folder with its synced names, and some of the changes since then."""
    place.mkdir()
    record = disk / f"folder-{number}"
    names = json.loads(record.read_text()) if record.exists() else {}
    current = {}
    if number in now:
        current = {path.name: path.stat().st_ino for path in now[number].iterdir()}
    for name in sorted({*names, *current}):
        if names.get(name) != current.get(name) and rng.random() < 0.5:
            names[name] = current.get(name)
        found = names.get(name)
        if found is None:
            continue
        # A file may have the number of a folder that was removed, so what is there now decides.
        if now[found].is_dir() if found in now else (disk / f"folder-{found}").exists():
            _rebuild(found, place / name, now, disk, rng)
        else:
            (place / name).write_bytes(_content(found, now, disk, rng))


def _content(number: int, now: dict[int, Path], disk: Path, rng: random.Random) -> bytes:
    """The synced content of a file, or any beginning of one that was not synced."""
    record = disk / f"content-{number}"
    if record.exists():
        return record.read_bytes()
    written = now[number].read_bytes() if number in now else b""
    return written[: rng.randint(0, len(written))]


def check_trial(*endings: Trial, place: Path, undisturbed: WatchedRun) -> None:
    """End a run as the trials say, one after another, resume it, and compare all its files.

    A run that finished before the moment of a trial is left as it is.
    """
    run = WatchedRun(place, endings[0].engine)
    try:
        for trial in endings:
            run.end(trial, undisturbed.operations)
            assert run.ended[-1] in (CODES[trial.ending], 0), (trial, run.ended, run.errors)
            if trial.ending in ("SIGTERM", "SIGINT") and run.ended[-1]:
                assert "Traceback" not in run.errors, run.errors
                assert "with --resume to continue the run" in run.errors, run.errors
        run.finish()
        assert run.ended[-1] == 0, (endings, run.errors)
        run.wait_for_workers()
    finally:
        run.kill_all()
    found, expected = run.files(), undisturbed.files()
    assert found.keys() == expected.keys(), (endings, found.keys() ^ expected.keys())
    assert [name for name in found if found[name] != expected[name]] == [], endings
