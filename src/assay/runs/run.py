"""One run from text to tables, for the command line and for Python alike.

A run directory holds `jobs/`, one folder per finished job, from which everything else is made
again in a second. Resuming is no special case: finished jobs are found by their hash.
"""

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from assay.config import VERSION, Execution, Settings
from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus
from assay.data.embeddings import load_vectors
from assay.data.files import read_json
from assay.engines import Task, engine_session, run_graph
from assay.models.build import DESCRIPTION, WEIGHTS
from assay.probes import PROBES, probes_of_trained_models
from assay.runs.audit import inputs_of, sample_of
from assay.runs.directory_access import check_directory, is_done, prepare_directory
from assay.runs.estimate import audit_seconds, faster_engine, further_seconds
from assay.runs.further_trainings import THREADS, TrainedBase
from assay.runs.jobs import AuditJob, TrainJob, audit_parts, run_audit, run_training
from assay.runs.lock import locked
from assay.runs.manifest import Manifest
from assay.runs.results import Results, write_results
from assay.runs.store import copy_file, finished, remove_leftovers
from assay.runs.tables import AuditedParts
from assay.runs.timing import RunTiming
from assay.runs.training_graph import (
    FurtherJob,
    TrainedEvidence,
    planned_budget,
    run_further_job,
    run_training_probes,
)
from assay.runs.validation import check_probes
from assay.runs.word_vectors import COMPUTED_VECTORS, compute_vectors, describe_vectors
from assay.statistics.classification import f1, macro_f1
from assay.statistics.intervals import balanced_accuracy_interval
from assay.training.recipes import configure, corpus_for, recipe_for
from assay.training.specs import TrainingBudget

LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "polars")
BASE_OUTPUTS = ("train.parquet", "dev.parquet")  # the base's predictions, which others may need


def execute_run(
    settings: Settings, out: Path, *, execution: Execution | None = None, resume: bool = False
) -> None:
    """Load, train, audit and judge: fill the run directory with everything a report needs."""
    execution = execution or Execution()
    settings = settings.resolved(probes_of_trained_models())
    check_probes(settings.probes)
    if is_done(out, settings.as_record(), resume, execution.without_text):
        return
    timing = RunTiming(execution.stage)
    with timing.stage("corpus"):
        corpus = corpus_for(
            settings.encoder,
            load_corpus(
                settings.corpus,
                data=execution.data,
                limit=settings.limit,
                seed=settings.seed,
                options=settings.options,
            ),
        )
    execution.on_corpus(corpus)
    # Read before the folder is claimed, so that a mistyped column or a broken file claims nothing.
    computed = settings.vectors in COMPUTED_VECTORS
    task = None if computed else training_of(settings, corpus, execution.vectors)
    with locked(out):
        prepare_directory(out, settings.as_record(), execution.without_text)
        if task is None:
            with timing.stage("vectors"):
                vectors = compute_vectors(settings, corpus, out / "jobs", execution.track)
            task = training_of(settings, corpus, vectors)
        _fill(settings, task, out, execution, timing)


def execute_training(
    settings: Settings, task: TrainJob, out: Path, budget: TrainingBudget | None = None
) -> None:
    """The same for a training that is already described, such as that of a control model."""
    settings = settings.resolved(probes_of_trained_models())
    check_directory(out, settings.as_record(), resume=True)
    with locked(out):
        prepare_directory(out, settings.as_record())
        _fill(settings, task, out, Execution(), RunTiming(), budget)


def _fill(
    settings: Settings,
    task: TrainJob,
    out: Path,
    execution: Execution,
    timing: RunTiming,
    budget: TrainingBudget | None = None,
) -> None:
    with timing.stage("training"):
        place = run_training(task, out / "jobs", execution.track)
    timing.add_jobs("training", [place])
    training = read_json(place / "training.json")
    base = TrainedBase(place.resolve(), task)
    results, trained = measure(settings, base, training, out / "jobs", execution, timing, budget)
    with timing.stage("tables"):
        if not execution.without_text:
            _copy_models(out, place, trained)
        write_results(results, out, execution.without_text)
    timing.write(out)
    remove_leftovers(out)  # what workers left that were killed while the run went on


def _copy_models(out: Path, place: Path, trained: TrainedEvidence) -> None:
    """Copy the run's model and, where probes needed them, its predictions out of the jobs."""
    for name in (WEIGHTS, DESCRIPTION):
        copy_file(place / name, out / name)
    if trained.base_outputs is not None:
        for name in BASE_OUTPUTS:
            copy_file(trained.base_outputs / name, out / "outputs" / name)


def measure(
    settings: Settings,
    base: TrainedBase,
    training: Mapping[str, Any],
    folder: Path,
    execution: Execution,
    timing: RunTiming | None = None,
    budget: TrainingBudget | None = None,
) -> tuple[Results, TrainedEvidence]:
    """Ask every probe of a trained model; jobs are kept below `folder`.

    `budget` replaces the preset's number of further trainings.
    """
    timing = timing or RunTiming()
    with engine_session(execution.parallel_jobs(THREADS)):
        with timing.stage("audit"):
            audited = audit_model(settings, base, folder, execution, timing)
        with timing.stage("further trainings"):
            trained = train_for_probes(settings, base, folder, execution, timing, budget)
    manifest = manifest_of(settings, base.training, training, audited, trained)
    source, classes = replace(audited, more=trained.evidence), base.training.corpus.classes
    return Results(source, classes, manifest, settings.seed), trained


def training_of(settings: Settings, corpus: Corpus, vectors: Path | None) -> TrainJob:
    """The training of the run's own model."""
    recipe = recipe_for(corpus, settings.preset, settings.encoder)
    loaded = None if vectors is None else load_vectors(vectors, corpus.vocabulary)
    dimension = None if loaded is None else loaded.dimension
    config = configure(corpus, recipe, settings.encoder, settings.attention, dimension)
    return TrainJob(
        corpus,
        config,
        recipe,
        init_seed=settings.seed,
        order_seed=settings.seed,
        threads=settings.threads,
        device=settings.device,
        vectors=loaded,
    )


def audit_model(
    settings: Settings,
    base: TrainedBase,
    folder: Path,
    execution: Execution,
    timing: RunTiming,
) -> AuditedParts:
    """Every probe that needs only the model, on every test document, by any engine."""
    task, corpus = base.training, base.training.corpus
    probes = tuple(name for name in settings.probes if PROBES[name].trainings is None)
    inputs = inputs_of(probes, corpus.train, corpus.vocabulary)
    sample = sample_of(settings, corpus.test)
    jobs = [
        AuditJob(
            base.place,
            task.job.key,
            part,
            probes,
            seed=settings.seed,
            sample=sample.all_sizes,
            threads=settings.threads,
            device=settings.device,
            folder=folder.resolve(),
            exact_below=settings.exact_below,
        )
        for part in audit_parts(corpus.test, inputs)
    ]
    workers = min(execution.parallel_jobs(settings.threads), jobs_left(jobs))
    engine = faster_engine(execution, audit_seconds(settings, corpus), workers)
    tasks = [Task(str(number), job) for number, job in enumerate(jobs)]
    with execution.watching("audit") as watch:
        pairs = run_graph(
            engine, run_audit, tasks, workers, ray_address=execution.ray_address, watch=watch
        )
        # By number, because engines finish jobs in any order.
        places = dict(pairs)
    parts = [places[task.key] for task in tasks]
    timing.add_jobs("audit", parts, 1 if engine == "serial" else workers)
    return AuditedParts.of(parts, corpus.test, sample)


def jobs_left(jobs: Iterable[AuditJob | FurtherJob]) -> int:
    """The number of jobs that an earlier run did not finish; at least one."""
    return max(1, sum(finished(job.folder, job.job) is None for job in jobs))


def train_for_probes(
    settings: Settings,
    base: TrainedBase,
    folder: Path,
    execution: Execution,
    timing: RunTiming,
    budget: TrainingBudget | None = None,
) -> TrainedEvidence:
    """The evidence of probes that need further models, trained by any engine."""
    task = base.training
    budget = budget or planned_budget(settings, task.corpus.test)
    seconds = further_seconds(settings, task.corpus, task.recipe, budget)
    workers = 1

    def execute(tasks: Sequence[Task[FurtherJob]]) -> Iterable[object]:
        nonlocal workers
        left = jobs_left(task.argument for task in tasks)
        workers = min(execution.parallel_jobs(THREADS), left)
        engine = faster_engine(execution, seconds, workers)
        workers = 1 if engine == "serial" else workers
        with execution.watching("trainings") as watch:
            yield from run_graph(
                engine,
                run_further_job,
                tasks,
                workers,
                ray_address=execution.ray_address,
                watch=watch,
            )

    trained = run_training_probes(settings.probes, base, budget, folder.resolve(), execute)
    timing.add_jobs("further trainings", trained.places, workers)
    return trained


def manifest_of(
    settings: Settings,
    task: TrainJob,
    training: Mapping[str, Any],
    audited: AuditedParts,
    trained: TrainedEvidence,
) -> Manifest:
    """What must be written down so that a run can be judged, and run again."""
    return Manifest.complete(
        settings.as_record(),
        seeds={
            "initialization": task.init_seed,
            "order": task.order_seed,
            "bootstrap": settings.seed,
        },
        recipe=asdict(task.recipe),
        vectors=describe_vectors(task.vectors, settings.vectors, task.corpus),
        versions=versions(),
        corpus=describe_corpus(task.corpus),
        training={
            "metric": training["metric"],
            "epochs": training["epochs"],
            "best_epoch": training["best"],
        },
        test=test_metrics(audited.outcomes(), task.corpus),
        trainings=None if trained.base_outputs is None else asdict(trained.budget),
        sample=None if audited.sample is None else audited.sample.as_record(),
        not_applicable=audited.not_applicable | trained.not_applicable,
    )


def versions(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """The versions of assay, Python and the libraries that compute."""
    found = {name: version(name) for name in libraries}
    return {"assay": VERSION, "python": platform.python_version(), **found}


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """The corpus as the manifest records it."""
    return {
        "name": corpus.name,
        "task": corpus.task,
        "classes": list(corpus.classes),
        "sizes": {"train": len(corpus.train), "dev": len(corpus.dev), "test": len(corpus.test)},
        "words": len(corpus.vocabulary),
        "licence": corpus.licence,
        "source": corpus.source,
        "dropped": dict(corpus.dropped),
        "said": list(corpus.notes),
        "fingerprint": corpus.fingerprint,
    }


def test_metrics(instances: pl.DataFrame, corpus: Corpus) -> dict[str, Any]:
    """How good the model is; an audit of a model that cannot do its task says little.

    A model guesses if its balanced accuracy may be that of chance, one over the number of classes.
    """
    labels, predictions = instances["label"].to_list(), instances["prediction"].to_list()
    sizes = instances["label"].value_counts()["count"]
    balanced = balanced_accuracy_interval(labels, predictions)
    metrics: dict[str, Any] = {
        "n": len(labels),
        "accuracy": float((instances["label"] == instances["prediction"]).mean()),  # type: ignore[arg-type]
        "largest_class": float(sizes.to_numpy().max() / len(labels)),
        "balanced_accuracy": balanced.value,
        "balanced_accuracy_low": balanced.low,
        "balanced_accuracy_high": balanced.high,
        "guesses": balanced.low <= 1 / len(sizes),
        "macro_f1": macro_f1(labels, predictions),
    }
    if corpus.binary:
        positive = corpus.classes[1]
        metrics["f1"] = f1(labels, predictions, positive)
    return metrics
