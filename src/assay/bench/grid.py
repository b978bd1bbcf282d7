"""How long does the grid of Wiegreffe & Pinter take on two cores?

Every training of the grid is done: nothing is scaled up from a part.
"""

import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from assay.bench.material import SEED
from assay.bench.row import Bench, Figures
from assay.bench.sst_sized import SST, Size, train_base
from assay.engines import run_graph
from assay.lessons import Lesson, Scale
from assay.probes import guide, imitation, seeds, uniform
from assay.trainings import scale_for
from assay.trainings.graph import run_lessons
from assay.trainings.jobs import run_job

ENGINE, WORKERS = "processes", 2
PROBES = (uniform, seeds, guide, imitation)


def paper_scale() -> Scale:
    """Base, uniform, 8 seeds, 8 guides with 3 seeds each, 10 lambdas by continuation."""
    return replace(scale_for("paper", SEED, None), apart=0, uniforms=1, chains=1)


def measure_grid(
    size: Size, scale: Scale, epochs: int | None = None, engine: str = ENGINE
) -> Figures:
    """Seconds from the first training to the last; n is the number of trainings."""
    execute = partial(run_graph, engine, run_job, workers=WORKERS)
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        base = train_base(size, Path(name), epochs)
        wanted = [source for probe in PROBES for source in probe.plan(scale, base.training.corpus)]
        done = run_lessons(wanted, base, Path(name) / "jobs", execute)
        seconds = time.perf_counter() - start
    return Figures(n=1 + sum(isinstance(source, Lesson) for source in done), seconds=seconds)


GRID = Bench(
    "grid",
    "all trainings of Wiegreffe & Pinter's grid at SST's size, two workers; at most 2,700 s",
    lambda: measure_grid(SST, paper_scale()),
    grid=True,
)
