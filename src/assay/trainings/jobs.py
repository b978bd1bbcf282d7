"""What is done for one lesson, and what does it leave behind?

A job is a top-level function of one frozen argument, so that any engine can run it. It leaves
its looks at dev and test in a folder named by its hash; weights of the network and the look at
train only where another lesson needs them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from assay.batches import EncodedSplit
from assay.corpora.corpus import Corpus
from assay.leaning import Lean, learn_leaning
from assay.lessons import Base, Deceive, Imitate, Lesson, Source
from assay.models import Network, build_model
from assay.models.saved import Trained, load_model, save_model
from assay.store import Job, finished, publish, write_json, write_parquet
from assay.training import (
    Training,
    dev_metric,
    fit,
    keep_best,
    learn,
    task_loss,
    untracked,
)
from assay.trainings.imposed import SPLITS, halves, imposed_weights
from assay.trainings.looks import look, read_look, without_marked
from assay.trainings.losses import imitation_loss
from assay.work import TrainJob

UNMARKED = "unmarked"  # test without its marked items


@dataclass(frozen=True)
class BaseModel:
    """The run's own model: where it lies and how it was trained."""

    place: Path
    training: TrainJob


@dataclass(frozen=True)
class BaseJob:
    """A look at the run's own model, on every split."""

    source: Base
    base: BaseModel
    threads: int
    folder: Path

    @property
    def job(self) -> Job:
        return Job("look", {"model": self.base.training.job.key, **asdict(self.source),
                            "threads": self.threads})  # fmt: skip


@dataclass(frozen=True)
class LessonJob:
    """One training and the looks at its model: restarted whole if it is killed."""

    source: Lesson
    training: TrainJob
    needs: Mapping[Source, Path]  # folders of other jobs, named by their hashes
    keep_model: bool
    keep_train: bool
    folder: Path

    @property
    def job(self) -> Job:
        lesson = self.source
        aim = {"kind": type(lesson.aim).__name__, "weight": getattr(lesson.aim, "weight", None)}
        guide = None if lesson.guide is None else lesson.guide.kind
        return Job("lesson", {
            **self.training.job.identity, "aim": aim, "guide": guide, "half": lesson.half,
            "started": lesson.start is not None, "patience": lesson.patience,
            "needs": [place.name for place in self.needs.values()],
            "keep": [self.keep_model, self.keep_train],
        })  # fmt: skip


def run_job(task: BaseJob | LessonJob) -> Path:
    """The folder of the job, from before or from now."""
    done = finished(task.folder, task.job)
    if done is not None:
        return done
    return _look_at_base(task) if isinstance(task, BaseJob) else _teach(task)


def _look_at_base(task: BaseJob) -> Path:
    torch.set_num_threads(task.threads)
    corpus = task.base.training.corpus
    network = load_model(task.base.place).network.to(task.base.training.device)

    def fill(place: Path) -> None:
        for name in SPLITS:
            split = _encoded(corpus, name)
            write_parquet(place / f"{name}.parquet",
                          look(network, split, deletions=task.source.leave_one_out))  # fmt: skip
        _look_without_marked(place, network, corpus)

    return publish(task.folder, task.job, fill)


def _teach(task: LessonJob) -> Path:
    torch.set_num_threads(task.training.threads)
    corpus, lesson = task.training.corpus, task.source
    splits = _splits(task)
    network = _network(task)
    training = _fit(task, network, splits)

    def fill(place: Path) -> None:
        for name in SPLITS if task.keep_train else SPLITS[1:]:
            write_parquet(place / f"{name}.parquet", look(network, splits[name]))
        if isinstance(lesson.aim, Deceive):
            _look_without_marked(place, network, corpus)
        if task.keep_model:
            save_model(place, Trained(network, corpus.vocabulary))
        write_json(place / "training.json", asdict(training))

    return publish(task.folder, task.job, fill)


def _splits(task: LessonJob) -> dict[str, EncodedSplit]:
    """As the lesson reads them: with imposed weights, where there are any."""
    corpus, guide = task.training.corpus, task.source.guide
    splits = {name: _encoded(corpus, name) for name in SPLITS}
    if guide is None:
        return splits
    weights = imposed_weights(guide, corpus, task.needs, task.source.order_seed)
    return {name: replace(split, imposed=weights[name]) for name, split in splits.items()}


def _network(task: LessonJob) -> Network:
    training, start = task.training, task.source.start
    if start is not None:
        network = load_model(task.needs[start]).network
    else:
        vectors = None if training.vectors is None else torch.from_numpy(training.vectors.matrix)
        network = build_model(training.config, training.init_seed, vectors)
    return network.to(training.device)


def _fit(task: LessonJob, network: Network, splits: Mapping[str, EncodedSplit]) -> Training:
    """Counterfeiters stop by their training loss, as published; all others by dev."""
    lesson, corpus, recipe = task.source, task.training.corpus, task.training.recipe
    taught = splits["train"] if lesson.half is None else _half(corpus, lesson.half)
    if isinstance(lesson.aim, Imitate):
        base = read_look(task.needs[lesson.aim.base] / "train.parquet")
        loss = imitation_loss(base, lesson.aim.weight)
        losses = fit(network, taught, recipe, loss, lesson.order_seed, untracked)
        return keep_best(network, losses, "training loss", lambda value: -value, lesson.patience)
    lean = Lean(lesson.aim.weight) if isinstance(lesson.aim, Deceive) else task.training.lean
    if lean is not None:
        taught_dev = {"train": taught, "dev": splits["dev"]}
        return learn_leaning(network, taught_dev, corpus, recipe, lean, lesson.order_seed,
                             untracked)  # fmt: skip
    return learn(network, taught, splits["dev"], recipe, task_loss(corpus), dev_metric(corpus),
                 lesson.order_seed, untracked)  # fmt: skip


def _encoded(corpus: Corpus, name: str) -> EncodedSplit:
    return EncodedSplit.encode(getattr(corpus, name), corpus.vocabulary, len(corpus.classes))


def _half(corpus: Corpus, half: int) -> EncodedSplit:
    where = halves(corpus.train)
    documents = [document for document in corpus.train if where[document.id] == half]
    return EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))


def _look_without_marked(place: Path, network: Network, corpus: Corpus) -> None:
    documents = without_marked(corpus.test)
    if documents:
        split = EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))
        write_parquet(place / f"{UNMARKED}.parquet", look(network, split))
