"""Is the grid that is timed the whole grid, and is what both sides leave compared?"""

from dataclasses import replace

import pytest

from assay.bench import BENCHES, run_benches
from assay.bench.grid import Size, measure_grid, measure_workers, paper_scale
from assay.bench.measurement import Bench, Figures

TINY = Size(train=24, dev=8, test=8, words=40)


def test_the_grid_has_every_training_the_paper_asks_for():
    scale = paper_scale()
    assert (scale.together, scale.uniforms, scale.guides, scale.chains) == (8, 1, 3, 1)
    assert len(scale.weights) == 10
    assert scale.weights[0] == 0
    small = replace(scale, together=2, guides=1, weights=(0.0, 1e-3), first_epochs=1, next_epochs=1)
    figures = measure_grid(TINY, small, epochs=1, engine="serial")
    # Base, uniform, 2 seeds, 8 guides, the 2 halves of the leak control, 2 lambdas.
    assert figures.n == 1 + 1 + 2 + 8 + 2 + 2
    assert figures.seconds > 0
    assert figures.baseline_seconds is None


def test_both_sides_leave_the_same_bytes():
    figures = measure_workers(TINY, epochs=1, turns=2, engine="serial")
    assert figures.equal is True
    assert figures.n == 2 * 2
    assert figures.baseline_seconds > 0


@pytest.mark.parametrize(("grid", "names"), [(True, ["b"]), (False, ["a"])])
def test_the_grid_is_timed_by_itself(monkeypatch, grid, names):
    benches = tuple(
        Bench(name, "nothing", lambda: Figures(1, 1.0), grid=name == "b") for name in "ab"
    )
    monkeypatch.setattr("assay.bench.BENCHES", benches)
    assert [row["name"] for row in run_benches(grid=grid)] == names


def test_both_rows_are_there():
    assert {bench.name for bench in BENCHES if bench.grid} == {"grid", "grid_workers"}
