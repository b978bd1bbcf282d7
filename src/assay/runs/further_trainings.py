"""Further trainings of assay's own networks: the models that probes need beside the base.

A job is a top-level function of one frozen argument, so any engine can run it. It leaves its
predictions on dev and test in a folder named by its hash; the network's weights and the
predictions on train only where another training needs them.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import torch

from assay.data.batches import EncodedSplit
from assay.data.corpus import Corpus
from assay.data.files import write_json, write_parquet
from assay.models.build import TrainedModel, build_model, load_model, save_model
from assay.models.classifier import Network
from assay.runs.jobs import TrainJob
from assay.runs.model_outputs import (
    HISTORY,
    UNMARKED,
    score_functions,
    write_sampled_probe,
    write_sampled_scores,
)
from assay.runs.store import Job, checkpoint_path, code_identity, publish
from assay.runs.timing import training_kind, write_job_timing
from assay.runs.training_graph import FurtherJob
from assay.scores.leave_one_out import leave_one_out
from assay.training.erased_items import erased_corpus, masked_items, with_masked_copies
from assay.training.imposed_weights import imposed_weights, of_half
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
    TrainingSpec,
)

THREADS = 1  # trainings run beside each other, and threads can change the last digits


@dataclass(frozen=True)
class TrainedBase:
    """The run's own model: the folder it is in and how it was trained."""

    place: Path
    training: TrainJob

    @property
    def corpus(self) -> Corpus:
        return self.training.corpus

    def base_job(self, spec: BaseModelSpec, folder: Path) -> FurtherJob:
        return BasePredictionJob(spec, self, THREADS, folder)

    def further_job(
        self,
        spec: TrainingSpec,
        needs: Mapping[ModelSpec, Path],
        folder: Path,
        *,
        keep_model: bool,
        keep_train: bool,
    ) -> FurtherJob:
        training = training_job(spec, self.training)
        return FurtherTrainingJob(spec, training, needs, keep_model, keep_train, folder)


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

    def run(self, start: float) -> Path:
        return _predict_base(self, start)


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
            "sampled_probe": None if spec.sampled_probe is None else asdict(spec.sampled_probe),
            "sampled": None if spec.sampled is None else asdict(spec.sampled),
            "needs": [place.name for place in self.needs.values()],
            "keep": [self.keep_model, self.keep_train],
        }
        return Job("further", identity, self.code)

    def run(self, start: float) -> Path:
        return _train_further(self, start)


def _erased_identity(erased: ErasedItems) -> dict[str, object]:
    """What changes the documents; the model of the importance is among the job's needs."""
    by = "random" if erased.of is None else erased.score
    return {"share": erased.share, "keep": erased.keep, "by": by}


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
            split = EncodedSplit.of(corpus, getattr(corpus, name))
            write_parquet(place / f"{name}.parquet", predict_split(network, split, scores))
        _predict_without_marked(place, network, corpus)
        write_sampled_probe(place, task.source.sampled_probe, network, corpus)
        write_sampled_scores(place, task.source.sampled, network, corpus)
        write_training_seconds(place, task.source, start)

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
        write_sampled_probe(place, spec.sampled_probe, network, corpus)
        write_sampled_scores(place, spec.sampled, network, corpus)
        if task.keep_model:
            save_model(place, TrainedModel(network, corpus.vocabulary))
        write_json(place / HISTORY, asdict(training))
        write_training_seconds(place, spec, start)

    return publish(task.folder, task.job, fill)


def write_training_seconds(place: Path, spec: ModelSpec, start: float) -> None:
    """Write how long a job took, and what its model is for."""
    write_job_timing(place, time.perf_counter() - start, kind=training_kind(spec))


def _documents(task: FurtherTrainingJob) -> Corpus:
    """The corpus as this training reads it."""
    corpus, spec = task.training.corpus, task.source
    if spec.erased is not None:
        corpus = erased_corpus(spec.erased, corpus, task.needs, spec.order_seed)
    return with_shuffled_labels(corpus, spec.order_seed) if spec.shuffled_labels else corpus


def _splits(task: FurtherTrainingJob, corpus: Corpus) -> dict[str, EncodedSplit]:
    """All splits, with imposed weights where the training has any."""
    imposed = task.source.imposed
    splits = {name: EncodedSplit.of(corpus, getattr(corpus, name)) for name in SPLITS}
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


def _training_split(task: FurtherTrainingJob, corpus: Corpus, whole: EncodedSplit) -> EncodedSplit:
    """The documents to learn from: all, one half of them, or all with masked copies."""
    spec = task.source
    if spec.masked_copies:
        return EncodedSplit.of(corpus, with_masked_copies(corpus.train, spec.order_seed))
    if spec.half is None:
        return whole
    return EncodedSplit.of(corpus, of_half(corpus.train, spec.half))


def _predict_without_marked(place: Path, network: Network, corpus: Corpus) -> None:
    documents = without_marked_items(corpus.test)
    if documents:
        predictions = predict_split(network, EncodedSplit.of(corpus, documents))
        write_parquet(place / f"{UNMARKED}.parquet", predictions)


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
