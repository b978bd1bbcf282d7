"""Tests of the row for erasure on the input."""

from assay.bench import input_erasure


def test_our_values_equal_those_of_the_plain_loop(toy, check_measurement):
    check_measurement(input_erasure.measure(toy, repeats=1), documents=9)


def test_a_wrong_value_is_noticed(toy, monkeypatch):
    real = input_erasure.run_optimized
    monkeypatch.setattr(input_erasure, "run_optimized", lambda *given: real(*given) + 0.001)
    assert input_erasure.measure(toy, repeats=1).equal is False
