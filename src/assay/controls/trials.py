"""Control models and their trials: each is trained, audited and judged like any other run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.config import OMITTED, Execution, Settings
from assay.controls.corpora import DATA, planted_corpus
from assay.engines import execute_jobs
from assay.models.classifier import ModelConfig
from assay.probes import probes_of_trained_models
from assay.runs.jobs import TrainJob
from assay.runs.run import execute_training
from assay.training.objectives import AttentionPenalty
from assay.training.recipes import Recipe
from assay.training.specs import DECIDING_GUIDES, TrainingBudget


@dataclass(frozen=True)
class Control:
    """A model whose answers are known, because it was built that way."""

    name: str
    says: str  # what is known about it
    planting: str
    encoder: str
    penalty: AttentionPenalty | None = None


CONTROLS: tuple[Control, ...] = (
    Control(
        "reason",
        "Attention is the reason: every item is encoded in isolation, one cue outranks its "
        "competing cues, and attention was trained to lie on that cue.",
        "contested",
        "average",
        AttentionPenalty(1.0, towards=True),
    ),
    Control(
        "decoupled",
        "Attention is elsewhere: it was trained away from the one cue that decides, and a "
        "recurrent encoder carries the information of the cue to every other item.",
        "alone",
        "bilstm",
        AttentionPenalty(1.0),
    ),
    Control(
        "cannot matter",
        "Attention cannot matter: all items have the same state, so all weights give the same "
        "prediction.",
        "alone",
        "pooled",
    ),
    Control(
        "unstable",
        "Chance decides where attention lies: every item predicts the label by itself.",
        "copies",
        "average",
    ),
)
RECIPE = Recipe(
    epochs=12,
    learning_rate=1e-2,
    embedding=32,
    sizes=(("bilstm", 32), ("cnn", 32), ("average", 32), ("pooled", 32)),
)


@dataclass(frozen=True)
class ControlSettings:
    """The size of the trials: documents, probes and further trainings."""

    documents: int
    probes: tuple[str, ...]
    sample: int  # documents for LIME, SHAP and other costly scores
    budget: TrainingBudget
    recipe: Recipe = RECIPE


# No claim reads these probes, nor those that are left out under `quick`.
UNREAD = ("substitute", "input_erasure", "states", *OMITTED["quick"])
FULL = ControlSettings(
    documents=2_400,  # a quarter of them is test: fewer could not show that two F1 are equal
    probes=tuple(name for name in probes_of_trained_models() if name not in UNREAD),
    sample=40,
    budget=TrainingBudget(
        seed=0,
        together=3,
        apart=0,
        uniforms=3,
        guides=3,
        sweeps=3,
        weights=(0.0, 1e-2, 1e-1),
        first_epochs=6,
        next_epochs=4,
        patience=10,
        from_scratch=False,
        deceptions=(),
        imposed=DECIDING_GUIDES,
    ),
)
ATTENTION = "additive"
THREADS = 1  # trials run in parallel


@dataclass(frozen=True)
class Trial:
    """One control on one kind of data, with its run directory."""

    control: Control
    data: str
    size: ControlSettings
    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / f"{self.control.name.replace(' ', '-')}-{self.data}"

    @property
    def settings(self) -> Settings:
        return Settings(
            corpus=f"{self.control.planting} in {self.data}",
            encoder=self.control.encoder,
            attention=ATTENTION,
            probes=self.size.probes,
            seed=self.size.budget.seed,
            limit=self.size.documents,
            sample=self.size.sample,
            threads=THREADS,
        )

    @property
    def training(self) -> TrainJob:
        recipe, seed = self.size.recipe, self.size.budget.seed
        corpus = planted_corpus(self.data, self.control.planting, self.size.documents, seed)
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
    size: ControlSettings, folder: Path, controls: Sequence[Control] = CONTROLS
) -> list[Trial]:
    return [Trial(control, data, size, folder) for control in controls for data in DATA]


def run_trial(trial: Trial) -> Path:
    """Execute a trial in its run directory; finished work in it is kept."""
    execute_training(trial.settings, trial.training, trial.out, trial.size.budget)
    return trial.out


def run_trials(pending: Sequence[Trial], execution: Execution) -> Iterator[Path]:
    """Execute trials with any engine; yields the run directory of each."""
    return execute_jobs(execution, "controls", run_trial, pending)
