"""How is everything the command does called from Python?"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.auditing import audit_documents, odds_read_by
from assay.corpora.corpus import Corpus
from assay.description import describe_run
from assay.models.saved import DESCRIPTION, Trained
from assay.probes import PROBES
from assay.report import write_report
from assay.results import Results
from assay.runs import check_probes, training_of
from assay.scores.sampling import SAMPLE
from assay.settings import Settings
from assay.store import write_json
from assay.training import Track, Training, untracked
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
    task = training_of(settings, corpus, None if vectors is None else Path(vectors))
    trained, training = train_now(task, track)
    return Fitted(trained, training, settings, task)


def audit(
    model: Fitted,
    corpus: Corpus,
    *,
    probes: Sequence[str] = tuple(PROBES),
    sample: int = SAMPLE,
) -> Audit:
    """Ask every probe of the model, on the corpus's test split.

    LIME, SHAP and other costly scores are taken on a seeded sample of that many documents.
    """
    check_probes(probes)
    settings = model.settings
    measured = audit_documents(
        model.trained.network,
        corpus.test,
        model.trained.vocabulary,
        probes=probes,
        seed=settings.seed,
        model_seed=settings.seed,
        device=settings.device,
        sample=sample,
        odds=odds_read_by(probes, corpus.train, model.trained.vocabulary),
    )
    record = {
        "settings": {**settings.as_record(), "probes": list(probes), "sample": sample},
        **describe_run(model.task, asdict(model.training), measured.instances),
        "not_applicable": measured.not_applicable,
        "status": "complete",
    }
    return Audit(measured.instances, measured.evidence, corpus.classes, record, settings.seed)
