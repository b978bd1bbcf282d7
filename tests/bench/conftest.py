"""Fixtures of the benchmark tests: small corpora, and no other processes."""

import pytest

from assay.bench import (
    adversary,
    battery,
    erasure,
    input_erasure,
    kendall,
    leave_one_out,
    length,
    permutation,
    sampled,
    training,
)
from assay.bench.material import truncate
from assay.bench.measurement import ProcessCost
from tests.builders.small_models import corpus

MODULES = (
    adversary,
    battery,
    erasure,
    input_erasure,
    kendall,
    leave_one_out,
    length,
    permutation,
    sampled,
    training,
)
PEAK = 7.5
SECONDS = 6.0


@pytest.fixture(autouse=True)
def no_other_process(monkeypatch):
    """Do the work in this process with a fixed cost; `test_measurement` tests the real one."""

    def here(prepare, argument):
        prepare(argument)()
        return ProcessCost(seconds=SECONDS, peak_mb=PEAK)

    for module in MODULES:
        monkeypatch.setattr(module, "measure_in_new_process", here)


@pytest.fixture(scope="session")
def toy():
    """36 documents to train on and 9 to measure on."""
    return truncate(corpus(60), train=36, test=9)


@pytest.fixture(scope="session")
def two_batches():
    """100 documents to train on and 45, two batches of the baseline, to measure on."""
    return truncate(corpus(250), train=100, test=45)


@pytest.fixture
def check_measurement():
    """A function that checks a measurement with a baseline and equal results."""

    def check(measurement, documents):
        assert measurement.equal is True
        assert measurement.n == documents
        assert measurement.seconds > 0
        assert measurement.baseline_seconds > 0
        assert measurement.peak_mb == PEAK

    return check
