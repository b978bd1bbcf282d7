"""What was asked for, and which of it can change the result?"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay.corpora.corpus import Corpus
from assay.engines import Watching, unwatched
from assay.probes import PROBES
from assay.scores.faded import EXACT_BELOW
from assay.scores.sampling import SAMPLE
from assay.training import Track, untracked

QUICK_SAMPLE = 50  # costly scores are half of an audit, and `quick` is for a first look


def sample_for(preset: str) -> int:
    return QUICK_SAMPLE if preset == "quick" else SAMPLE


@dataclass(frozen=True)
class Settings:
    """All that can change the result of a run. Engine, workers and folders are not among it."""

    corpus: str = "reviews"
    options: Mapping[str, str] = field(default_factory=dict)
    encoder: str = "bilstm"
    attention: str = "additive"
    probes: tuple[str, ...] = tuple(PROBES)
    seed: int = 0
    limit: int | None = None
    sample: int = SAMPLE  # documents on which LIME, SHAP and other costly scores are taken
    preset: str = "quick"
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    device: str = "cpu"
    vectors: str | None = None  # the file's name; its content is part of the training's identity
    seeds: int | None = None  # models that differ by seed, in place of the preset's numbers
    from_scratch: bool = False  # imitation: every lambda from fresh weights, as published
    exact_below: int = EXACT_BELOW  # items: leave-one-out of shorter documents is exact

    def as_record(self) -> dict[str, Any]:
        """What is left at its default and came later is left out: older runs stay the same."""
        record = {**asdict(self), "options": dict(self.options), "probes": list(self.probes)}
        later = {"seeds": None, "from_scratch": False, "exact_below": EXACT_BELOW}
        return {key: value for key, value in record.items() if later.get(key, ...) != value}


@dataclass(frozen=True)
class Ways:
    """How the work is done; none of it can change the result."""

    data: Path | None = None
    vectors: Path | None = None
    engine: str = "serial"
    workers: int = 1
    track: Track = untracked
    tell: Callable[[Corpus], object] = lambda corpus: None  # called once the corpus is read
    ray_address: str | None = None  # of a cluster to join; else Ray starts on this machine
    watching: Watching = unwatched  # shows how far the jobs of an engine are


class Clock:
    """Seconds per stage; the only thing in which two equal runs may differ."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: str) -> "Clock":
        self._stage = stage
        return self

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self._stage] = round(time.perf_counter() - self._start, 3)
