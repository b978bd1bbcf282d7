"""Tests of the rows for the length of documents."""

from assay.bench import length
from assay.bench.measurement import Bench, Measurement, run_bench
from tests.bench.conftest import SECONDS
from tests.builders.small_models import corpus


def test_seconds_are_per_document_and_without_a_ratio():
    measurement = length.measure(length.DocumentShape(documents=3, items=6))
    assert measurement.seconds == SECONDS / 3
    assert measurement.n == 3
    assert measurement.baseline_seconds is measurement.equal is None


def test_random_documents_have_the_declared_length_and_differ():
    vocabulary = corpus().vocabulary
    first, second = length.random_documents(length.DocumentShape(2, 5), vocabulary)
    assert len(first.tokens) == len(second.tokens) == 5
    assert first.tokens != second.tokens


def test_growth_is_per_doubling_and_without_short_documents():
    seconds = {20: 9.0, 320: 1.0, 640: 2.0, 2_560: 32.0}
    rows = [
        run_bench(Bench(f"length_{items}", "", lambda took=took: Measurement(1, took)))
        for items, took in seconds.items()
    ]
    other = run_bench(Bench("kendall", "", lambda: Measurement(1, 1.0)))
    assert list(length.growth_lines([other, *rows])) == [
        "length_640: 2.00 times as long per doubling, from 320 items",
        "length_2560: 4.00 times as long per doubling, from 640 items",
    ]
    assert list(length.growth_lines([other])) == []
