"""The audit of a model that was not trained here: any object with the three methods.

Nothing is saved and no job is made, because such an object has no identity that a file could keep.
Probes that need further models are not measured, because nobody knows how to train this one again.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from assay.config import VERSION
from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus
from assay.errors import UserError
from assay.models.conformance import check_batch, check_interface
from assay.models.protocol import Model
from assay.probes import PROBES
from assay.runs.audit import AUDIT_CELLS, AuditResult, audit_documents, inputs_of, scores_for
from assay.runs.manifest import Manifest
from assay.runs.run import LIBRARIES, Results, describe_corpus, test_metrics
from assay.scores.sample import plan_sample
from assay.scores.score import RunDocuments


def document_probes() -> tuple[str, ...]:
    """The probes that need only the model."""
    return tuple(name for name, probe in PROBES.items() if probe.trainings is None)


def audit_attached(
    model: object,
    corpus: Corpus,
    *,
    probes: Sequence[str],
    seed: int,
    sample: int | None,
    exact_below: int,
) -> Results:
    """Check the model on every test document, then ask the probes of it."""
    if not corpus.test:
        raise UserError(f"the corpus {corpus.name} has no test documents: there is nothing to ask.")
    checked = check_interface(model, corpus.classes)
    _check_documents(checked, corpus)
    plan = plan_sample(
        RunDocuments.of(corpus.test),
        scores_for([PROBES[name] for name in probes]),
        sample=sample,
        preset="quick",
        encoder=None,
        seed=seed,
        exact_below=exact_below,
    )
    audited = audit_documents(
        checked,
        corpus.test,
        corpus.vocabulary,
        probes=probes,
        seed=seed,
        model_seed=seed,
        sample=plan.sizes,
        inputs=inputs_of(probes, corpus.train, corpus.vocabulary),
        exact_below=exact_below,
    )
    settings = {
        "model": type(model).__name__,
        "probes": list(probes),
        "seed": seed,
        "sample": sample,
        "exact_below": exact_below,
    }
    manifest = _manifest(settings, corpus, replace(audited, sample=plan))
    return Results(audited.instances, audited.evidence, corpus.classes, manifest, seed)


def _check_documents(model: Model, corpus: Corpus) -> None:
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes))
    for cut in evaluation_batches(split.lengths, AUDIT_CELLS):
        check_batch(model, split.batch(cut.tolist()))


def _manifest(settings: Mapping[str, Any], corpus: Corpus, audited: AuditResult) -> Manifest:
    return Manifest.complete(
        settings,
        seeds={"bootstrap": settings["seed"]},
        recipe={},
        vectors={},
        versions={
            "assay": VERSION,
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
        corpus=describe_corpus(corpus),
        training={},
        test=test_metrics(audited.instances, corpus),
        trainings=None,
        sample=None if audited.sample is None else audited.sample.as_record(),
        not_applicable=audited.not_applicable,
    )
