"""Which jobs does a run consist of, and what does each leave behind?

Every job is a top-level function of one frozen argument, so that any engine can run it; it
leaves its results in a folder named by its hash and returns where.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from assay.auditing import Measured, audit_documents
from assay.batches import EncodedSplit, evaluation_batches
from assay.corpora.corpus import Corpus, Document
from assay.leaning import Lean, learn_leaning
from assay.models import ModelConfig, Network, build_model
from assay.models.saved import Trained, load_model, save_model
from assay.probes import PROBES
from assay.recipes import Recipe
from assay.scores.faded import EXACT_BELOW
from assay.scores.sampling import Whole
from assay.store import Job, canonical, finished, publish, write_json, write_parquet
from assay.training import Track, Training, train, untracked
from assay.vectors import Vectors
from assay.word_odds import WordOdds

AUDIT_PAIRS = 150_000  # squared items per audit job: some seconds of leave-one-out


@dataclass(frozen=True)
class TrainJob:
    """One training: restarted whole if it is killed."""

    corpus: Corpus
    config: ModelConfig
    recipe: Recipe
    init_seed: int
    order_seed: int
    threads: int
    device: str
    vectors: Vectors | None = None
    lean: Lean | None = None  # only models whose answer is to be known are pushed

    @property
    def job(self) -> Job:
        digest = (
            None
            if self.vectors is None
            else hashlib.sha256(self.vectors.matrix.tobytes()).hexdigest()
        )
        named = {"corpus": self.corpus.fingerprint, "config": asdict(self.config),
                 "recipe": self.recipe.as_record(), "init_seed": self.init_seed,
                 "order_seed": self.order_seed, "threads": self.threads, "device": self.device,
                 "vectors": digest}  # fmt: skip
        lean = {} if self.lean is None else {"lean": asdict(self.lean)}
        return Job("train", named | lean)


def train_now(task: TrainJob, track: Track = untracked) -> tuple[Trained, Training]:
    """The training itself, in memory."""
    torch.set_num_threads(task.threads)
    start = None if task.vectors is None else torch.from_numpy(task.vectors.matrix)
    network = build_model(task.config, task.init_seed, start).to(task.device)
    training = _taught(network, task, track)
    return Trained(network, task.corpus.vocabulary), training


def _taught(network: Network, task: TrainJob, track: Track) -> Training:
    corpus = task.corpus
    if task.lean is None:
        return train(network, corpus, task.recipe, order_seed=task.order_seed, track=track)
    splits = {
        name: EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))
        for name, documents in (("train", corpus.train), ("dev", corpus.dev))
    }
    return learn_leaning(network, splits, corpus, task.recipe, task.lean, task.order_seed, track)


def run_training(task: TrainJob, folder: Path, track: Track = untracked) -> Path:
    """model.safetensors, model.json and training.json in the job's folder."""
    done = finished(folder, task.job)
    if done is not None:
        return done
    trained, training = train_now(task, track)

    def fill(place: Path) -> None:
        save_model(place, trained)
        write_json(place / "training.json", asdict(training))

    return publish(folder, task.job, fill)


@dataclass(frozen=True)
class Part:
    """Some documents, and what a job must know of all the others."""

    documents: tuple[Document, ...]
    whole: Whole
    odds: WordOdds | None = None  # only where a probe reads them


@dataclass(frozen=True)
class AuditJob:
    """All probes on some documents of one model."""

    model: Path  # a folder that holds a saved model
    model_key: str
    part: Part
    probes: tuple[str, ...]
    seed: int
    sample: int  # documents of the run on which costly scores are taken
    threads: int
    device: str
    folder: Path
    exact_below: int = EXACT_BELOW  # items: leave-one-out of shorter documents is exact

    @property
    def job(self) -> Job:
        documents = [document.as_row() for document in self.part.documents]
        digest = hashlib.sha256(canonical(documents)).hexdigest()
        told = asdict(self.part.whole)
        marked = told.pop("marked") and any(PROBES[name].reads_marks for name in self.probes)
        whole = hashlib.sha256(canonical(told)).hexdigest()
        named = {"model": self.model_key, "documents": digest, "whole": whole,
                 "probes": self.probes, "seed": self.seed, "sample": self.sample,
                 "threads": self.threads, "device": self.device}  # fmt: skip
        # What came later is named only if it was asked for: older jobs keep their names.
        odds = {} if self.part.odds is None else {"odds": self.part.odds.digest}
        below = {} if self.exact_below == EXACT_BELOW else {"exact_below": self.exact_below}
        return Job("audit", named | odds | below | ({"marked": True} if marked else {}))


def run_audit(task: AuditJob) -> Path:
    """instances.parquet, evidence.parquet and notes.json in the job's folder."""
    done = finished(task.folder, task.job)
    if done is not None:
        return done
    torch.set_num_threads(task.threads)
    trained = _load_once(task.model, task.device)
    measured = audit_documents(
        trained.network, task.part.documents, trained.vocabulary, probes=task.probes,
        seed=task.seed, model_seed=task.seed, device=task.device, whole=task.part.whole,
        sample=task.sample, odds=task.part.odds, exact_below=task.exact_below,
    )  # fmt: skip
    return publish(task.folder, task.job, lambda place: _write(place, measured))


def audit_cuts(documents: Sequence[Document], odds: WordOdds | None = None) -> list[Part]:
    """Documents per job: a fixed function of their lengths, so that a resumed run cuts alike."""
    whole = Whole.of(documents)
    lengths = np.array([len(document.tokens) for document in documents], dtype=np.int64)
    return [
        Part(tuple(documents[row] for row in cut), whole, odds)
        for cut in evaluation_batches(lengths, AUDIT_PAIRS, power=2)
    ]


def _write(place: Path, measured: Measured) -> None:
    write_parquet(place / "instances.parquet", measured.instances)
    write_parquet(place / "evidence.parquet", measured.evidence)
    write_json(place / "notes.json", {"not_applicable": measured.not_applicable})


@lru_cache(maxsize=1)
def _load_once(folder: Path, device: str) -> Trained:
    trained = load_model(folder)
    trained.network.to(device)
    return trained
