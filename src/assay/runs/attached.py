"""The audit of a model that was not trained here: any object with the three methods.

The documents are divided into small jobs. A job is known by the model's fingerprint, its site, its
documents and the settings, so a killed audit continues after its last finished job. The object may
live in this process alone, therefore the jobs run here, one after another.

Probes that need further models are not measured, because nobody knows how to train this one again.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from assay.config import EXACT_BELOW, Execution
from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus
from assay.engines import Task, run_graph
from assay.errors import UserError
from assay.models.adapters.check import check_documents
from assay.models.adapters.transformer import AttachedTransformer
from assay.models.conformance import check_batch, check_interface
from assay.models.fingerprint import model_fingerprint
from assay.models.foreign_errors import errors_of_model
from assay.models.protocol import Model
from assay.probes import PROBES
from assay.runs.audit import AUDIT_CELLS, inputs_of, probe_costs, scores_for
from assay.runs.claim import claim_directory, is_done
from assay.runs.jobs import AttachedModel, AuditJob, audit_parts, run_audit
from assay.runs.lock import locked
from assay.runs.manifest import Manifest
from assay.runs.results import Results, write_results
from assay.runs.run import describe_corpus, test_metrics, versions
from assay.runs.store import sweep
from assay.runs.tables import AuditedParts
from assay.runs.timing import RunTiming
from assay.scores.sample import SamplePlan, plan_sample
from assay.scores.score import RunDocuments

# Cost of one job, in the units of `audit_parts`: eight documents of 20 items, or one of 100. A
# foreign model may be a thousand times slower than ours, and a part is what a killed audit loses.
PART_COST = 20_000
NEEDS_TRAINER = "it needs a trainer: assay does not know how to train this model again"
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


def document_probes() -> tuple[str, ...]:
    """The probes that need only the model."""
    return tuple(name for name, probe in PROBES.items() if probe.trainings is None)


def execute_attached(
    model: object,
    corpus: Corpus,
    settings: AttachedSettings,
    out: Path,
    *,
    attached: str,
    execution: Execution,
    resume: bool,
) -> None:
    """Check, audit and judge a model: fill the run directory with everything a report needs."""
    if is_done(out, settings.as_record(), resume, execution.without_text):
        return
    timing = RunTiming(execution.stage)
    with timing.stage("check"):
        checked = check_attached(model, corpus, settings)
    with locked(out):
        claim_directory(out, settings.as_record(), execution.without_text)
        results = _measure(checked, corpus, settings, out / "jobs", attached, execution, timing)
        with timing.stage("tables"):
            write_results(results, out, execution.without_text)
        timing.write(out)
        sweep(out)


def audit_attached(
    model: object,
    corpus: Corpus,
    settings: AttachedSettings,
    *,
    attached: str,
    execution: Execution | None = None,
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
        split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes))
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
) -> Results:
    model = checked.model
    fingerprint = _fingerprint(model, corpus, settings.device)
    site = getattr(model, "site", None)
    plan = _sample(settings, corpus)
    jobs = [
        AuditJob(
            AttachedModel(model, corpus.vocabulary),
            f"{fingerprint}, {site}",
            part,
            settings.probes,
            seed=settings.seed,
            sample=plan.all_sizes,
            threads=settings.threads,
            device=settings.device,
            folder=folder.resolve(),
            exact_below=settings.exact_below,
        )
        for part in audit_parts(
            corpus.test,
            inputs_of(settings.probes, corpus.train, corpus.vocabulary),
            part_cost=PART_COST,
        )
    ]
    tasks = [Task(str(number), job) for number, job in enumerate(jobs)]
    with timing.stage("audit"), execution.watching("audit") as watch:
        pairs = run_graph("serial", run_audit, tasks, 1, watch=watch)
        places = dict(execution.track(pairs, "audit", len(tasks)))
    parts = [places[task.key] for task in tasks]
    timing.add_jobs("audit", parts)
    audited = AuditedParts.of(parts, corpus.test, plan)
    described = _describe(model, corpus, settings.model, attached, fingerprint)
    manifest = _manifest(settings, corpus, audited, described, checked.checks)
    return Results(audited, corpus.classes, manifest, settings.seed)


def _fingerprint(model: Model, corpus: Corpus, device: str) -> str:
    some = corpus.test[:FINGERPRINT_DOCUMENTS]
    split = EncodedSplit.encode(some, corpus.vocabulary, len(corpus.classes))
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
) -> Manifest:
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
        trainings=None,
        sample=None if audited.sample is None else audited.sample.as_record(),
        not_applicable=audited.not_applicable,
        not_measured={name: NEEDS_TRAINER for name, probe in PROBES.items() if probe.trainings},
    )
