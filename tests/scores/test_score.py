"""Tests of the sample of costly scores, which does not depend on the division into jobs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.evidence import rows
from assay.models.build import build_model
from assay.models.classifier import ModelConfig
from assay.probes import PROBES
from assay.probes.probe import ProbeOutcome
from assay.runs.audit import audit_documents, scores_for
from assay.runs.jobs import AuditJob, AuditPart, audit_parts
from assay.scores import SCORES
from assay.scores.score import WORDS, RunDocuments
from assay.statistics.kendall import kendall
from tests.builders.small_models import corpus

SAMPLE = 7
TOY = corpus()
COSTLY = ("lime", "feature_permutation", "deeplift")


def model():
    config = ModelConfig(
        "classification",
        "bilstm",
        "additive",
        TOY.classes,
        len(TOY.vocabulary),
        embedding=8,
        size=8,
    )
    return build_model(config, 0).eval()


def taus(view, scores) -> ProbeOutcome:
    tau = kendall(scores["attention"], scores["lime"], view.mask).tau
    return ProbeOutcome([rows(view.batch.ids, "tau_attention_lime", tau)])


@pytest.fixture
def probes(monkeypatch) -> tuple[str, ...]:
    """One probe that reads costly scores."""
    probe = replace(PROBES["agreement"], name="costly", scores=COSTLY, measure=taus)
    monkeypatch.setitem(PROBES, "costly", probe)
    return ("costly",)


def audit(documents, probes, whole=None):
    return audit_documents(
        model(),
        documents,
        TOY.vocabulary,
        probes=probes,
        seed=3,
        model_seed=0,
        run=whole,
        sample=SAMPLE,
    )


def test_dividing_documents_changes_nothing(probes):
    together = audit(TOY.test, probes)
    whole = RunDocuments.of(TOY.test)
    cut = [audit(TOY.test[first : first + 5], probes, whole) for first in range(0, 24, 5)]
    pieces = pl.concat([part.instances for part in cut], how="diagonal_relaxed")
    assert pieces["id"].to_list() == together.instances["id"].to_list()
    for name in COSTLY[:2]:
        one, other = together.instances[name], pieces[name]
        assert one.is_null().to_list() == other.is_null().to_list()
        assert one.null_count() == len(TOY.test) - SAMPLE
        np.testing.assert_allclose(
            one.drop_nulls().explode(), other.drop_nulls().explode(), rtol=1e-3, atol=1e-5
        )
    evidence = pl.concat([part.evidence for part in cut])
    assert len(evidence) == len(together.evidence) == len(TOY.test)


def test_documents_outside_the_sample_have_no_values(probes):
    measured = audit(TOY.test, probes)
    inside = RunDocuments.of(TOY.test).sample(SAMPLE, 3)
    for row in measured.instances.iter_rows(named=True):
        expected = len(row["tokens"]) if row["id"] in inside else None
        assert (None if row["lime"] is None else len(row["lime"])) == expected
        assert len(row["gradient"]) == len(row["tokens"])
    found = measured.evidence.filter(pl.col("value").is_not_null())["instance"]
    assert set(found) <= inside
    assert len(found) >= SAMPLE - 1  # a document may be constant


def test_not_applicable_is_reported_without_sampled_documents(probes):
    outside = [d for d in TOY.test if d.id not in RunDocuments.of(TOY.test).sample(SAMPLE, 3)][:3]
    measured = audit(outside, probes, RunDocuments.of(TOY.test))
    assert "gates multiply" in measured.not_applicable["deeplift"]
    assert "deeplift" not in measured.instances.columns
    assert measured.instances["lime"].null_count() == 3


def of_length(ids: tuple[str, ...], length: int) -> RunDocuments:
    return RunDocuments(ids, (length,) * len(ids), ())


def test_sample_is_seeded_and_does_not_depend_on_the_order():
    ids = tuple(f"d{i}" for i in range(500))
    one = of_length(ids, 9).sample(100, 0)
    assert len(one) == 100
    assert one == of_length(ids[::-1], 9).sample(100, 0)
    assert one != of_length(ids, 9).sample(100, 1)
    assert of_length(ids[:5], 9).sample(100, 0) == set(ids[:5])
    assert of_length(ids, 9).sample(20, 0) < one  # the smaller sample is part of the larger


def test_replacement_words_are_as_frequent_as_in_the_documents():
    whole = RunDocuments.of(TOY.test)
    tokens = [word for document in TOY.test for word in document.tokens]
    assert len(whole.words) == WORDS
    for word in ("awful", "fine", "word3"):
        share = whole.words.count(word) / WORDS
        assert share == pytest.approx(tokens.count(word) / len(tokens), abs=0.02)
    assert RunDocuments.of(()).words == ()


def test_costly_scores_are_computed_only_if_read():
    names = {score.name for score in scores_for([PROBES["permutation"]])}
    assert names == {name for name, score in SCORES.items() if not score.costly}
    wants = replace(PROBES["permutation"], scores=("lime",))
    assert {score.name for score in scores_for([wants])} == names | {"lime"}


def test_run_documents_are_part_of_the_job_identity():
    part = audit_parts(TOY.test)[0]
    here = AuditJob(Path(), "model", part, ("agreement",), 0, 100, 1, "cpu", Path())
    fewer = AuditPart(part.documents, RunDocuments.of(TOY.test[:-1]))
    assert here.job.key != replace(here, part=fewer).job.key
    assert here.job.key == replace(here, part=audit_parts(TOY.test)[0]).job.key
    assert here.job.key != replace(here, sample=99).job.key
