"""Tests of the grid's rows: all trainings are executed, and all their files are compared."""

from dataclasses import replace

import pytest

from assay.bench import BENCHES, run_benches
from assay.bench.grid import Size, measure_grid, measure_workers, paper_budget
from assay.bench.measurement import Bench, Measurement

TINY = Size(train=24, dev=8, test=8, words=40)


def test_the_grid_has_every_training_of_the_paper():
    budget = paper_budget()
    assert (budget.together, budget.uniforms, budget.guides, budget.sweeps) == (8, 1, 3, 1)
    assert len(budget.weights) == 10
    assert budget.weights[0] == 0
    small = replace(
        budget, together=2, guides=1, weights=(0.0, 1e-3), first_epochs=1, next_epochs=1
    )
    measurement = measure_grid(TINY, small, epochs=1, engine="serial")
    # Base, uniform, 2 seeds, 8 imposed weights, the 2 halves of the leak control, 2 lambdas.
    assert measurement.n == 1 + 1 + 2 + 8 + 2 + 2
    assert measurement.seconds > 0
    assert measurement.baseline_seconds is None


def test_one_worker_and_two_write_the_same_bytes():
    measurement = measure_workers(TINY, epochs=1, turns=2, engine="serial")
    assert measurement.equal is True
    assert measurement.n == 2 * 2
    assert measurement.baseline_seconds > 0


@pytest.mark.parametrize(("grid", "names"), [(True, ["b"]), (False, ["a"])])
def test_the_grid_is_measured_only_on_demand(monkeypatch, grid, names):
    benches = tuple(
        Bench(name, "nothing", lambda: Measurement(1, 1.0), grid=name == "b") for name in "ab"
    )
    monkeypatch.setattr("assay.bench.BENCHES", benches)
    assert [row["name"] for row in run_benches(grid=grid)] == names


def test_both_rows_are_declared():
    assert {bench.name for bench in BENCHES if bench.grid} == {"grid", "grid_workers"}
