"""Tests of the row for the costly scores."""

from dataclasses import replace

import pytest

from assay.bench import sampled
from assay.bench.leave_one_out import join_documents
from tests.builders.small_models import corpus


@pytest.fixture(scope="module")
def joined():
    """Three documents of eleven made-up words."""
    short = corpus(60)
    return replace(short, dev=(), test=join_documents(short.train, 11, 3))


@pytest.mark.parametrize("copies", [None, 5])
def test_our_scores_equal_those_of_captum(joined, check_measurement, copies):
    measurement = sampled.measure(joined, plain=2, copies=copies)
    check_measurement(measurement, documents=3)
    assert measurement.plain_n == 2
    assert all(f"{name} " in measurement.notes for name in sampled.LOOPS)


def test_a_wrong_score_is_noticed(joined, monkeypatch):
    real = sampled.run_optimized

    def wrong(model, documents, names=tuple(sampled.LOOPS)):
        found = real(model, documents, names)
        return {name: [values * 1.01 for values in scores] for name, scores in found.items()}

    monkeypatch.setattr(sampled, "run_optimized", wrong)
    assert sampled.measure(joined, plain=1).equal is False
