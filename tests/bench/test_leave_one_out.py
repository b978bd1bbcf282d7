"""Tests of the leave-one-out rows, for short and for long documents."""

from dataclasses import replace

import pytest

from assay.bench import leave_one_out
from assay.bench.material import trained_model, truncate
from assay.data.corpus import Document
from assay.models import item_changes
from tests.bench.conftest import PEAK
from tests.builders.small_models import corpus

ITEMS = 90


@pytest.fixture(scope="module")
def long_documents():
    """Long documents of made-up words."""
    short = corpus(400)
    return replace(short, dev=(), test=leave_one_out.join_documents(short.train, ITEMS, 2))


def test_the_restart_equals_one_pass_per_position(toy, check_measurement):
    measurement = leave_one_out.measure(toy, repeats=1)
    check_measurement(measurement, documents=9)
    assert measurement.possible_ratio > 0


def test_a_wrong_result_is_noticed(toy, monkeypatch):
    other = trained_model(truncate(toy, train=8))
    real = leave_one_out.run_optimized
    monkeypatch.setattr(leave_one_out, "run_optimized", lambda model, corpus: real(other, corpus))
    assert leave_one_out.measure(toy, repeats=1).equal is False


def test_fading_is_within_its_bounds(long_documents):
    measurement = leave_one_out.measure_fading(long_documents)
    assert measurement.equal is True
    assert measurement.n == 2
    assert measurement.baseline_seconds > 0
    assert measurement.peak_mb == PEAK


def test_a_window_that_closes_too_early_is_noticed(long_documents, monkeypatch):
    monkeypatch.setattr(item_changes, "TOLERANCE", 1.0)
    assert leave_one_out.measure_fading(long_documents).equal is False


def test_joined_documents_have_one_class_each_and_use_no_word_twice():
    short = [Document(f"d{i}", (f"{i % 2}-{i}a", f"{i % 2}-{i}b"), i % 2) for i in range(8)]
    documents = leave_one_out.join_documents(short, 3, 4)
    assert [document.label for document in documents] == [0, 1, 0, 1]
    assert documents[2].tokens == ("0-2b", "0-4a", "0-4b")
    for document in documents:
        assert {word[0] for word in document.tokens} == {str(document.label)}
    assert len({word for document in documents for word in document.tokens}) == 12
