"""Tests of the rows for permutations."""

from assay.bench import permutation


def test_the_product_equals_the_loop_over_the_same_permutations(toy, check_measurement):
    check_measurement(permutation.measure(toy, repeats=1), documents=9)


def test_a_wrong_result_is_noticed(toy, monkeypatch):
    real = permutation.run_optimized
    monkeypatch.setattr(permutation, "run_optimized", lambda encoded: real(encoded) + 1e-5)
    assert permutation.measure(toy, repeats=1).equal is False
