"""What is done for one lesson, and what does it leave behind?

A job is a top-level function of one frozen argument, so that any engine can run it. It leaves
its looks at dev and test in a folder named by its hash; weights of the network and the look at
train only where another lesson needs them.

In which order are lessons taught, and what do their models say afterwards?

What do the probes that need a trainer say of this model?
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl
import torch

from assay.data.batches import EncodedSplit
from assay.data.corpus import Corpus
from assay.data.files import write_json, write_parquet
from assay.engines.graph import Task
from assay.evidence import empty, sign
from assay.models.build import TrainedModel, build_model, load_model, save_model
from assay.models.classifier import Network
from assay.models.view import NotApplicable
from assay.probes import PROBES
from assay.probes.probe import Trainings
from assay.runs.jobs import TrainJob
from assay.runs.store import Job, finished, publish
from assay.scores.leave_one_out import leave_one_out
from assay.training.imposed_weights import SPLITS, halves, imposed_weights
from assay.training.loop import Training, fit
from assay.training.objectives import AttentionPenalty, Imitation, Objective
from assay.training.predictions import predict_split, read_predictions, without_marked_items
from assay.training.specs import (
    BaseModelSpec,
    DeceptionObjective,
    ImitationObjective,
    ModelOutputs,
    ModelSpec,
    TrainingBudget,
    TrainingSpec,
    models_read,
    prerequisites,
)

UNMARKED = "unmarked"  # test without its marked items


@dataclass(frozen=True)
class TrainedBase:
    """The run's own model: where it lies and how it was trained."""

    place: Path
    training: TrainJob


@dataclass(frozen=True)
class BasePredictionJob:
    """A look at the run's own model, on every split."""

    source: BaseModelSpec
    base: TrainedBase
    threads: int
    folder: Path

    @property
    def job(self) -> Job:
        return Job(
            "predictions",
            {"model": self.base.training.job.key, **asdict(self.source), "threads": self.threads},
        )


@dataclass(frozen=True)
class FurtherTrainingJob:
    """One training and the looks at its model: restarted whole if it is killed."""

    source: TrainingSpec
    training: TrainJob
    needs: Mapping[ModelSpec, Path]  # folders of other jobs, named by their hashes
    keep_model: bool
    keep_train: bool
    folder: Path

    @property
    def job(self) -> Job:
        lesson = self.source
        aim = {"kind": type(lesson.aim).__name__, "weight": getattr(lesson.aim, "weight", None)}
        guide = None if lesson.guide is None else lesson.guide.kind
        return Job(
            "further",
            {
                **self.training.job.identity,
                "aim": aim,
                "guide": guide,
                "half": lesson.half,
                "started": lesson.start is not None,
                "patience": lesson.patience,
                "needs": [place.name for place in self.needs.values()],
                "keep": [self.keep_model, self.keep_train],
            },
        )


def run_further_job(task: BasePredictionJob | FurtherTrainingJob) -> Path:
    """The folder of the job, from before or from now."""
    done = finished(task.folder, task.job)
    if done is not None:
        return done
    return _predict_base(task) if isinstance(task, BasePredictionJob) else _train_further(task)


def _predict_base(task: BasePredictionJob) -> Path:
    torch.set_num_threads(task.threads)
    corpus = task.base.training.corpus
    network = load_model(task.base.place).network.to(task.base.training.device)

    scores = {"leave_one_out": leave_one_out} if task.source.leave_one_out else None

    def fill(place: Path) -> None:
        for name in SPLITS:
            split = _encoded(corpus, name)
            write_parquet(
                place / f"{name}.parquet",
                predict_split(network, split, scores),
            )
        _predict_without_marked(place, network, corpus)

    return publish(task.folder, task.job, fill)


def _train_further(task: FurtherTrainingJob) -> Path:
    torch.set_num_threads(task.training.threads)
    corpus, lesson = task.training.corpus, task.source
    splits = _splits(task)
    network = _network(task)
    training = _fit_objective(task, network, splits)

    def fill(place: Path) -> None:
        for name in SPLITS if task.keep_train else SPLITS[1:]:
            write_parquet(place / f"{name}.parquet", predict_split(network, splits[name]))
        if isinstance(lesson.aim, DeceptionObjective):
            _predict_without_marked(place, network, corpus)
        if task.keep_model:
            save_model(place, TrainedModel(network, corpus.vocabulary))
        write_json(place / "training.json", asdict(training))

    return publish(task.folder, task.job, fill)


def _splits(task: FurtherTrainingJob) -> dict[str, EncodedSplit]:
    """As the lesson reads them: with imposed weights, where there are any."""
    corpus, guide = task.training.corpus, task.source.guide
    splits = {name: _encoded(corpus, name) for name in SPLITS}
    if guide is None:
        return splits
    weights = imposed_weights(guide, corpus, task.needs, task.source.order_seed)
    return {name: replace(split, imposed=weights[name]) for name, split in splits.items()}


def _network(task: FurtherTrainingJob) -> Network:
    training, start = task.training, task.source.start
    if start is not None:
        network = load_model(task.needs[start]).network
    else:
        vectors = None if training.vectors is None else torch.from_numpy(training.vectors.matrix)
        network = build_model(training.config, training.init_seed, vectors)
    return network.to(training.device)


def _fit_objective(
    task: FurtherTrainingJob, network: Network, splits: Mapping[str, EncodedSplit]
) -> Training:
    spec, corpus, recipe = task.source, task.training.corpus, task.training.recipe
    train = splits["train"] if spec.half is None else _half(corpus, spec.half)
    return fit(
        network,
        {"train": train, "dev": splits["dev"]},
        corpus,
        recipe,
        _objective(task),
        order_seed=spec.order_seed,
        patience=spec.patience,
    )


def _objective(task: FurtherTrainingJob) -> Objective:
    spec = task.source
    if isinstance(spec.aim, ImitationObjective):
        base = read_predictions(task.needs[spec.aim.base] / "train.parquet")
        return Imitation(base, spec.aim.weight)
    if isinstance(spec.aim, DeceptionObjective):
        return AttentionPenalty(spec.aim.weight)
    return task.training.penalty


def _encoded(corpus: Corpus, name: str) -> EncodedSplit:
    return EncodedSplit.encode(getattr(corpus, name), corpus.vocabulary, len(corpus.classes))


def _half(corpus: Corpus, half: int) -> EncodedSplit:
    where = halves(corpus.train)
    documents = [document for document in corpus.train if where[document.id] == half]
    return EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))


def _predict_without_marked(place: Path, network: Network, corpus: Corpus) -> None:
    documents = without_marked_items(corpus.test)
    if documents:
        split = EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))
        write_parquet(place / f"{UNMARKED}.parquet", predict_split(network, split))


THREADS = 1  # trainings stand beside each other; threads can change last digits
FurtherJob = BasePredictionJob | FurtherTrainingJob
Execute = Callable[[Sequence[Task[FurtherJob]]], Iterable[object]]


def run_trainings(
    wanted: Sequence[ModelSpec], base: TrainedBase, folder: Path, execute: Execute
) -> dict[ModelSpec, FurtherJob]:
    """Teach all that is wanted and needed; `execute` lets an engine walk the graph.

    Results lie in the jobs' folders.
    """
    jobs = plan_jobs(wanted, base, folder)
    for _ in execute(graph_tasks(jobs)):
        pass
    return jobs


def plan_jobs(
    wanted: Sequence[ModelSpec], base: TrainedBase, folder: Path
) -> dict[ModelSpec, FurtherJob]:
    """A job per source, each after those it needs."""
    order = list(dict.fromkeys(_with_needs(wanted)))
    lessons = [source for source in order if isinstance(source, TrainingSpec)]
    started = {lesson.start for lesson in lessons}
    read = {other for lesson in lessons for other in models_read(lesson)}
    jobs: dict[ModelSpec, FurtherJob] = {}
    for source in order:
        if isinstance(source, BaseModelSpec):
            jobs[source] = BasePredictionJob(source, base, THREADS, folder)
        else:
            places = {need: folder / jobs[need].job.key for need in prerequisites(source)}
            training = training_job(source, base.training)
            jobs[source] = FurtherTrainingJob(
                source, training, places, source in started, source in read, folder
            )
    return jobs


def graph_tasks(jobs: Mapping[ModelSpec, FurtherJob]) -> list[Task[FurtherJob]]:
    """Each job once, also where two lessons come to the same training."""
    tasks = {
        job.job.key: Task(
            job.job.key, job, tuple(jobs[need].job.key for need in prerequisites(source))
        )
        for source, job in jobs.items()
    }
    return list(tasks.values())


def training_job(lesson: TrainingSpec, base: TrainJob) -> TrainJob:
    """The base's training with what the lesson changes of it."""
    encoder = lesson.encoder or base.config.encoder
    attention = lesson.attention or base.config.attention
    own = lesson.encoder is None
    size = base.config.size if own else base.recipe.size(encoder)
    return replace(
        base,
        config=replace(base.config, encoder=encoder, attention=attention, size=size),
        recipe=replace(base.recipe, epochs=lesson.epochs or base.recipe.epochs),
        init_seed=lesson.init_seed,
        order_seed=lesson.order_seed,
        threads=THREADS,
        penalty=base.penalty if own else None,  # another network only learns the task
    )


def read_outputs(place: Path) -> ModelOutputs:
    unmarked = place / f"{UNMARKED}.parquet"
    return ModelOutputs(
        read_predictions(place / "dev.parquet"),
        read_predictions(place / "test.parquet"),
        read_predictions(unmarked) if unmarked.exists() else None,
    )


def _with_needs(wanted: Iterable[ModelSpec]) -> Iterator[ModelSpec]:
    for source in wanted:
        yield from _with_needs(prerequisites(source))
        yield source


@dataclass(frozen=True)
class TrainedEvidence:
    """Rows of evidence, which of these probes do not apply and why, and what was trained."""

    evidence: pl.DataFrame
    not_applicable: dict[str, str]  # probe -> why
    budget: TrainingBudget
    base_outputs: Path | None  # the folder with the base's predictions; None: no probe was asked


def run_training_probes(
    names: Sequence[str], base: TrainedBase, scale: TrainingBudget, folder: Path, execute: Execute
) -> TrainedEvidence:
    """All their trainings are one graph: what two probes ask for is trained once."""
    corpus = base.training.corpus
    asked, missing = _plans(names, scale, corpus)
    wanted = dict.fromkeys(source for plan in asked.values() for source in plan)
    if not wanted:
        return TrainedEvidence(empty(), missing, scale, None)
    jobs = run_trainings([BaseModelSpec(), *wanted], base, folder, execute)
    outputs = {source: read_outputs(folder / jobs[source].job.key) for source in wanted}
    signed = [
        sign(_trainings(name).conclude(outputs, scale, corpus), name, scale.seed) for name in asked
    ]
    return TrainedEvidence(
        pl.concat(signed), missing, scale, folder / jobs[BaseModelSpec()].job.key
    )


def _plans(
    names: Sequence[str], scale: TrainingBudget, corpus: Corpus
) -> tuple[dict[str, Sequence[ModelSpec]], dict[str, str]]:
    """What each probe wants trained; and of those that do not apply, why."""
    asked: dict[str, Sequence[ModelSpec]] = {}
    missing: dict[str, str] = {}
    for name in names:
        if PROBES[name].trainings is None:
            continue
        try:
            asked[name] = _trainings(name).plan(scale, corpus)
        except NotApplicable as reason:
            missing[name] = str(reason)
    return asked, missing


def _trainings(name: str) -> Trainings:
    trainings = PROBES[name].trainings
    assert trainings is not None, f"the probe {name} asks for no trainings"
    return trainings
