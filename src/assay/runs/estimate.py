"""How long a run will take: a fixed cost model times the measured speed of this machine.

The cost model counts items (words) and steps, in seconds of one thread of a reference machine; that
of the audit is also what chooses the sample of the costly scores (`scores.cost`). What this machine
needs for a small recurrent training step and a few matrix products, compared with the reference,
scales them. The estimate is meant to be right within a factor of two; `assay bench --run` shows it
beside what whole runs took. No result depends on it.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from assay.config import FILM_VECTORS, Execution, Settings
from assay.data.corpus import Corpus, Document
from assay.data.film_vectors import SETTINGS as FILM_SETTINGS
from assay.data.film_vectors import are_cached
from assay.probes import probes_of_trained_models
from assay.probes.alternative_weights import EVERY_DOCUMENT_CLASSES, SAMPLED_SHUFFLES
from assay.probes.inputs import SAMPLED_DOCUMENTS
from assay.runs.audit import sample_of, sample_of_trainings
from assay.runs.further_trainings import THREADS
from assay.runs.training_graph import planned_budget, planned_models, with_prerequisites
from assay.scores.cost import STEP_SECONDS, encoder_costs
from assay.training.recipes import Recipe, recipe_for
from assay.training.specs import BaseModelSpec, ModelSpec, TrainingBudget

# Seconds of the calibration on the reference machine, with one thread.
REFERENCE_SECONDS = 0.0150
# Seconds of a training step per item, including its share of the optimizer.
TRAINING_ITEM = {
    "bilstm": 55e-6,
    "diverse-lstm": 60e-6,
    "orthogonal-lstm": 140e-6,
    "cnn": 29e-6,
    "average": 8e-6,
    "pooled": 8e-6,  # only of control models
    "han-rnn": 27e-6,
    "han-conv": 27e-6,
    "han-none": 11e-6,
    "flan-rnn": 24e-6,
    "flan-conv": 23e-6,
    "flan-none": 9e-6,
}
FILM_SECONDS = 7.0  # until the vectors of film reviews are computed
PARAMETER = 1.2e-9  # seconds of the optimizer per parameter and step
PREDICTING = 0.3  # of the cost of training on the same documents
BRACKETED_CLASS = 0.01  # adversary with three classes or more: seconds per class and document
PROCESS_START = 3.0  # seconds until a worker process has imported torch
DRAWING = 4.0  # seconds for tables and page, whatever the run
TABLED_DOCUMENT = 2.5e-3  # seconds of its share in the resampled means, for all quantities
SHORTEST = 20.0  # seconds: shorter runs are not announced
REPEATS = 5


@dataclass(frozen=True)
class Estimate:
    """The seconds that each stage will take."""

    training: float
    audit: float
    trainings: float
    drawing: float = DRAWING
    vectors: float = 0.0

    @property
    def total(self) -> float:
        return sum(self.stages.values())

    @property
    def stages(self) -> dict[str, float]:
        """The seconds by the names of the stages; tables and report count as one."""
        return {
            "vectors": self.vectors,
            "training": self.training,
            "audit": self.audit,
            "further trainings": self.trainings,
            "report": self.drawing,
        }

    def line(self) -> str:
        """The estimate in one line."""
        parts = [f"{name} {_duration(value)}" for name, value in self.stages.items() if value]
        return f"This will take about {_duration(self.total)}: {', '.join(parts)}."


@dataclass(frozen=True)
class Speed:
    """How much slower this machine is than the reference: with a job's threads, and with one."""

    threads: float = 1.0
    single: float = 1.0

    @classmethod
    def measure(cls, threads: int) -> "Speed":
        """Measure for a few hundredths of a second."""
        single = _calibration_seconds(1) / REFERENCE_SECONDS
        several = single if threads == 1 else _calibration_seconds(threads) / REFERENCE_SECONDS
        return cls(several, single)


def announce(settings: Settings, corpus: Corpus, execution: Execution) -> Estimate | None:
    """The estimate of a run, or None if it is too short to be worth a line."""
    if estimate_run(settings, corpus, execution, Speed()).total < SHORTEST / 4:
        return None
    found = estimate_run(settings, corpus, execution, Speed.measure(settings.threads))
    return found if found.total >= SHORTEST else None


def estimate_run(
    settings: Settings, corpus: Corpus, execution: Execution, speed: Speed
) -> Estimate:
    """Count the work of a run on a corpus, in seconds of this machine."""
    settings = settings.resolved(probes_of_trained_models())
    recipe = recipe_for(corpus, settings.preset, settings.encoder)
    width = relative_width(settings, recipe)
    training = width * training_seconds(corpus, recipe, settings.encoder, recipe.epochs)
    budget = planned_budget(settings, corpus.test)
    audit = audit_seconds(settings, corpus)
    further = width * further_seconds(settings, corpus, recipe, budget)
    return Estimate(
        training * speed.threads,
        shared_seconds(audit, execution.parallel_jobs(settings.threads)) * speed.threads,
        shared_seconds(further, execution.parallel_jobs(THREADS)) * speed.single,
        (DRAWING + TABLED_DOCUMENT * len(corpus.test)) * speed.single,
        vectors_seconds(settings) * speed.threads,
    )


def vectors_seconds(settings: Settings) -> float:
    """Reference seconds of the vectors of film reviews, unless an earlier run has kept them."""
    return FILM_SECONDS if settings.vectors == FILM_VECTORS and not are_cached() else 0.0


def relative_width(settings: Settings, recipe: Recipe) -> float:
    """The share of a training's work that is left with the vectors of film reviews.

    They are narrower than the recipe's. About half of the work is reading embeddings; the other
    half stays.
    """
    if settings.vectors != FILM_VECTORS:
        return 1.0
    return (FILM_SETTINGS.dimension / recipe.embedding + 1) / 2


def training_seconds(corpus: Corpus, recipe: Recipe, encoder: str, epochs: float) -> float:
    """Reference seconds of a training of so many epochs."""
    steps = -(-len(corpus.train) // recipe.batch_size)
    parameters = len(corpus.vocabulary) * recipe.embedding
    evaluation = PREDICTING * _items(corpus.dev)
    items = TRAINING_ITEM[encoder] * (_items(corpus.train) + evaluation)
    return epochs * (items + steps * parameters * PARAMETER)


def audit_seconds(settings: Settings, corpus: Corpus) -> float:
    """Reference seconds of all scores and probes on the test documents."""
    costs = encoder_costs(settings.encoder, settings.exact_below)
    steps = costs.rest * _items(corpus.test) + sample_of(settings, corpus.test).steps
    seconds = STEP_SECONDS * steps + _deletions(settings, corpus.test)
    if len(corpus.classes) > 2 and "adversary" in settings.probes:
        seconds += BRACKETED_CLASS * len(corpus.classes) * _bracketed(corpus)
    return seconds


def _bracketed(corpus: Corpus) -> int:
    """The brackets of the adversary: of the documents, and of baselines on a sample of them."""
    sample = min(len(corpus.test), SAMPLED_DOCUMENTS)
    every = len(corpus.classes) <= EVERY_DOCUMENT_CLASSES
    return (len(corpus.test) if every else sample) + (SAMPLED_SHUFFLES + 1) * sample


def _deletions(settings: Settings, documents: Sequence[Document]) -> float:
    """Reference seconds of leave-one-out."""
    lengths = np.array([len(document.tokens) for document in documents], dtype=np.float64)
    costs = encoder_costs(settings.encoder, settings.exact_below)
    return STEP_SECONDS * float(costs.changes(lengths).sum())


def further_seconds(
    settings: Settings, corpus: Corpus, recipe: Recipe, budget: TrainingBudget
) -> float:
    """Reference seconds of all further trainings, one after another."""
    plans, _ = planned_models(settings.probes, budget, corpus)
    models = dict.fromkeys(with_prerequisites(spec for plan in plans.values() for spec in plan))
    scored = sum(spec.sampled is not None for spec in models)
    steps = scored * sample_of_trainings(settings, corpus.test).steps if scored else 0.0
    trained = sum(_model_seconds(spec, settings, corpus, recipe) for spec in models)
    return trained + STEP_SECONDS * steps


def shared_seconds(seconds: float, workers: int) -> float:
    """Seconds of work that is done in this process or, if that is faster, by so many workers."""
    return min(seconds, seconds / workers + PROCESS_START)


def faster_engine(execution: Execution, seconds: float, workers: int) -> str:
    """The engine of the run; this process where workers take longer to start than they save."""
    alone = shared_seconds(seconds, workers) == seconds
    return "serial" if alone and execution.engine == "processes" else execution.engine


def _model_seconds(spec: ModelSpec, settings: Settings, corpus: Corpus, recipe: Recipe) -> float:
    """Reference seconds of one further model and of its predictions."""
    if isinstance(spec, BaseModelSpec):
        seconds = training_seconds(corpus, recipe, settings.encoder, PREDICTING)
        documents = (*corpus.train, *corpus.dev, *corpus.test)
        return seconds + (_deletions(settings, documents) if spec.leave_one_out else 0.0)
    share = 1.0 if spec.half is None else 0.5
    epochs = share * (spec.epochs or recipe.epochs) + PREDICTING
    return training_seconds(corpus, recipe, spec.encoder or settings.encoder, epochs)


def _items(documents: Sequence[Document]) -> int:
    return sum(_length(document) + len(document.query) for document in documents)


def _length(document: Document) -> int:
    """The number of words, also where the items are sentences."""
    if document.words is None:
        return len(document.tokens)
    return sum(len(sentence) for sentence in document.words)


def _calibration_seconds(threads: int) -> float:
    """The median time of a recurrent training step and a few matrix products."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    with torch.random.fork_rng(devices=[]):  # the weights of the layer must not cost a draw
        layer = nn.LSTM(300, 128)
    texts, square = torch.ones(20, 32, 300), torch.ones(384, 384)

    def work() -> None:
        layer(texts)[0].sum().backward()
        for _ in range(4):
            torch.mm(square, square)

    work()
    turns = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        turns.append(time.perf_counter() - start)
    torch.set_num_threads(before)
    return statistics.median(turns)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
