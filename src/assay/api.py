"""How is everything the command does called from Python?"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from assay.auditing import audit_documents, odds_read_by
from assay.corpora.corpus import Corpus
from assay.models.saved import DESCRIPTION, Trained, save_model
from assay.probes import PROBES
from assay.recipes import corpus_for
from assay.report import write_report
from assay.results import Results
from assay.runs import check_probes, results_of, train_for_probes, training_of, vectors_of
from assay.scores.faded import EXACT_BELOW
from assay.settings import Settings, Ways, sample_for
from assay.store import write_json
from assay.training import Track, Training, untracked
from assay.trainings import AskedOfTrained, BaseModel
from assay.vectors import OWN
from assay.work import TrainJob, train_now


@dataclass(frozen=True)
class Fitted:
    """A trained model, and how it came to be."""

    trained: Trained
    training: Training
    settings: Settings
    task: TrainJob


@dataclass(frozen=True)
class Audit(Results):
    """Everything measured on one model: `evidence()`, `summary()`, `verdict()` and a page."""

    def report(self, path: str | Path) -> Path:
        """Write one offline HTML file."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.write(folder)
            write_json(folder / DESCRIPTION, {"classes": self.classes})
            return write_report(folder, Path(path))


def train(
    corpus: Corpus,
    *,
    encoder: str = "bilstm",
    attention: str = "additive",
    seed: int = 0,
    preset: str = "quick",
    vectors: str | Path | None = None,
    device: str = "cpu",
    track: Track = untracked,
) -> Fitted:
    """Train one of the papers' models on a corpus, selected on its dev split."""
    settings = Settings(
        corpus=corpus.name,
        encoder=encoder,
        attention=attention,
        seed=seed,
        preset=preset,
        device=device,
        threads=os.cpu_count() or 1,
        vectors=None if vectors is None else Path(vectors).name,
    )
    corpus = corpus_for(encoder, corpus)
    with tempfile.TemporaryDirectory() as folder:
        file = None if vectors is None else Path(vectors)
        if vectors == OWN:
            file = vectors_of(settings, corpus, Path(folder), track)
        task = training_of(settings, corpus, file)
    trained, training = train_now(task, track)
    return Fitted(trained, training, settings, task)


def audit(
    model: Fitted,
    corpus: Corpus,
    *,
    probes: Sequence[str] = tuple(PROBES),
    sample: int | None = None,
    exact_below: int = EXACT_BELOW,
    seeds: int | None = None,
    from_scratch: bool = False,
    track: Track = untracked,
) -> Audit:
    """Ask every probe of the model, on the corpus's test split.

    LIME, SHAP and other costly scores are taken on a seeded sample of that many documents, by
    default as many as in a run with the model's preset; leave-one-out of documents with fewer
    than `exact_below` items is exact.
    Probes that need a trainer train further models here, one after another: `seeds` sets how
    many differ by seed alone, and `from_scratch` lets no counterfeit go on from another.
    """
    check_probes(probes)
    corpus = corpus_for(model.settings.encoder, corpus)
    sample = sample_for(model.settings.preset) if sample is None else sample
    settings = replace(
        model.settings, probes=tuple(probes), sample=sample, exact_below=exact_below, seeds=seeds,
        from_scratch=from_scratch,
    )  # fmt: skip
    measured = audit_documents(
        model.trained.network,
        corpus.test,
        model.trained.vocabulary,
        probes=probes,
        seed=settings.seed,
        model_seed=settings.seed,
        device=settings.device,
        sample=sample,
        exact_below=exact_below,
        odds=odds_read_by(probes, corpus.train, model.trained.vocabulary),
    )
    task = replace(model.task, corpus=replace(corpus, vocabulary=model.trained.vocabulary))
    trained = _train_for_probes(model.trained, task, settings, track)
    results = results_of(settings, task, asdict(model.training), measured, trained)
    return Audit(**vars(results))


def _train_for_probes(
    trained: Trained, task: TrainJob, settings: Settings, track: Track
) -> AskedOfTrained:
    """As in a run, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, trained)
        base = BaseModel(folder, task)
        return train_for_probes(settings, base, folder / "jobs", Ways(track=track))
