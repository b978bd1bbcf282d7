"""Tests of the rows for Kendall's tau."""

from assay.bench import kendall


def test_tau_and_p_are_those_of_scipy(check_measurement):
    measurement = kendall.measure(kendall.ListShape(documents=20, longest=30), repeats=1)
    check_measurement(measurement, documents=20)
