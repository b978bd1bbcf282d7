"""Tests of the row for training."""

from assay.bench import training
from assay.bench.material import fresh_model, truncate


def test_the_loss_is_that_of_packed_texts_and_plain_adam(toy, check_measurement):
    check_measurement(training.measure(toy, repeats=1), documents=36)


def test_a_different_loss_is_noticed(toy, monkeypatch):
    shorter = truncate(toy, train=20)
    real = training.run_optimized
    monkeypatch.setattr(training, "run_optimized", lambda start, corpus: real(start, shorter))
    assert training.measure(toy, repeats=1).equal is False


def test_a_turn_does_not_change_the_initial_weights(toy):
    model = fresh_model(toy)
    first = training.run_baseline(model, toy), training.run_optimized(model, toy)
    assert (training.run_baseline(model, toy), training.run_optimized(model, toy)) == first
