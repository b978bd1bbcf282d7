"""How is each control trained, audited and judged? As any other run, in a folder of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.controls.known import CONTROLS, Control, Extent
from assay.controls.planted import DATA, planted_corpus
from assay.engines import run_jobs
from assay.models import ModelConfig
from assay.runs import check_directory, complete
from assay.settings import Clock, Settings, Ways
from assay.work import TrainJob

ATTENTION = "additive"
THREADS = 1  # trials stand beside each other


@dataclass(frozen=True)
class Trial:
    """One control on one kind of data."""

    control: Control
    data: str
    extent: Extent
    folder: Path

    @property
    def place(self) -> Path:
        return self.folder / f"{self.control.name.replace(' ', '-')}-{self.data}"

    @property
    def settings(self) -> Settings:
        return Settings(
            corpus=f"{self.control.planting} in {self.data}",
            encoder=self.control.encoder,
            attention=ATTENTION,
            probes=self.extent.probes,
            seed=self.extent.scale.seed,
            limit=self.extent.documents,
            sample=self.extent.sample,
            threads=THREADS,
        )

    @property
    def training(self) -> TrainJob:
        recipe, seed = self.extent.recipe, self.extent.scale.seed
        corpus = planted_corpus(self.data, self.control.planting, self.extent.documents, seed)
        config = ModelConfig(
            task=corpus.task,
            encoder=self.control.encoder,
            attention=ATTENTION,
            classes=corpus.classes,
            words=len(corpus.vocabulary),
            embedding=recipe.embedding,
            size=recipe.size(self.control.encoder),
        )
        return TrainJob(corpus, config, recipe, seed, seed, THREADS, "cpu", lean=self.control.lean)


def trials(extent: Extent, folder: Path, controls: Sequence[Control] = CONTROLS) -> list[Trial]:
    return [Trial(control, data, extent, folder) for control in controls for data in DATA]


def run_trial(trial: Trial) -> Path:
    """A run directory; what is finished in it is not done again."""
    check_directory(trial.place, trial.settings, resume=True)
    complete(trial.settings, trial.training, trial.place, Ways(), Clock(), trial.extent.scale)
    return trial.place


def run_trials(asked: Sequence[Trial], ways: Ways) -> Iterator[Path]:
    with ways.watching("controls") as watch:
        yield from run_jobs(ways.engine, run_trial, asked, ways.workers,
                            ray_address=ways.ray_address, watch=watch)  # fmt: skip
