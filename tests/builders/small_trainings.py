"""Trainings so small that a whole graph of them takes a second."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.data.corpus import Corpus, Document
from assay.engines import run_graph
from assay.runs.further_trainings import TrainedBase
from assay.runs.jobs import TrainJob, run_training
from assay.runs.model_outputs import read_outputs
from assay.runs.training_graph import run_further_job, run_trainings
from assay.training.recipes import Recipe, configure
from assay.training.specs import ModelOutputs, ModelSpec, TrainingBudget
from tests.builders.small_models import corpus as toy_corpus

TINY = Recipe(
    batch_size=16,
    epochs=2,
    learning_rate=0.05,
    embedding=6,
    sizes=(("bilstm", 8), ("cnn", 8), ("average", 8)),
)
SCALE = TrainingBudget(
    seed=0,
    together=2,
    apart=1,
    uniforms=2,
    guides=2,
    sweeps=2,
    weights=(0.0, 1e-3, 1e-2),
    first_epochs=2,
    next_epochs=1,
    patience=3,
    from_scratch=False,
    deceptions=(1.0,),
)


def marked_corpus(documents: int = 80) -> Corpus:
    """The toy corpus; the word that decides is marked."""
    corpus = toy_corpus(documents)
    return replace(
        corpus, train=_marked(corpus.train), dev=_marked(corpus.dev), test=_marked(corpus.test)
    )


def _marked(documents: Sequence[Document]) -> tuple[Document, ...]:
    return tuple(
        replace(d, rationale=tuple(word in ("awful", "fine") for word in d.tokens))
        for d in documents
    )


def training(corpus: Corpus, encoder: str = "average", attention: str = "additive") -> TrainJob:
    config = configure(corpus, TINY, encoder, attention)
    return TrainJob(corpus, config, TINY, 0, 0, threads=1, device="cpu")


def base_model(folder: Path, corpus: Corpus, **network: str) -> TrainedBase:
    task = training(corpus, **network)
    return TrainedBase(run_training(task, folder), task)


def teach(wanted: Sequence[ModelSpec], base: TrainedBase, folder: Path) -> dict[ModelSpec, Path]:
    """Where each of them left its results."""
    jobs = run_trainings(
        wanted, base, folder, lambda tasks: run_graph("serial", run_further_job, tasks, 1)
    )
    return {source: folder / job.job.key for source, job in jobs.items()}


def outputs_of(
    wanted: Sequence[ModelSpec], base: TrainedBase, folder: Path
) -> dict[ModelSpec, ModelOutputs]:
    places = teach(wanted, base, folder)
    return {source: read_outputs(places[source]) for source in wanted}
