"""Further models of an attached model, made by a trainer: jobs of the graph of further trainings.

The predictions of the audited model are computed in the calling process, because the object may
live there alone; its job in the graph is finished before the graph starts. Every other job calls
the trainer, checks the model that comes back as any attached model is checked, and keeps its
predictions. Models with imposed weights are assay's own networks, unless the trainer trains them.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import polars as pl
import torch

from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus, Document
from assay.data.files import read_parquet, write_json, write_parquet
from assay.errors import UserError, errors_of_model
from assay.models.adapters.check import check_documents
from assay.models.conformance import check_batch, check_interface, check_shapes
from assay.models.imposed import ImposedAttention
from assay.models.protocol import Model
from assay.runs.audit import AUDIT_CELLS
from assay.runs.further_trainings import (
    THREADS,
    FurtherTrainingJob,
    training_job,
    write_training_seconds,
)
from assay.runs.jobs import TrainJob
from assay.runs.model_outputs import HISTORY
from assay.runs.store import Job, code_identity, finished, publish
from assay.runs.trainers import NamedTrainer
from assay.runs.training_graph import FurtherJob
from assay.runs.training_texts import TrainingTexts
from assay.training.imposed_weights import imposed_weights, of_half
from assay.training.predictions import predict_split
from assay.training.recipes import configure, recipe_for
from assay.training.specs import (
    SPLITS,
    BaseModelSpec,
    ImitationObjective,
    ModelSpec,
    TrainingSpec,
)
from assay.training.trainer import (
    AttentionRequest,
    TrainingCorpus,
    call_trainer,
    texts_digest,
    trains_imposed,
)

CHECKPOINTS = "checkpoints"
CONTEXT_FREE = "average"  # assay's own network that reads every item by itself
IMPOSED_TOLERANCE = 1e-3  # between a model's weights and those that were imposed on it


@dataclass(frozen=True)
class AttachedBase:
    """An attached model and the trainer of its further models: plans their jobs."""

    model: Model
    fingerprint: str
    corpus: Corpus  # all splits, as the audited model reads them
    texts: TrainingTexts
    trainer: NamedTrainer
    device: str

    def base_job(self, spec: BaseModelSpec, folder: Path) -> "AttachedPredictionJob":
        return AttachedPredictionJob(spec, self.fingerprint, self.corpus, self.device, folder)

    def further_job(
        self,
        spec: TrainingSpec,
        needs: Mapping[ModelSpec, Path],
        folder: Path,
        *,
        keep_model: bool,
        keep_train: bool,
    ) -> FurtherJob:
        if spec.encoder is not None and not trains_imposed(self.trainer.function):
            training = training_job(spec, self._own_network)
            return FurtherTrainingJob(spec, training, needs, keep_model, keep_train, folder)
        return TrainerJob(
            spec, self.trainer, self.texts, self.corpus, needs, keep_train, self.device, folder
        )

    def predict(self, folder: Path) -> None:
        """Compute the predictions of the audited model, if they are not there."""
        job = self.base_job(BaseModelSpec(), folder)
        if finished(folder, job.job) is None:
            start = time.perf_counter()

            def fill(place: Path) -> None:
                _write_predictions(place, self.model, self.corpus, self.device, SPLITS)
                write_training_seconds(place, job.source, start)

            publish(folder, job.job, fill)

    @cached_property
    def _own_network(self) -> TrainJob:
        """The training of assay's own network that reads every item by itself."""
        recipe = recipe_for(self.corpus, "quick", CONTEXT_FREE)
        config = configure(self.corpus, recipe, CONTEXT_FREE, "additive")
        return TrainJob(self.corpus, config, recipe, 0, 0, THREADS, self.device)


@dataclass(frozen=True)
class AttachedPredictionJob:
    """The predictions of the audited model on every split, which are there already."""

    source: BaseModelSpec
    fingerprint: str
    corpus: Corpus
    device: str
    folder: Path
    code: str = field(default_factory=partial(code_identity, "trainer"))

    @property
    def job(self) -> Job:
        identity = {
            "model": self.fingerprint,
            "corpus": self.corpus.fingerprint,
            "device": self.device,
            "threads": THREADS,
        }
        return Job("attached", identity, self.code)

    def run(self, start: float) -> Path:
        raise AssertionError("the audited model predicts before the graph starts")


@dataclass(frozen=True)
class TrainerJob:
    """One call of the trainer and the predictions of its model."""

    source: TrainingSpec
    trainer: NamedTrainer
    texts: TrainingTexts
    corpus: Corpus  # as the audited model reads it
    needs: Mapping[ModelSpec, Path]  # folders of other jobs, named by their hashes
    keep_train: bool
    device: str
    folder: Path
    code: str = field(default_factory=partial(code_identity, "trainer"))

    @cached_property
    def job(self) -> Job:
        spec = self.source
        identity = {
            "trainer": self.trainer.identity,
            "texts": texts_digest(self.texts.by_id),
            "corpus": self.corpus.fingerprint,
            "kind": self.kind,
            "lambda": getattr(spec.objective, "weight", None),
            "imposed": None if spec.imposed is None else spec.imposed.kind,
            "seed": spec.init_seed,
            "half": spec.half,
            "needs": [place.name for place in self.needs.values()],
            "keep": self.keep_train,
            "device": self.device,
            "threads": THREADS,
        }
        return Job("trainer", identity, self.code)

    @property
    def kind(self) -> str:
        """The kind of attention that the trainer is asked for."""
        if isinstance(self.source.objective, ImitationObjective):
            return "imitating"
        if self.source.encoder is not None:
            return "imposed"
        return "own" if self.source.attention is None else self.source.attention

    def run(self, start: float) -> Path:
        torch.set_num_threads(THREADS)
        spec, attention = self.source, self._attention()
        checkpoints = self.folder / CHECKPOINTS / self.job.key
        checkpoints.mkdir(parents=True, exist_ok=True)
        found = call_trainer(
            self.trainer.function,
            self.trainer.name,
            spec.init_seed,
            attention,
            self._training_corpus(),
            checkpoints,
        )
        said = f"the model of the trainer {self.trainer.name} (seed {spec.init_seed}, {attention})"
        model, corpus = self._checked(found, attention, said)

        def fill(place: Path) -> None:
            splits = SPLITS if self.keep_train else SPLITS[1:]
            _write_predictions(place, model, corpus, self.device, splits)
            _write_history(place, model)
            write_training_seconds(place, spec, start)

        place = publish(self.folder, self.job, fill)
        shutil.rmtree(checkpoints)
        return place

    def _training_corpus(self) -> TrainingCorpus:
        train = of_half(self.corpus.train, self.source.half)
        shown = {one.id: self.texts.by_id[one.id] for one in (*train, *self.corpus.dev)}
        return TrainingCorpus(self.corpus.classes, train, self.corpus.dev, shown)

    def _attention(self) -> AttentionRequest:
        spec = self.source
        if isinstance(spec.objective, ImitationObjective):
            base = self.needs[spec.objective.base]
            tables = [read_parquet(base / f"{name}.parquet") for name in ("train", "dev")]
            return AttentionRequest(
                "imitating",
                _by_document(tables, "attention"),
                _by_document(tables, "probabilities"),
                spec.objective.weight,
            )
        if spec.encoder is not None:
            return AttentionRequest("imposed", self._imposed())
        return AttentionRequest("own" if spec.attention is None else "uniform")

    def _imposed(self) -> dict[str, np.ndarray]:
        """The weights of every document of all splits; uniform where none are named."""
        documents = {name: getattr(self.corpus, name) for name in SPLITS}
        if self.source.imposed is None:
            every = [one for split in documents.values() for one in split]
            return {one.id: np.full(len(one.tokens), 1 / len(one.tokens)) for one in every}
        weights = imposed_weights(
            self.source.imposed, self.corpus, self.needs, self.source.order_seed
        )
        return {
            document.id: row.double().numpy()
            for name in SPLITS
            for document, row in zip(documents[name], weights[name], strict=True)
        }

    def _checked(
        self, found: object, attention: AttentionRequest, said: str
    ) -> tuple[Model, Corpus]:
        """What the trainer returned as a model, and the documents as it reads them."""
        try:
            with errors_of_model(f"{said} fails on the documents"):
                if isinstance(found, ImposedAttention):
                    check_interface(found.model)
                model = self.texts.named(check_interface(found))
                check_interface(model, self.corpus.classes)
                if self.device != "cpu" and callable(getattr(model, "to", None)):
                    model.to(self.device)  # type: ignore[attr-defined]
                corpus = self.texts.read(model)
                for name in SPLITS:
                    _check_same_items(getattr(self.corpus, name), getattr(corpus, name))
                self._check_model(model, corpus, attention)
        except UserError as fault:
            raise UserError(f"{said}: {fault}") from fault
        return model, corpus

    def _check_model(self, model: Model, corpus: Corpus, attention: AttentionRequest) -> None:
        """All checks of an attached model; of imposed weights, that they are there."""
        if attention.kind in ("own", "imitating"):
            check_documents(model, corpus, self.device).refuse()
        split = EncodedSplit.of(corpus, corpus.test)
        for cut in evaluation_batches(split.lengths, AUDIT_CELLS):
            batch = split.batch(cut.tolist()).to(self.device)
            if attention.kind in ("own", "imitating"):
                check_batch(model, batch)
                continue
            check_shapes(model, batch)
            with torch.no_grad():
                weights = model.attend(model.encode(batch)).double().cpu().numpy()
            for row, document in enumerate(split.documents[place] for place in cut):
                _check_imposed(document, weights[row], attention)


def _check_same_items(wanted: tuple[Document, ...], found: tuple[Document, ...]) -> None:
    for one, other in zip(wanted, found, strict=True):
        if len(one.tokens) != len(other.tokens):
            raise UserError(
                f"it reads document '{one.id}' as {len(other.tokens)} items, the audited model as "
                f"{len(one.tokens)}: let both cut texts alike, so that their weights can be "
                "compared."
            )


def _check_imposed(document: Document, weights: np.ndarray, attention: AttentionRequest) -> None:
    """Raise an error if the weights of a document are not those that were asked for."""
    length = len(document.tokens)
    wanted = np.zeros(len(weights))
    wanted[:length] = attention.weights.get(document.id, np.full(length, 1 / length))
    apart = np.abs(weights - wanted)
    if apart.max() > IMPOSED_TOLERANCE:
        item = int(apart.argmax())
        raise UserError(
            f"the attention was to be {attention.kind}, and item {item} of document "
            f"'{document.id}' has the weight {weights[item]:.4g} instead of {wanted[item]:.4g}: "
            "let `attend` return the weights that the model was trained with, for example by "
            "`assay.impose(model)` or `assay.impose(model, attention.weights)`."
        )


def _write_predictions(
    place: Path, model: Model, corpus: Corpus, device: str, splits: tuple[str, ...]
) -> None:
    for name in splits:
        documents = getattr(corpus, name)
        split = EncodedSplit.of(corpus, documents)
        write_parquet(place / f"{name}.parquet", predict_split(model, split, device=device))


def _write_history(place: Path, model: Model) -> None:
    """The losses by epoch, if the model carries them: they tell whether training had ended."""
    losses = getattr(model, "training_losses", None)
    if losses is not None:
        epochs = [{"epoch": number, "loss": float(loss)} for number, loss in enumerate(losses, 1)]
        write_json(place / HISTORY, {"epochs": epochs})


def _by_document(tables: list[pl.DataFrame], column: str) -> dict[str, np.ndarray]:
    return {
        name: np.array(values, dtype=np.float64)
        for table in tables
        for name, values in zip(table["id"], table[column].to_list(), strict=True)
    }
