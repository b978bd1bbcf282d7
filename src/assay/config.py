"""Settings of a run, which can change its result, and its execution, which cannot."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from assay.progress import Stage, Track, Watching, unannounced, untracked, unwatched

VERSION = "0.2.0"
Preset = Literal["quick", "thorough", "paper"]
PRESETS: tuple[Preset, ...] = ("quick", "thorough", "paper")
EXACT_BELOW = 600  # items: more than any document of SST, IMDB, 20News and bAbI 2 has
SAMPLE = 100  # documents on which costly scores are computed, if the budget allows
QUICK_SAMPLE = 50  # costly scores are half of an audit, and `quick` is for a first look
ALL_PROBES = ("all",)
# Probes from after the three papers that train models or take more than a tenth of the audit.
COSTLY_PROBES = ("roar", "fresh", "sanity", "masked_training")
# What `all` leaves out under a preset. `thorough` is `quick` without omissions. `deception` trains
# models and decides no claim.
OMITTED: Mapping[str, tuple[str, ...]] = {
    "quick": ("deception", *COSTLY_PROBES),
    "thorough": (),
    "paper": COSTLY_PROBES,
}
# Instead of a file of word vectors: vectors trained on the corpus's own text, vectors of film
# reviews, and random numbers, which the settings record as None.
OWN_VECTORS, FILM_VECTORS, RANDOM_VECTORS = "corpus", "films", "random"


def sample_size(preset: str) -> int:
    """The most documents on which costly scores are computed under a preset."""
    return SAMPLE if preset == "paper" else QUICK_SAMPLE


@dataclass(frozen=True)
class Settings:
    """Everything that can change the result of a run."""

    corpus: str = "reviews"
    options: Mapping[str, str] = field(default_factory=dict)
    encoder: str = "bilstm"
    attention: str = "additive"
    probes: tuple[str, ...] = ALL_PROBES
    seed: int = 0
    limit: int | None = None
    # Documents for LIME, SHAP and other costly scores; None: the preset's number within a budget.
    sample: int | None = None
    preset: str = "quick"
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    device: str = "cpu"
    # The file's name (its content is part of the training's identity), or a kind of vectors.
    vectors: str | None = None
    seeds: int | None = None  # models that differ by seed, instead of the preset's numbers
    from_scratch: bool = False  # imitation: every lambda from fresh weights, as published
    exact_below: int = EXACT_BELOW  # items: leave-one-out of shorter documents is exact

    def resolved(self, known_probes: Sequence[str]) -> "Settings":
        """The same settings with the probes named."""
        omitted = OMITTED.get(self.preset, ())  # an unknown preset is reported elsewhere
        every = tuple(name for name in known_probes if name not in omitted)
        probes = every if self.probes == ALL_PROBES else self.probes
        return replace(self, probes=probes)

    def as_record(self) -> dict[str, Any]:
        """As JSON can hold them."""
        return {**asdict(self), "options": dict(self.options), "probes": list(self.probes)}


@dataclass(frozen=True)
class Execution:
    """How the work is done. Nothing here can change the result."""

    data: Path | None = None  # the folder or file of the corpus
    vectors: Path | None = None  # the file of word vectors
    engine: str = "serial"
    workers: int = 1
    track: Track = untracked
    on_corpus: Callable[[Any], object] = lambda corpus: None  # called once the corpus is read
    ray_address: str | None = None  # of a cluster to join; else Ray starts on this machine
    watching: Watching = unwatched  # shows the progress of an engine's jobs
    stage: Stage = unannounced  # is told when a stage of a run starts and ends
    without_text: bool = False  # leave the texts of the documents out of the run directory

    def parallel_jobs(self, threads: int) -> int:
        """The number of jobs that run at a time, if each has so many threads.

        Workers times threads is what the machine can do at once: more would be far slower.
        """
        return 1 if self.engine == "serial" else max(1, self.workers // threads)
