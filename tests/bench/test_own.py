"""Tests of the rows for attached models, on a tiny random transformer."""

import pytest

from assay.bench import own
from assay.bench.measurement import Measurement, ProcessCost
from tests.bench.conftest import PEAK, SECONDS
from tests.builders.tiny_transformer import DOCUMENTS, write_tiny_transformer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_transformer(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def no_other_process(monkeypatch):
    """Do the work in this process with a fixed cost."""

    def here(prepare, argument):
        prepare(argument)()
        return ProcessCost(seconds=SECONDS, peak_mb=PEAK)

    monkeypatch.setattr(own, "measure_in_new_process", here)


def attached(folder, layer=-1):
    return own.Attachment(folder, DOCUMENTS, layer)


@pytest.mark.parametrize("layer", [0, -1])
def test_permutations_equal_whole_forward_passes(folder, layer):
    found = own.compare(own.plain_permutation, own.permuted, attached(folder, layer), repeats=1)
    assert found.equal is True
    assert found.n == len(DOCUMENTS)
    assert found.peak_mb == PEAK
    assert found.baseline_seconds > 0


def test_leave_one_out_equals_the_ablation_of_captum(folder):
    found = own.compare(own.plain_deletion, own.deleted, attached(folder), repeats=1)
    assert found.equal is True


def test_a_wrong_result_is_noticed(folder):
    def wrong(one):
        return {name: values + 2 * own.TOLERANCE for name, values in own.deleted(one).items()}

    found = own.compare(own.plain_deletion, wrong, attached(folder), repeats=1)
    assert found.equal is False


def test_an_audit_reports_the_cost_of_its_process(folder):
    found = own.measure_audit(folder, lambda: DOCUMENTS, probes=("permutation",))
    assert found == Measurement(n=4, seconds=SECONDS, peak_mb=PEAK)


def test_the_seconds_of_500_documents_are_told(folder):
    found = own.measure_audit(folder, lambda: DOCUMENTS[:1] * own.AUDITED, probes=("sinks",))
    assert found.notes == f"500 documents would take {10 * SECONDS:.0f} s at this rate"


def test_rows_declare_their_targets():
    targets = {bench.name: bench.target for bench in own.own_benches()}
    assert targets["own_permutation"] == 50
    assert targets["own_permutation_first"] == 1
    assert targets["own_leave_one_out"] == 1.5


def test_long_documents_fill_the_model():
    assert all(len(one.tokens) == own.LONGEST for one in own.long_documents())
