"""Tests of the battery's row: it is equal only if every value of every document is right."""

from dataclasses import replace

import numpy as np
import pytest

from assay.bench import battery
from assay.bench.battery import PAIRS, baseline_battery, by_document, results_agree
from assay.bench.material import PackedClassifier, baseline_batches, trained_model
from assay.exact.search import SearchSettings
from tests.bench.conftest import PEAK

SHORT = SearchSettings(steps=40, learning_rate=0.1)


@pytest.fixture(scope="module")
def both_results(two_batches):
    """The results of the audit and of the baseline, by document."""
    model, batches = trained_model(two_batches), baseline_batches(two_batches)
    orders = battery.drawn_orders(batches)
    baseline = baseline_battery(PackedClassifier(model), batches, orders, SHORT)
    return by_document(battery.run_optimized(model, two_batches)), baseline


def test_the_audit_equals_the_baseline(two_batches):
    measurement = battery.measure(two_batches, settings=SHORT)
    assert measurement.equal is True
    assert (measurement.n, measurement.plain_n, measurement.peak_mb) == (45, None, PEAK)
    assert measurement.seconds > 0


def test_a_baseline_timed_on_some_documents_is_scaled(two_batches, monkeypatch):
    def fixed_times(parts, optimized):
        return 2.0, [part() for part in parts], 1.0, optimized()

    monkeypatch.setattr(battery, "time_between_parts", fixed_times)
    measurement = battery.measure(two_batches, timed=1, settings=SHORT)
    assert measurement.plain_n == 13
    assert measurement.baseline_seconds == pytest.approx(2.0 * 45 / 13)
    assert measurement.equal is True


def with_score(found, name, values):
    return replace(found, scores=found.scores | {name: values})


WRONG = {
    "gradient": lambda found: with_score(found, "gradient", 1.01 * found.scores["gradient"]),
    "leave-one-out": lambda found: with_score(
        found, "leave_one_out", found.scores["leave_one_out"] + 2e-5
    ),
    "median": lambda found: replace(found, median_tvd=found.median_tvd + 1e-5),
    "tau": lambda found: replace(found, taus=found.taus + 1e-6),
    "adversary": lambda found: replace(found, answer=replace(found.answer, jsd=0.0)),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_one_wrong_document_is_noticed(both_results, change):
    ours, baseline = both_results
    assert results_agree(ours, baseline)
    name = next(iter(baseline))
    assert not results_agree(ours | {name: change(ours[name])}, baseline)


def test_taus_that_differ_from_the_baseline_on_average_are_noticed(both_results):
    ours, baseline = both_results
    shifted = {name: replace(found, taus=found.taus - 0.03) for name, found in baseline.items()}
    assert not results_agree(ours, shifted)


def test_the_baseline_has_every_document_and_pair(both_results, two_batches):
    ours, baseline = both_results
    assert set(ours) == set(baseline) == {document.id for document in two_batches.test}
    assert all(found.taus.shape == (len(PAIRS),) for found in baseline.values())
    assert all(0 <= found.max_jsd <= np.log(2) for found in baseline.values())
