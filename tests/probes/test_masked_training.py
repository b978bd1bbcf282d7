"""Tests of input erasure after training with masked text."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.evidence import sign
from assay.models.build import load_model
from assay.probes import masked_training
from assay.runs.audit import audit_documents
from tests.builders.small_models import corpus as toy_corpus
from tests.builders.small_trainings import SCALE, base_model, outputs_of

ONE = replace(SCALE, retrainings=1)


def test_the_way_to_the_best_order_by_hand():
    means = {"random;by=mask": 0.1, "best;by=mask": 0.5, "attention;by=mask": 0.2}
    found = masked_training.ways_to_best({**means, "single_erasure;by=mask": 0.4})
    assert found == {"attention;by=mask": pytest.approx(0.25)}
    falls = {"random;by=mask": 0.4, "best;by=mask": 0.1, "attention;by=mask": 0.1}
    assert masked_training.ways_to_best(falls) == {"attention;by=mask": pytest.approx(1)}
    equal = dict.fromkeys(means, 0.3)
    assert np.isnan(masked_training.ways_to_best(equal)["attention;by=mask"])


@pytest.mark.slow
def test_both_models_are_asked_and_the_base_says_what_its_own_audit_says(tmp_path: Path):
    corpus = toy_corpus(80)
    base = base_model(tmp_path, corpus)
    outputs = outputs_of(list(masked_training.plan(ONE, corpus)), base, tmp_path)
    frame = sign(masked_training.conclude(outputs, ONE, corpus), "masked_training", 0)
    own = frame.filter(
        pl.col("quantity") == "aopc_comprehensiveness",
        pl.col("group") == "attention;by=deletion;trained=as_is",
    )
    audited = audit_documents(
        load_model(base.place).network,
        corpus.test,
        corpus.vocabulary,
        probes=["input_erasure"],
        seed=0,
        model_seed=0,
        sample=masked_training.DOCUMENTS,
        scores=masked_training.SCORES,
    ).evidence.filter(
        pl.col("quantity") == "input_aopc_comprehensiveness",
        pl.col("group") == "attention;by=deletion",
    )
    expected = dict(zip(audited["instance"], audited["value"], strict=True))
    found = dict(zip(own["instance"], own["value"], strict=True))
    assert found == pytest.approx({name: expected[name] for name in found})
    ways = frame.filter(pl.col("quantity") == "way_to_best_comprehensiveness")
    assert {group.rsplit(";", 1)[1] for group in ways["group"]} == {
        "trained=as_is",
        "trained=masked",
    }
