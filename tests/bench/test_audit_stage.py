"""Tests of the comparison of a run's audit stage with the battery."""

import pytest

from assay.bench.audit_stage import audited_corpus, battery_part, compare_audit
from assay.models.build import TrainedModel, save_model
from assay.runs.audit import audit_documents
from tests.builders.small_models import corpus, network

TIMING = {
    "stages": {"audit": 20.0},
    "jobs": {"audit": {"workers": 2}},
    "scores": {"attention": 1.0, "gradient": 2.0, "leave_one_out": 8.0, "lime": 6.0},
    "probes": {"agreement": 1.0, "permutation": 1.0, "adversary": 1.0, "uniform": 4.0},
}


def test_other_scores_and_probes_are_subtracted_as_the_workers_share_them():
    assert battery_part(TIMING) == 20.0 - (6.0 + 4.0) / 2


def test_the_documents_of_a_run_are_audited_once_more(tmp_path):
    small = corpus()
    model = network().float()
    trained = TrainedModel(model, small.vocabulary)
    save_model(tmp_path, trained)
    audited = audit_documents(
        model, small.test, small.vocabulary, probes=["permutation"], seed=0, model_seed=0
    )
    audited.instances.write_parquet(tmp_path / "instances.parquet")
    read = audited_corpus(tmp_path)
    assert [d.tokens for d in read.test] == [d.tokens for d in small.test]
    assert [d.id for d in read.test] == [d.id for d in small.test]
    found = compare_audit(tmp_path, TIMING)
    assert found.documents == len(small.test)
    assert found.ratio == pytest.approx(15.0 / found.battery_seconds)
