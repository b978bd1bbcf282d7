"""Predictions on a split: equal to the audit of the same model, and independent of batches."""

import numpy as np
import pytest
import torch

from assay.data.batches import EncodedSplit
from assay.data.corpus import Document
from assay.models.build import build_model
from assay.runs.audit import audit_documents
from assay.scores.leave_one_out import leave_one_out
from assay.training import predictions
from assay.training.predictions import predict_split, read_predictions, without_marked_items
from assay.training.recipes import configure
from tests.builders.small_models import corpus
from tests.builders.small_trainings import TINY

TOY = corpus(60)
SCORES = {"leave_one_out": leave_one_out}


def model_and_split():
    model = build_model(configure(TOY, TINY, "bilstm", "additive"), 3).double().eval()
    return model, EncodedSplit.encode(TOY.test, TOY.vocabulary, 2)


def test_predictions_equal_those_of_the_audit(tmp_path):
    model, split = model_and_split()
    seen = predict_split(model, split, SCORES)
    audited = audit_documents(
        model, TOY.test, TOY.vocabulary, probes=(), seed=0, model_seed=0
    ).instances
    assert seen["id"].to_list() == audited["id"].to_list() == [d.id for d in TOY.test]
    assert seen["label"].to_list() == [d.label for d in TOY.test]
    for column in ("probabilities", "attention", "leave_one_out"):
        for one, other in zip(seen[column], audited[column], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
    path = tmp_path / "look.parquet"
    seen.write_parquet(path)
    kept = read_predictions(path)
    assert kept.ids == tuple(seen["id"])
    assert kept.attention.shape == (len(TOY.test), max(len(d.tokens) for d in TOY.test))
    np.testing.assert_allclose(kept.attention.sum(1), 1, atol=1e-12)
    assert kept.predictions.tolist() == [int(p[1] > 0.5) for p in seen["probabilities"]]


@pytest.mark.parametrize("scores", [None, SCORES], ids=["predictions", "with scores"])
def test_a_batch_of_one_equals_a_batch_of_many(monkeypatch, scores):
    model, split = model_and_split()
    many = predict_split(model, split, scores)
    monkeypatch.setattr(predictions, "EVALUATION_CELLS", 1)
    monkeypatch.setattr(predictions, "SCORED_PAIRS", 1)
    one = predict_split(model, split, scores)
    assert one["id"].to_list() == many["id"].to_list()
    for column in set(many.columns) - {"id", "label"}:
        for a, b in zip(one[column], many[column], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def test_marked_items_are_deleted_and_documents_of_nothing_else_left_out():
    documents = [
        Document("some", ("a", "b", "c"), 0, rationale=(False, True, False)),
        Document("all", ("a", "b"), 0, rationale=(True, True)),
        Document("none", ("a",), 1, rationale=(False,)),
        Document("unknown", ("a",), 1),
    ]
    assert [(d.id, d.tokens) for d in without_marked_items(documents)] == [
        ("some", ("a", "c")),
        ("none", ("a",)),
    ]


def test_predicting_changes_nothing():
    model, split = model_and_split()
    before = [parameter.clone() for parameter in model.parameters()]
    assert predict_split(model, split).equals(predict_split(model, split))
    for one, other in zip(before, model.parameters(), strict=True):
        assert torch.equal(one, other)
