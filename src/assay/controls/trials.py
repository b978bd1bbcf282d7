"""Which models do we know the answer of, and how much is trained and asked to see it?

How is each control trained, audited and judged? As any other run, in a folder of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.config import Execution, Settings
from assay.controls.corpora import DATA, planted_corpus
from assay.engines import run_jobs
from assay.models.classifier import ModelConfig
from assay.probes import PROBES
from assay.runs.jobs import TrainJob
from assay.runs.run import execute_training
from assay.training.objectives import AttentionPenalty
from assay.training.recipes import Recipe
from assay.training.specs import TrainingBudget


@dataclass(frozen=True)
class Control:
    name: str
    says: str  # what is known of it
    planting: str
    encoder: str
    penalty: AttentionPenalty | None = None


CONTROLS: tuple[Control, ...] = (
    Control(
        "reason",
        "Attention is the reason: every item is seen alone, one cue decides against its rivals, "
        "and attention was trained to lie on that cue.",
        "contested", "average", AttentionPenalty(1.0, towards=True),
    ),
    Control(
        "decoupled",
        "Attention looks elsewhere: it was trained off the one cue that decides, and a recurrent "
        "encoder carries what the cue says to every other item.",
        "alone", "bilstm", AttentionPenalty(1.0),
    ),
    Control(
        "cannot matter",
        "Attention cannot matter: all items have the same state, so every weighting gives the "
        "same prediction.",
        "alone", "pooled",
    ),
    Control(
        "unstable",
        "Chance decides where attention lies: every item tells the label by itself.",
        "copies", "average",
    ),
)  # fmt: skip
RECIPE = Recipe(
    epochs=12,
    learning_rate=1e-2,
    embedding=32,
    sizes=(("bilstm", 32), ("cnn", 32), ("average", 32), ("pooled", 32)),
)


@dataclass(frozen=True)
class ControlSettings:
    """How much is drawn, trained and asked."""

    documents: int
    probes: tuple[str, ...]
    sample: int  # documents for LIME, SHAP and other costly scores
    scale: TrainingBudget
    recipe: Recipe = RECIPE


# No claim reads `substitute` or `deception`.
FULL = ControlSettings(
    documents=1_600,
    probes=tuple(name for name in PROBES if name not in ("substitute", "deception")),
    sample=40,
    scale=TrainingBudget(
        seed=0, together=3, apart=0, uniforms=3, guides=1, chains=1,
        weights=(0.0, 1e-2, 1e-1), first_epochs=6, next_epochs=4, patience=10,
        from_scratch=False, deceptions=(),
    ),
)  # fmt: skip
ATTENTION = "additive"
THREADS = 1  # trials stand beside each other


@dataclass(frozen=True)
class Trial:
    """One control on one kind of data."""

    control: Control
    data: str
    extent: ControlSettings
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
        return TrainJob(
            corpus, config, recipe, seed, seed, THREADS, "cpu", penalty=self.control.penalty
        )


def trials(
    extent: ControlSettings, folder: Path, controls: Sequence[Control] = CONTROLS
) -> list[Trial]:
    return [Trial(control, data, extent, folder) for control in controls for data in DATA]


def run_trial(trial: Trial) -> Path:
    """A run directory; what is finished in it is not done again."""
    execute_training(trial.settings, trial.training, trial.place, trial.extent.scale)
    return trial.place


def run_trials(asked: Sequence[Trial], execution: Execution) -> Iterator[Path]:
    with execution.watching("controls") as watch:
        yield from run_jobs(execution.engine, run_trial, asked, execution.workers,
                            ray_address=execution.ray_address, watch=watch)  # fmt: skip
