"""The audit of a model that was not trained here: any object with the three methods.

The documents are divided into small jobs. A job is known by the model's fingerprint, its site, its
documents and the settings, so a killed audit continues after its last finished job. The object may
live in this process alone, therefore the jobs run here, one after another.

Probes that need further models are measured if there is a trainer, which knows how to train the
model again; its jobs can run on any engine.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from assay.config import EXACT_BELOW, Execution
from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus
from assay.engines import Task, run_graph
from assay.errors import UserError, errors_of_model
from assay.models.adapters.check import check_documents
from assay.models.adapters.transformer import AttachedTransformer
from assay.models.conformance import check_batch, check_interface
from assay.models.fingerprint import model_fingerprint
from assay.models.protocol import Model
from assay.probes import PROBES
from assay.runs.audit import AUDIT_CELLS, inputs_of, probe_costs, scores_for
from assay.runs.directory_access import is_done, prepare_directory
from assay.runs.further_trainings import THREADS
from assay.runs.jobs import AttachedModel, AuditJob, audit_parts, run_audit
from assay.runs.lock import locked
from assay.runs.manifest import Manifest
from assay.runs.results import Results, write_results
from assay.runs.run import describe_corpus, test_metrics, versions
from assay.runs.store import remove_leftovers
from assay.runs.tables import AuditedParts
from assay.runs.timing import RunTiming
from assay.runs.trainer_jobs import AttachedBase
from assay.runs.trainers import NamedTrainer
from assay.runs.training_graph import (
    FurtherJob,
    TrainedEvidence,
    run_further_job,
    run_training_probes,
)
from assay.runs.training_texts import TrainingTexts
from assay.scores.sample import SamplePlan, plan_sample
from assay.scores.score import RunDocuments
from assay.training.specs import TrainingBudget, training_budget

# Cost of one job, in the units of `audit_parts`: eight documents of 20 items, or one of 100. A
# foreign model may be a thousand times slower than ours, and a part is what a killed audit loses.
PART_COST = 20_000
NEEDS_TRAINER = "it needs a trainer: assay does not know how to train this model again"
NOT_ASKED = "a trainer is asked for the models of uniform, seeds, guide and imitation alone"
ASKED = ("uniform", "seeds", "guide", "imitation")  # the probes that a trainer trains for
# Lambda of the imitations of a foreign model. Each starts anew, because a trainer need not be able
# to continue a training.
LAMBDAS = (0.0, 0.03, 0.1)
FINGERPRINT_DOCUMENTS = 8  # that the model answers for its fingerprint


@dataclass(frozen=True)
class AttachedSettings:
    """Everything that can change the result, beside the model and its documents."""

    model: str  # as the user named it, or the name of its class
    probes: tuple[str, ...]
    seed: int = 0
    sample: int | None = None
    exact_below: int = EXACT_BELOW
    threads: int = field(default_factory=torch.get_num_threads)
    device: str = "cpu"
    # How the model and the documents were chosen: columns, classes, limit, layer, heads, query.
    options: Mapping[str, Any] = field(default_factory=dict)

    def as_record(self) -> dict[str, Any]:
        """As JSON can hold them; what was not chosen is left out."""
        chosen = {name: value for name, value in self.options.items() if value is not None}
        record = {**asdict(self), **chosen, "probes": list(self.probes)}
        del record["options"]
        return record


@dataclass(frozen=True)
class Retraining:
    """How the audited model is trained again, for the claims about several models."""

    trainer: NamedTrainer
    texts: TrainingTexts
    seeds: int | None = None  # models that differ by seed, instead of the usual three

    def budget(self, seed: int) -> TrainingBudget:
        """The number of further models."""
        usual = training_budget("quick", seed, self.seeds, from_scratch=True)
        return replace(usual, weights=LAMBDAS)


def document_probes() -> tuple[str, ...]:
    """The probes that need only the model."""
    return tuple(name for name, probe in PROBES.items() if probe.trainings is None)


def trainer_probes() -> tuple[str, ...]:
    """The probes that can be asked of a model with a trainer."""
    return tuple(name for name in PROBES if name in (*document_probes(), *ASKED))


def check_askable(names: Iterable[str], trainer: bool) -> None:
    """Raise an error that names the probes that cannot be asked of an attached model."""
    train = [name for name in names if name in PROBES and PROBES[name].trainings is not None]
    faults = [
        f"the probe {name} trains assay's own networks, so it is asked of models of `assay run` "
        "only: leave it out."
        for name in train
        if name not in ASKED
    ]
    faults += [
        f"the probe {name} trains the model again: pass a trainer (--trainer), or leave it out."
        for name in train
        if name in ASKED and not trainer
    ]
    if faults:
        raise UserError("\n       ".join(faults))


def execute_attached(
    model: object,
    corpus: Corpus,
    settings: AttachedSettings,
    out: Path,
    *,
    attached: str,
    execution: Execution,
    resume: bool,
    retraining: Retraining | None = None,
) -> None:
    """Check, audit and judge a model: fill the run directory with everything a report needs."""
    if is_done(out, settings.as_record(), resume, execution.without_text):
        return
    timing = RunTiming(execution.stage)
    with timing.stage("check"):
        checked = check_attached(model, corpus, settings)
    with locked(out):
        prepare_directory(out, settings.as_record(), execution.without_text)
        results = _measure(
            checked, corpus, settings, out / "jobs", attached, execution, timing, retraining
        )
        with timing.stage("tables"):
            write_results(results, out, execution.without_text)
        timing.write(out)
        remove_leftovers(out)


def audit_attached(
    model: object,
    corpus: Corpus,
    settings: AttachedSettings,
    *,
    attached: str,
    execution: Execution | None = None,
    retraining: Retraining | None = None,
) -> Results:
    """The same in memory: check the model on every test document, then ask the probes of it."""
    checked = check_attached(model, corpus, settings)
    with tempfile.TemporaryDirectory() as folder:
        results = _measure(
            checked,
            corpus,
            settings,
            Path(folder),
            attached,
            execution or Execution(),
            RunTiming(),
            retraining,
        )
        return replace(results, source=results.tables)


@dataclass(frozen=True)
class CheckedModel:
    """A model that passed all checks, and what they saw, by the name of the check."""

    model: Model
    checks: Mapping[str, str]


def check_attached(model: object, corpus: Corpus, settings: AttachedSettings) -> CheckedModel:
    """The object as a model, if it passes all checks and keeps the interface on every document."""
    if not corpus.test:
        raise UserError(f"the corpus {corpus.name} has no test documents: there is nothing to ask.")
    torch.set_num_threads(settings.threads)
    checked = check_interface(model, corpus.classes)
    with errors_of_model(f"{settings.model} fails on the documents"):
        report = check_documents(checked, corpus, settings.device)
        report.refuse()
        split = EncodedSplit.of(corpus, corpus.test)
        for cut in evaluation_batches(split.lengths, AUDIT_CELLS):
            check_batch(checked, split.batch(cut.tolist()).to(settings.device))
    return CheckedModel(checked, {check.name: check.seen for check in report.checks})


def _measure(
    checked: CheckedModel,
    corpus: Corpus,
    settings: AttachedSettings,
    folder: Path,
    attached: str,
    execution: Execution,
    timing: RunTiming,
    retraining: Retraining | None = None,
) -> Results:
    fingerprint = _fingerprint(checked.model, corpus, settings.device)
    audited = _audit(checked.model, fingerprint, corpus, settings, folder, execution, timing)
    trained = None
    if retraining is not None:
        base = AttachedBase(
            checked.model,
            fingerprint,
            corpus,
            retraining.texts,
            retraining.trainer,
            settings.device,
        )
        with timing.stage("further trainings"):
            trained = _train(base, retraining.budget(settings.seed), settings, folder, execution)
        timing.add_jobs("further trainings", trained.places)
    described = _describe(checked.model, corpus, settings.model, attached, fingerprint)
    manifest = _manifest(settings, corpus, audited, described, checked.checks, trained)
    source = audited if trained is None else replace(audited, more=trained.evidence)
    return Results(source, corpus.classes, manifest, settings.seed)


def _train(
    base: AttachedBase,
    budget: TrainingBudget,
    settings: AttachedSettings,
    folder: Path,
    execution: Execution,
) -> TrainedEvidence:
    """The evidence of the probes that need further models, trained by any engine."""
    jobs = folder.resolve()
    names = [name for name in settings.probes if name in ASKED]
    if names:
        base.predict(jobs)

    def execute(tasks: Sequence[Task[FurtherJob]]) -> Iterable[object]:
        workers = min(execution.parallel_jobs(THREADS), len(tasks))
        with execution.watching("trainings") as watch:
            yield from run_graph(
                execution.engine,
                run_further_job,
                tasks,
                workers,
                ray_address=execution.ray_address,
                watch=watch,
            )

    return run_training_probes(names, base, budget, jobs, execute)


def _audit(
    model: Model,
    fingerprint: str,
    corpus: Corpus,
    settings: AttachedSettings,
    folder: Path,
    execution: Execution,
    timing: RunTiming,
) -> AuditedParts:
    """Every probe that needs only the model, in this process."""
    site = getattr(model, "site", None)
    plan = _sample(settings, corpus)
    probes = tuple(name for name in settings.probes if PROBES[name].trainings is None)
    jobs = [
        AuditJob(
            AttachedModel(model, corpus.vocabulary),
            f"{fingerprint}, {site}",
            part,
            probes,
            seed=settings.seed,
            sample=plan.all_sizes,
            threads=settings.threads,
            device=settings.device,
            folder=folder.resolve(),
            exact_below=settings.exact_below,
        )
        for part in audit_parts(
            corpus.test,
            inputs_of(probes, corpus.train, corpus.vocabulary),
            part_cost=PART_COST,
        )
    ]
    tasks = [Task(str(number), job) for number, job in enumerate(jobs)]
    with timing.stage("audit"), execution.watching("audit") as watch:
        pairs = run_graph("serial", run_audit, tasks, 1, watch=watch)
        places = dict(execution.track(pairs, "audit", len(tasks)))
    parts = [places[task.key] for task in tasks]
    timing.add_jobs("audit", parts)
    return AuditedParts.of(parts, corpus.test, plan)


def _fingerprint(model: Model, corpus: Corpus, device: str) -> str:
    some = corpus.test[:FINGERPRINT_DOCUMENTS]
    split = EncodedSplit.of(corpus, some)
    return model_fingerprint(model, split.batch(range(len(some))).to(device))


def _sample(settings: AttachedSettings, corpus: Corpus) -> SamplePlan:
    return plan_sample(
        RunDocuments.of(corpus.test),
        scores_for([PROBES[name] for name in settings.probes]),
        sample=settings.sample,
        preset="quick",
        encoder=None,
        seed=settings.seed,
        exact_below=settings.exact_below,
        probes=probe_costs(settings.probes),
    )


def _describe(
    model: Model, corpus: Corpus, name: str, attached: str, fingerprint: str
) -> dict[str, Any]:
    """What the manifest says of the model: how it was attached, and what its heat map shows."""
    site = getattr(model, "site", None)
    shows = {} if site is None else {"shows": str(site)}
    return {
        "name": name,
        "attached": attached,
        "class": type(model).__name__,
        **shows,
        **(model.described if isinstance(model, AttachedTransformer) else {}),
        "fingerprint": fingerprint,
        "truncated_documents": corpus.truncated,
        "truncated_share": corpus.truncated / len(corpus.test),
    }


def _manifest(
    settings: AttachedSettings,
    corpus: Corpus,
    audited: AuditedParts,
    model: Mapping[str, Any],
    checks: Mapping[str, str],
    trained: TrainedEvidence | None,
) -> Manifest:
    training = [name for name, probe in PROBES.items() if probe.trainings]
    missing = dict.fromkeys(training, NEEDS_TRAINER)
    reasons: dict[str, str] = {}
    if trained is not None:
        missing = {name: NOT_ASKED for name in training if name not in ASKED}
        reasons = trained.not_applicable
    return Manifest.complete(
        settings.as_record(),
        model=model,
        checks=checks,
        seeds={"bootstrap": settings.seed},
        recipe={},
        vectors={},
        versions=versions(),
        corpus=describe_corpus(corpus),
        training={},
        test=test_metrics(audited.outcomes(), corpus),
        trainings=None if trained is None else asdict(trained.budget),
        sample=None if audited.sample is None else audited.sample.as_record(),
        not_applicable=audited.not_applicable | reasons,
        not_measured=missing,
    )
