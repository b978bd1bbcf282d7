"""Seconds: of the stages of a run, and within its jobs of each score, probe and kind of training.

Time is the only thing in which two equal runs may differ. It is therefore never part of a table or
of a job's identity: it stands alone in files called `timing.json`, one in every job folder and one
in the run directory, which adds them up. A resumed run reads the files of jobs that were finished
before, so their seconds are not lost.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.data.files import read_json, write_json
from assay.progress import Stage, unannounced
from assay.training.specs import (
    BaseModelSpec,
    DeceptionObjective,
    ImitationObjective,
    ModelSpec,
)

TIMING_FILE = "timing.json"
DIGITS = 6  # of a second: microseconds
Seconds = dict[str, float]


class Stopwatch:
    """Sums the seconds spent under each name."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self.seconds: Seconds = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = self._now()
        try:
            yield
        finally:
            spent = self._now() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def write_job_timing(
    place: Path, seconds: float, *, kind: str | None = None, **within: Mapping[str, float]
) -> None:
    """Write the seconds of one job; `within` are its parts, such as `scores={"gradient": 0.1}`."""
    record: dict[str, Any] = {"seconds": round(seconds, DIGITS)}
    if kind is not None:
        record["kind"] = kind
    record |= {name: _rounded(parts) for name, parts in within.items()}
    write_json(place / TIMING_FILE, record)


def training_kind(spec: ModelSpec) -> str:
    """What a further training is for, as `timing.json` names it."""
    if isinstance(spec, BaseModelSpec):
        return "predictions"
    if isinstance(spec.objective, ImitationObjective):
        return "imitation"
    if isinstance(spec.objective, DeceptionObjective):
        return "deception"
    if spec.imposed is not None:
        return f"imposed: {spec.imposed.kind}"
    if spec.half is not None:
        return "half of the documents"
    if spec.erased is not None:
        return "items kept" if spec.erased.keep else "items masked"
    if spec.masked_copies:
        return "masked copies"
    if spec.shuffled_labels:
        return "shuffled labels"
    return "task" if spec.attention is None else spec.attention


@dataclass
class RunTiming:
    """The seconds of a run: of its stages now, and of all its jobs whenever they ran."""

    announce: Stage = unannounced
    stages: Stopwatch = field(default_factory=Stopwatch)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)  # by stage
    parts: dict[str, Seconds] = field(default_factory=dict)  # scores, probes
    trainings: dict[str, dict[str, float]] = field(default_factory=dict)  # by kind

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, and announce its start and end."""
        with self.announce(name), self.stages(name):
            yield

    def add_jobs(self, stage: str, places: Iterable[Path], workers: int = 1) -> None:
        """Add up the jobs of a stage, of which up to `workers` ran at a time."""
        records = [_read(place) for place in places]
        self.jobs[stage] = {
            "jobs": len(records),
            "workers": max(1, min(workers, len(records))),
            "seconds": round(sum(record["seconds"] for record in records), DIGITS),
            "longest": max((record["seconds"] for record in records), default=0.0),
        }
        for record in records:
            for name in ("scores", "probes"):
                _add(self.parts.setdefault(name, {}), record.get(name, {}))
            if "kind" in record:
                sums = self.trainings.setdefault(record["kind"], {})
                _add(sums, {"jobs": 1, "seconds": record["seconds"]})

    def as_record(self) -> dict[str, Any]:
        """The content of `timing.json`."""
        return {
            "stages": _rounded(self.stages.seconds),
            "jobs": self.jobs,
            **{name: _rounded(parts) for name, parts in self.parts.items()},
            "trainings": {kind: _rounded(sums) for kind, sums in self.trainings.items()},
        }

    def write(self, out: Path) -> None:
        """Write the run directory's file."""
        write_json(out / TIMING_FILE, self.as_record())


def add_stage(
    out: Path, name: str, seconds: float, estimate: Mapping[str, float] | None = None
) -> None:
    """Add a stage that ends after the run directory is complete, such as the report.

    `estimate` has the seconds that were announced for each stage before the work.
    """
    record = read_json(out / TIMING_FILE)
    record["stages"][name] = round(seconds, DIGITS)
    if estimate is not None:
        record["estimate"] = _rounded(estimate)
    write_json(out / TIMING_FILE, record)


def _read(place: Path) -> dict[str, Any]:
    """The timing of a job; a job folder of an earlier version has none."""
    path = place / TIMING_FILE
    found: dict[str, Any] = read_json(path) if path.exists() else {"seconds": 0.0}
    return found


def _add(sums: dict[str, float], more: Mapping[str, float]) -> None:
    for name, value in more.items():
        sums[name] = sums.get(name, 0) + value


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in seconds.items()}
