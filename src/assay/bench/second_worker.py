"""Does a second worker halve the time of a grid?

One worker and two take turns: a machine whose speed drifts within minutes would favour whoever
was timed in its better ones. All turns count, since the quickest of each side need not come from
the same minutes. Workers are started in their first turn and kept, as in a grid.
"""

import tempfile
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path

from assay.bench.grid import ENGINE, WORKERS
from assay.bench.material import SEED
from assay.bench.race import race
from assay.bench.row import Bench, Figures
from assay.bench.sst_sized import SST, Size, train_base
from assay.engines import Crew, Graph, ignore, open_crew, walk
from assay.lessons import Lesson
from assay.trainings import BaseModel
from assay.trainings.graph import AnyJob, run_lessons
from assay.trainings.jobs import run_job

PIECES, EPOCHS, TURNS = 2, 2, 5  # trainings in a turn, epochs of each, turns of each side


def measure_workers(
    size: Size, epochs: int = EPOCHS, turns: int = TURNS, engine: str = ENGINE
) -> Figures:
    """The same trainings by one worker and by two; every file they leave must be the same."""
    with ExitStack() as stack:
        base = train_base(size, Path(stack.enter_context(tempfile.TemporaryDirectory())), 1)
        crews = [stack.enter_context(open_crew(engine, run_job, n)) for n in (1, WORKERS)]
        (plain_seconds, expected), (seconds, ours) = race(
            *(partial(_turn, crew, base, epochs) for crew in crews), repeats=turns, judge=sum
        )
    return Figures(
        n=turns * PIECES, baseline_seconds=plain_seconds, seconds=seconds, equal=expected == ours
    )


def _turn(crew: Crew[AnyJob, Path], base: BaseModel, epochs: int) -> dict[str, bytes]:
    """What the trainings leave; in a new folder, or a second turn would find all of it done."""
    wanted = [Lesson(SEED + i, SEED + i, epochs=epochs) for i in range(1, PIECES + 1)]
    with tempfile.TemporaryDirectory() as name:
        run_lessons(wanted, base, Path(name),
                    lambda tasks: walk(Graph(tasks), nullcontext(crew), ignore))  # fmt: skip
        files = sorted(path for path in Path(name).rglob("*") if path.is_file())
        return {str(path.relative_to(name)): path.read_bytes() for path in files}


SECOND_WORKER = Bench(
    "grid_workers",
    f"trainings of {EPOCHS} epochs at SST's size, {PIECES} a turn: one worker, or two",
    lambda: measure_workers(SST),
    grid=True,
    target=1.7,
)
