"""Further trainings: the models that probes need beside the base, as one graph of cached jobs.

A job is a top-level function of one frozen argument, so any engine can run it. It leaves its
predictions on dev and test in a folder named by its hash; the network's weights and the
predictions on train only where another training needs them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import polars as pl
import torch

from assay.data.batches import EncodedSplit
from assay.data.corpus import Corpus, Document
from assay.data.files import write_json, write_parquet
from assay.engines import Task
from assay.evidence import empty, sign
from assay.models.build import TrainedModel, build_model, load_model, save_model
from assay.models.classifier import Network
from assay.models.view import NotApplicable
from assay.probes import PROBES
from assay.probes.probe import Trainings
from assay.runs.jobs import TrainJob
from assay.runs.model_outputs import (
    HISTORY,
    UNMARKED,
    read_outputs,
    score_functions,
    write_asked,
)
from assay.runs.store import Job, checkpoint_path, code_identity, finished, publish
from assay.runs.timing import training_kind, write_job_timing
from assay.scores.leave_one_out import leave_one_out
from assay.training.erased_items import erased_corpus, masked_items, with_masked_copies
from assay.training.imposed_weights import halves, imposed_weights
from assay.training.loop import fit
from assay.training.objectives import AttentionPenalty, Imitation, Objective
from assay.training.predictions import predict_split, read_predictions, without_marked_items
from assay.training.randomization import randomized, with_shuffled_labels
from assay.training.specs import (
    SPLITS,
    BaseModelSpec,
    DeceptionObjective,
    ErasedItems,
    ImitationObjective,
    ModelSpec,
    TrainingBudget,
    TrainingSpec,
    models_read,
    prerequisites,
)

THREADS = 1  # trainings run beside each other, and threads can change the last digits


@dataclass(frozen=True)
class TrainedBase:
    """The run's own model: the folder it is in and how it was trained."""

    place: Path
    training: TrainJob


@dataclass(frozen=True)
class BasePredictionJob:
    """The predictions of the run's own model on every split."""

    source: BaseModelSpec
    base: TrainedBase
    threads: int
    folder: Path
    code: str = field(default_factory=partial(code_identity, "predictions"))

    @property
    def job(self) -> Job:
        identity = {
            "model": self.base.training.job.key,
            **asdict(self.source),
            "threads": self.threads,
        }
        return Job("predictions", identity, self.code)


@dataclass(frozen=True)
class FurtherTrainingJob:
    """One training and its predictions; if killed, it continues after its last long epoch."""

    source: TrainingSpec
    training: TrainJob
    needs: Mapping[ModelSpec, Path]  # folders of other jobs, named by their hashes
    keep_model: bool
    keep_train: bool
    folder: Path
    code: str = field(default_factory=partial(code_identity, "further"))

    @property
    def job(self) -> Job:
        spec = self.source
        objective = {
            "kind": type(spec.objective).__name__,
            "weight": getattr(spec.objective, "weight", None),
        }
        identity = {
            **self.training.job.identity,
            "objective": objective,
            "imposed": None if spec.imposed is None else spec.imposed.kind,
            "half": spec.half,
            "started": spec.start is not None,
            "patience": spec.patience,
            "erased": None if spec.erased is None else _erased_identity(spec.erased),
            "shuffled_labels": spec.shuffled_labels,
            "scores": spec.scores,
            "masked_copies": spec.masked_copies,
            "asked": None if spec.asked is None else asdict(spec.asked),
            "needs": [place.name for place in self.needs.values()],
            "keep": [self.keep_model, self.keep_train],
        }
        return Job("further", identity, self.code)


def _erased_identity(erased: ErasedItems) -> dict[str, object]:
    """What changes the documents; the model of the importance is among the job's needs."""
    by = "random" if erased.of is None else erased.score
    return {"share": erased.share, "keep": erased.keep, "by": by}


FurtherJob = BasePredictionJob | FurtherTrainingJob
Execute = Callable[[Sequence[Task[FurtherJob]]], Iterable[object]]


def run_further_job(task: FurtherJob) -> Path:
    """The folder of the job, which is run if it was not finished before."""
    done = finished(task.folder, task.job)
    if done is not None:
        return done
    start = time.perf_counter()
    if isinstance(task, BasePredictionJob):
        return _predict_base(task, start)
    return _train_further(task, start)


def _predict_base(task: BasePredictionJob, start: float) -> Path:
    torch.set_num_threads(task.threads)
    corpus = task.base.training.corpus
    network = load_model(task.base.place).network
    if task.source.randomized:
        network = randomized(network, task.source.randomized, task.base.training.init_seed)
    network.to(task.base.training.device)
    scores = score_functions(task.source.scores, network)
    if task.source.leave_one_out:
        scores = {"leave_one_out": leave_one_out, **scores}

    def fill(place: Path) -> None:
        for name in SPLITS[1:] if task.source.without_train else SPLITS:
            split = _encoded(corpus, getattr(corpus, name))
            write_parquet(place / f"{name}.parquet", predict_split(network, split, scores))
        _predict_without_marked(place, network, corpus)
        write_asked(place, task.source.asked, network, corpus)
        _write_seconds(place, task, start)

    return publish(task.folder, task.job, fill)


def _train_further(task: FurtherTrainingJob, start: float) -> Path:
    torch.set_num_threads(task.training.threads)
    spec, corpus = task.source, _documents(task)
    splits = _splits(task, corpus)
    network = _network(task)
    train = _training_split(task, corpus, splits["train"])
    training = fit(
        network,
        {"train": train, "dev": splits["dev"]},
        corpus,
        task.training.recipe,
        _objective(task),
        order_seed=spec.order_seed,
        patience=spec.patience,
        checkpoint=checkpoint_path(task.folder, task.job),
    )

    def fill(place: Path) -> None:
        scores = score_functions(spec.scores, network)
        for name in SPLITS if task.keep_train else SPLITS[1:]:
            predictions = predict_split(network, splits[name], scores)
            if spec.erased is not None and task.keep_train:
                predictions = predictions.with_columns(masked_items(splits[name].documents))
            write_parquet(place / f"{name}.parquet", predictions)
        if isinstance(spec.objective, DeceptionObjective):
            _predict_without_marked(place, network, corpus)
        write_asked(place, spec.asked, network, corpus)
        if task.keep_model:
            save_model(place, TrainedModel(network, corpus.vocabulary))
        write_json(place / HISTORY, asdict(training))
        _write_seconds(place, task, start)

    return publish(task.folder, task.job, fill)


def _write_seconds(place: Path, task: FurtherJob, start: float) -> None:
    write_job_timing(place, time.perf_counter() - start, kind=training_kind(task.source))


def _documents(task: FurtherTrainingJob) -> Corpus:
    """The corpus as this training reads it."""
    corpus, spec = task.training.corpus, task.source
    if spec.erased is not None:
        corpus = erased_corpus(spec.erased, corpus, task.needs, spec.order_seed)
    return with_shuffled_labels(corpus, spec.order_seed) if spec.shuffled_labels else corpus


def _splits(task: FurtherTrainingJob, corpus: Corpus) -> dict[str, EncodedSplit]:
    """All splits, with imposed weights where the training has any."""
    imposed = task.source.imposed
    splits = {name: _encoded(corpus, getattr(corpus, name)) for name in SPLITS}
    if imposed is None:
        return splits
    weights = imposed_weights(imposed, corpus, task.needs, task.source.order_seed)
    return {name: replace(split, imposed=weights[name]) for name, split in splits.items()}


def _network(task: FurtherTrainingJob) -> Network:
    training, start = task.training, task.source.start
    if start is not None:
        network = load_model(task.needs[start]).network
    else:
        vectors = None if training.vectors is None else torch.from_numpy(training.vectors.matrix)
        network = build_model(training.config, training.init_seed, vectors)
    return network.to(training.device)


def _objective(task: FurtherTrainingJob) -> Objective:
    objective = task.source.objective
    if isinstance(objective, ImitationObjective):
        base = read_predictions(task.needs[objective.base] / "train.parquet")
        return Imitation(base, objective.weight)
    if isinstance(objective, DeceptionObjective):
        return AttentionPenalty(objective.weight)
    return task.training.penalty


def _encoded(corpus: Corpus, documents: Sequence[Document]) -> EncodedSplit:
    return EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))


def _training_split(task: FurtherTrainingJob, corpus: Corpus, whole: EncodedSplit) -> EncodedSplit:
    """The documents to learn from: all, one half of them, or all with masked copies."""
    spec = task.source
    if spec.masked_copies:
        return _encoded(corpus, with_masked_copies(corpus.train, spec.order_seed))
    if spec.half is None:
        return whole
    assigned = halves(corpus.train)
    return _encoded(corpus, [d for d in corpus.train if assigned[d.id] == spec.half])


def _predict_without_marked(place: Path, network: Network, corpus: Corpus) -> None:
    documents = without_marked_items(corpus.test)
    if documents:
        predictions = predict_split(network, _encoded(corpus, documents))
        write_parquet(place / f"{UNMARKED}.parquet", predictions)


def run_trainings(
    specs: Sequence[ModelSpec], base: TrainedBase, folder: Path, execute: Execute
) -> dict[ModelSpec, FurtherJob]:
    """Train all models and their prerequisites; `execute` lets an engine run the graph."""
    jobs = plan_jobs(specs, base, folder)
    for _ in execute(graph_tasks(jobs)):
        pass
    return jobs


def plan_jobs(
    specs: Sequence[ModelSpec], base: TrainedBase, folder: Path
) -> dict[ModelSpec, FurtherJob]:
    """One job per model, each after its prerequisites."""
    order = list(dict.fromkeys(with_prerequisites(specs)))
    trainings = [spec for spec in order if isinstance(spec, TrainingSpec)]
    started = {spec.start for spec in trainings}
    read = {other for spec in trainings for other in models_read(spec)}
    jobs: dict[ModelSpec, FurtherJob] = {}
    for spec in order:
        if isinstance(spec, BaseModelSpec):
            jobs[spec] = BasePredictionJob(spec, base, THREADS, folder)
        else:
            places = {need: folder / jobs[need].job.key for need in prerequisites(spec)}
            training = training_job(spec, base.training)
            jobs[spec] = FurtherTrainingJob(
                spec, training, places, spec in started, spec in read, folder
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


def training_job(spec: TrainingSpec, base: TrainJob) -> TrainJob:
    """The base's training with what the specification changes."""
    encoder = spec.encoder or base.config.encoder
    attention = spec.attention or base.config.attention
    same_encoder = spec.encoder is None
    size = base.config.size if same_encoder else base.recipe.size(encoder)
    return replace(
        base,
        config=replace(base.config, encoder=encoder, attention=attention, size=size),
        recipe=replace(base.recipe, epochs=spec.epochs or base.recipe.epochs),
        init_seed=spec.init_seed,
        order_seed=spec.order_seed,
        threads=THREADS,
        penalty=base.penalty if same_encoder else None,  # another network only learns the task
    )


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
    names: Sequence[str], base: TrainedBase, budget: TrainingBudget, folder: Path, execute: Execute
) -> TrainedEvidence:
    """Train what the named probes need, in one graph, and let them conclude."""
    corpus = base.training.corpus
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
