"""Do both sides of each row say the same, on documents so few that it takes no time?"""

import pytest

from assay.bench import kendall, leave_one_out, length, permutation, training
from assay.bench.material import fresh_model, some_of, trained_model
from assay.bench.measurement import Alone
from tests.small_models import corpus

PEAK = 7.5


@pytest.fixture(autouse=True)
def no_other_process(monkeypatch):
    """`alone` has tests of its own; here the work is done on the spot."""

    def here(prepare, argument):
        prepare(argument)()
        return Alone(seconds=6.0, peak_mb=PEAK)

    for module in (kendall, leave_one_out, length, permutation, training):
        monkeypatch.setattr(module, "alone", here)


@pytest.fixture(scope="module")
def toy():
    return some_of(corpus(60), train=36, test=9)


def assert_raced(figures, documents):
    assert figures.equal is True
    assert figures.n == documents
    assert figures.seconds > 0
    assert figures.baseline_seconds > 0
    assert figures.peak_mb == PEAK


def test_leave_one_out_equals_one_pass_per_position(toy):
    figures = leave_one_out.measure(toy, repeats=1)
    assert_raced(figures, documents=9)
    assert figures.possible_ratio > 0


def test_permutation_equals_the_loop_over_the_same_orders(toy):
    assert_raced(permutation.measure(toy, repeats=1), documents=9)


def test_training_loses_the_same_as_packed_texts_and_plain_adam(toy):
    assert_raced(training.measure(toy, repeats=1), documents=36)


def test_kendall_equals_scipy():
    assert_raced(kendall.measure(kendall.Shape(documents=20, longest=30), repeats=1), documents=20)


def test_length_is_told_per_document_and_without_ratio():
    figures = length.measure(length.Shape(documents=3, items=6))
    assert figures.seconds == 2.0
    assert figures.n == 3
    assert figures.baseline_seconds is figures.equal is None


def test_leave_one_out_notices_another_answer(toy, monkeypatch):
    other = trained_model(some_of(toy, train=8))
    real = leave_one_out.our_way
    monkeypatch.setattr(leave_one_out, "our_way", lambda model, corpus: real(other, corpus))
    assert leave_one_out.measure(toy, repeats=1).equal is False


def test_permutation_notices_another_answer(toy, monkeypatch):
    monkeypatch.setattr(permutation, "our_way", lambda encoded, real=permutation.our_way:
                        real(encoded) + 1e-5)  # fmt: skip
    assert permutation.measure(toy, repeats=1).equal is False


def test_training_notices_another_loss(toy, monkeypatch):
    shorter = some_of(toy, train=20)
    real = training.our_way
    monkeypatch.setattr(training, "our_way", lambda start, corpus: real(start, shorter))
    assert training.measure(toy, repeats=1).equal is False


def test_a_training_turn_leaves_the_starting_weights_alone(toy):
    model = fresh_model(toy)
    first = training.plain_way(model, toy), training.our_way(model, toy)
    assert (training.plain_way(model, toy), training.our_way(model, toy)) == first


def test_random_documents_are_as_long_as_asked_and_differ():
    vocabulary = corpus().vocabulary
    first, second = length.random_documents(length.Shape(2, 5), vocabulary)
    assert len(first.tokens) == len(second.tokens) == 5
    assert first.tokens != second.tokens
