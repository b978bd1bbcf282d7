"""The graph of further trainings: the models that probes need, as jobs that any engine can run.

What a job does is known to those who plan it: `further_trainings` for models that assay trains,
`trainer_jobs` for those of a user's trainer.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import polars as pl

from assay.config import Settings
from assay.data.corpus import Corpus, Document
from assay.engines import Task
from assay.evidence import empty, sign
from assay.models.view import NotApplicable
from assay.probes import PROBES
from assay.probes.probe import Trainings
from assay.runs.audit import sample_of_trainings
from assay.runs.model_outputs import read_outputs
from assay.runs.store import Job, finished
from assay.training.specs import (
    BaseModelSpec,
    ModelSpec,
    TrainingBudget,
    TrainingSpec,
    models_read,
    prerequisites,
    training_budget,
)


class FurtherJob(Protocol):
    """One model that a probe needs: its predictions appear in a folder named by the job."""

    @property
    def folder(self) -> Path: ...

    @property
    def job(self) -> Job: ...

    def run(self, start: float) -> Path:
        """Do the work, which began at `start`, and publish the folder."""
        ...


class Planner(Protocol):
    """What is on trial, and how its further models are made: one job for each."""

    @property
    def corpus(self) -> Corpus: ...

    def base_job(self, spec: BaseModelSpec, folder: Path) -> FurtherJob:
        """The predictions of the model on trial."""
        ...

    def further_job(
        self,
        spec: TrainingSpec,
        needs: Mapping[ModelSpec, Path],
        folder: Path,
        *,
        keep_model: bool,
        keep_train: bool,
    ) -> FurtherJob:
        """One further training, with the folders of those it needs."""
        ...


Execute = Callable[[Sequence[Task[FurtherJob]]], Iterable[object]]


def run_further_job(task: FurtherJob) -> Path:
    """The folder of the job, which is run if it was not finished before."""
    done = finished(task.folder, task.job)
    if done is not None:
        return done
    return task.run(time.perf_counter())


def run_trainings(
    specs: Sequence[ModelSpec], base: Planner, folder: Path, execute: Execute
) -> dict[ModelSpec, FurtherJob]:
    """Train all models and their prerequisites; `execute` lets an engine run the graph."""
    jobs = plan_jobs(specs, base, folder)
    for _ in execute(graph_tasks(jobs)):
        pass
    return jobs


def plan_jobs(
    specs: Sequence[ModelSpec], base: Planner, folder: Path
) -> dict[ModelSpec, FurtherJob]:
    """One job per model, each after its prerequisites."""
    order = list(dict.fromkeys(with_prerequisites(specs)))
    trainings = [spec for spec in order if isinstance(spec, TrainingSpec)]
    started = {spec.start for spec in trainings}
    read = {other for spec in trainings for other in models_read(spec)}
    jobs: dict[ModelSpec, FurtherJob] = {}
    for spec in order:
        if isinstance(spec, BaseModelSpec):
            jobs[spec] = base.base_job(spec, folder)
        else:
            places = {need: folder / jobs[need].job.key for need in prerequisites(spec)}
            jobs[spec] = base.further_job(
                spec, places, folder, keep_model=spec in started, keep_train=spec in read
            )
    return jobs


def graph_tasks(jobs: Mapping[ModelSpec, FurtherJob]) -> list[Task[FurtherJob]]:
    """The tasks of an engine; two specifications of the same training are one task."""
    tasks = {
        job.job.key: Task(
            job.job.key, job, tuple(jobs[need].job.key for need in prerequisites(spec))
        )
        for spec, job in jobs.items()
    }
    return list(tasks.values())


def with_prerequisites(specs: Iterable[ModelSpec]) -> Iterator[ModelSpec]:
    """Each model after those it needs; one that several need is repeated."""
    for spec in specs:
        yield from with_prerequisites(prerequisites(spec))
        yield spec


@dataclass(frozen=True)
class TrainedEvidence:
    """The evidence of the probes that need further trainings."""

    evidence: pl.DataFrame
    not_applicable: dict[str, str]  # probe -> reason
    budget: TrainingBudget
    base_outputs: Path | None  # the folder with the base's predictions; None: no probe was asked
    places: tuple[Path, ...] = ()  # the folders of all jobs


def run_training_probes(
    names: Sequence[str], base: Planner, budget: TrainingBudget, folder: Path, execute: Execute
) -> TrainedEvidence:
    """Train what the named probes need, in one graph, and let them conclude."""
    corpus = base.corpus
    plans, missing = planned_models(names, budget, corpus)
    specs = dict.fromkeys(spec for plan in plans.values() for spec in plan)
    if not specs:
        return TrainedEvidence(empty(), missing, budget, None)
    jobs = run_trainings([BaseModelSpec(), *specs], base, folder, execute)
    outputs = {spec: read_outputs(folder / jobs[spec].job.key) for spec in specs}
    tables = [
        sign(_trainings(name).conclude(outputs, budget, corpus), name, budget.seed)
        for name in plans
    ]
    base_outputs = folder / jobs[BaseModelSpec()].job.key
    places = tuple(dict.fromkeys(folder / job.job.key for job in jobs.values()))
    return TrainedEvidence(pl.concat(tables), missing, budget, base_outputs, places)


def planned_budget(settings: Settings, documents: Sequence[Document]) -> TrainingBudget:
    """How many further models a run trains, and on how many test documents costly scores are."""
    budget = training_budget(settings.preset, settings.seed, settings.seeds, settings.from_scratch)
    sizes = sample_of_trainings(settings, documents).sizes
    return replace(budget, score_sample=tuple((name, n) for name, n in sizes.items() if n))


def planned_models(
    names: Sequence[str], budget: TrainingBudget, corpus: Corpus
) -> tuple[dict[str, Sequence[ModelSpec]], dict[str, str]]:
    """The models that each probe needs, and the reasons of the probes that do not apply."""
    plans: dict[str, Sequence[ModelSpec]] = {}
    missing: dict[str, str] = {}
    for name in names:
        if PROBES[name].trainings is None:
            continue
        try:
            plans[name] = _trainings(name).plan(budget, corpus)
        except NotApplicable as reason:
            missing[name] = str(reason)
    return plans, missing


def _trainings(name: str) -> Trainings:
    trainings = PROBES[name].trainings
    assert trainings is not None, f"the probe {name} asks for no trainings"
    return trainings
