"""Tests of the erasure rows: the closed form and the baseline erase the same items."""

import numpy as np
import pytest

from assay.bench import erasure
from tests.bench.conftest import PEAK

SMALL = erasure.ErasureShape(documents=6, items=400, classes=3, plain=5, embedding=8, size=12)


@pytest.fixture(autouse=True)
def no_cache():
    erasure.erasure_times.cache_clear()


def test_both_routes_erase_equally_many_items():
    measurement = erasure.measure(SMALL)
    assert measurement.equal is True
    assert (measurement.n, measurement.plain_n, measurement.peak_mb) == (6, 5, PEAK)
    assert measurement.seconds > 0
    assert measurement.baseline_seconds > 0


def test_the_second_row_compares_the_same_work_with_the_encoder():
    times = erasure.erasure_times(SMALL)
    measurement = erasure.measure_passes(SMALL)
    assert measurement.baseline_seconds == 2 * times.encoder_seconds
    assert measurement.seconds == times.seconds + times.optimum_seconds
    assert measurement.equal is True


@pytest.mark.parametrize("function", ["run_optimized", "optimum"])
def test_a_wrong_result_is_noticed(monkeypatch, function):
    real = getattr(erasure, function)

    def wrong(view, scores):
        found = real(view, scores)
        if function == "optimum":
            return found + 9
        return {**found, "attention": found["attention"] + 1}

    monkeypatch.setattr(erasure, function, wrong)
    assert erasure.measure(SMALL).equal is False


def test_documents_have_the_declared_shape():
    sizes = [batch.items.shape for batch in erasure.batches(SMALL)]
    assert np.sum([rows for rows, _ in sizes]) == 6
    assert {width for _, width in sizes} == {400}
