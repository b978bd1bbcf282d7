"""The jobs of a run: training the model and auditing documents.

Every job is a function of one frozen argument, so any engine can run it. It leaves its results in
a folder named by its hash and returns that folder.
"""

import hashlib
import inspect
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from assay.config import EXACT_BELOW
from assay.data.corpus import Corpus, Document
from assay.data.embeddings import Vectors
from assay.data.files import write_json, write_parquet
from assay.data.vocabulary import Vocabulary
from assay.models.build import TrainedModel, build_model, load_model, save_model
from assay.models.classifier import ModelConfig
from assay.models.protocol import Model
from assay.probes import PROBES
from assay.probes.inputs import inputs_digest
from assay.progress import Track, untracked
from assay.runs.audit import AuditResult, audit_documents
from assay.runs.store import (
    Job,
    canonical,
    checkpoint_path,
    code_identity,
    finished,
    publish,
)
from assay.runs.tables import EVIDENCE, INSTANCES, NOTES
from assay.runs.timing import write_job_timing
from assay.scores import SCORES
from assay.scores.score import RunDocuments
from assay.training.loop import Training, train
from assay.training.objectives import AttentionPenalty
from assay.training.recipes import Recipe

# The cost of auditing a document of T items: T**2 for leave-one-out plus this times T for the rest.
LINEAR_COST = 100
PART_COST = 2_000_000  # of one audit job: about two seconds of work without costly scores
MOST_PARTS = 50  # audit jobs of a run, unless it has very many documents
MOST_DOCUMENTS = 8_000  # of one audit job, about: what it measures is in memory until it ends


@dataclass(frozen=True)
class TrainJob:
    """One training; if it is killed, it continues after its last long epoch."""

    corpus: Corpus
    config: ModelConfig
    recipe: Recipe
    init_seed: int
    order_seed: int
    threads: int
    device: str
    vectors: Vectors | None = None
    penalty: AttentionPenalty | None = None  # only for control models
    code: str = field(default_factory=partial(code_identity, "train"))

    @property
    def job(self) -> Job:
        vectors = None if self.vectors is None else self.vectors.matrix.tobytes()
        identity = {
            "corpus": self.corpus.fingerprint,
            "config": asdict(self.config),
            "recipe": asdict(self.recipe),
            "init_seed": self.init_seed,
            "order_seed": self.order_seed,
            "threads": self.threads,
            "device": self.device,
            "vectors": None if vectors is None else hashlib.sha256(vectors).hexdigest(),
            "penalty": None if self.penalty is None else asdict(self.penalty),
        }
        return Job("train", identity, self.code)


def train_model(
    task: TrainJob, track: Track = untracked, checkpoint: Path | None = None
) -> tuple[TrainedModel, Training]:
    """Train a model in memory; `checkpoint` is the file for its long epochs."""
    torch.set_num_threads(task.threads)
    start = None if task.vectors is None else torch.from_numpy(task.vectors.matrix)
    network = build_model(task.config, task.init_seed, start).to(task.device)
    training = train(
        network,
        task.corpus,
        task.recipe,
        task.penalty,
        order_seed=task.order_seed,
        track=track,
        checkpoint=checkpoint,
    )
    return TrainedModel(network, task.corpus.vocabulary), training


def run_training(task: TrainJob, folder: Path, track: Track = untracked) -> Path:
    """Write model.safetensors, model.json and training.json into the job's folder."""
    done = finished(folder, task.job)
    if done is not None:
        return done
    start = time.perf_counter()
    trained, training = train_model(task, track, checkpoint_path(folder, task.job))
    seconds = time.perf_counter() - start

    def fill(place: Path) -> None:
        save_model(place, trained)
        write_job_timing(place, seconds)
        write_json(place / "training.json", asdict(training))

    return publish(folder, task.job, fill)


@dataclass(frozen=True)
class AuditPart:
    """Some documents, and what a job must know of all the others."""

    documents: tuple[Document, ...]
    run: RunDocuments
    inputs: Mapping[str, Any] = field(default_factory=dict)  # prepared; see `probes.inputs`


@dataclass(frozen=True)
class AttachedModel:
    """A model in memory that assay did not train, with the vocabulary of its documents."""

    network: Model
    vocabulary: Vocabulary


@dataclass(frozen=True)
class AuditJob:
    """All probes on some documents of one model."""

    # A folder that holds a saved model, or a model in memory, which only this process can audit.
    model: Path | AttachedModel
    model_key: str
    part: AuditPart
    probes: tuple[str, ...]
    seed: int
    sample: int | Mapping[str, int]  # documents of the run for all costly scores, or for each
    threads: int
    device: str
    folder: Path
    exact_below: int = EXACT_BELOW  # items: leave-one-out of shorter documents is exact
    code: str = field(default_factory=partial(code_identity, "audit"))

    @cached_property
    def job(self) -> Job:
        documents = [document.as_row() for document in self.part.documents]
        identity = {
            "model": self.model_key,
            "documents": hashlib.sha256(canonical(documents)).hexdigest(),
            "run": self.part.run.digest,
            "inputs": inputs_digest(self.part.inputs),
            "probes": self.probes,
            "plugins": plugin_code(self.probes),
            "seed": self.seed,
            "sample": self.sample,
            "exact_below": self.exact_below,
            "threads": self.threads,
            "device": self.device,
        }
        return Job("audit", identity, self.code)


def plugin_code(probes: Sequence[str]) -> dict[str, str]:
    """Digests of the code of probes and scores that are not part of assay, by name."""
    functions: dict[str, Any] = {name: PROBES[name].measure for name in probes}
    functions |= {name: score.compute for name, score in SCORES.items()}
    foreign = {
        name: function
        for name, function in functions.items()
        if function is not None and not getattr(function, "__module__", "").startswith("assay.")
    }
    return {name: source_digest(function) for name, function in foreign.items()}


def source_digest(function: Any) -> str:
    """A digest of the module that defines a function, or of the function alone.

    A notebook's module has no file that tells what is in its cells, and a partial has no module of
    its own.
    """
    code = getattr(function, "__code__", None)
    source = repr(function) if code is None else repr((code.co_code, code.co_consts))
    module = sys.modules.get(getattr(function, "__module__", None) or "__main__")
    if module is not None and module.__name__ != "__main__":
        with suppress(OSError, TypeError):  # built-in or compiled: the function itself must do
            source += inspect.getsource(module)
    return hashlib.sha256(source.encode()).hexdigest()


def run_audit(task: AuditJob) -> Path:
    """Write instances.parquet, evidence.parquet and notes.json into the job's folder."""
    done = finished(task.folder, task.job)
    if done is not None:
        return done
    start = time.perf_counter()
    torch.set_num_threads(task.threads)
    trained: AttachedModel | TrainedModel
    if isinstance(task.model, AttachedModel):
        trained = task.model
    else:
        trained = _load_once(task.model, task.device)
    measured = audit_documents(
        trained.network,
        task.part.documents,
        trained.vocabulary,
        probes=task.probes,
        seed=task.seed,
        model_seed=task.seed,
        device=task.device,
        run=task.part.run,
        sample=task.sample,
        inputs=task.part.inputs,
        exact_below=task.exact_below,
    )
    seconds = time.perf_counter() - start

    def fill(place: Path) -> None:
        _write(place, measured)
        write_job_timing(place, seconds, scores=measured.scores, probes=measured.probes)

    return publish(task.folder, task.job, fill)


def audit_parts(
    documents: Sequence[Document],
    inputs: Mapping[str, Any] | None = None,
    part_cost: int = PART_COST,
) -> list[AuditPart]:
    """Documents per job: a fixed function of their lengths, so that a resumed run cuts alike."""
    run = RunDocuments.of(documents)
    lengths = np.array([len(document.tokens) for document in documents], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")  # similar lengths together: less padding
    costs = lengths[order] ** 2 + LINEAR_COST * lengths[order]
    total = int(costs.sum())
    most = max(MOST_PARTS, len(documents) // MOST_DOCUMENTS)
    parts = min(max(1, total // part_cost), most)  # equal parts: a small rest is no job
    ends = np.flatnonzero(np.diff((np.cumsum(costs) - costs) * parts // max(1, total))) + 1
    return [
        AuditPart(tuple(documents[row] for row in part), run, inputs or {})
        for part in np.split(order, ends)
    ]


def _write(place: Path, measured: AuditResult) -> None:
    write_parquet(place / INSTANCES, measured.instances)
    write_parquet(place / EVIDENCE, measured.evidence)
    write_json(place / NOTES, {"not_applicable": measured.not_applicable})


@lru_cache(maxsize=1)
def _load_once(folder: Path, device: str) -> TrainedModel:
    trained = load_model(folder)
    trained.network.to(device)
    return trained
