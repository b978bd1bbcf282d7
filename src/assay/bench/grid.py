"""Rows for the grid of Wiegreffe & Pinter: its duration, and the gain from a second worker.

Both are measured on a generated corpus of the size of SST: sentences of random words, as many, as
long and with as large a vocabulary; one word in each decides the label, so that there is
something to learn.

`grid` executes every training of the grid; nothing is extrapolated from a part. `grid_workers`
compares one worker with two. They take turns, because a machine whose speed drifts within minutes
would favor the side that was timed in the better ones. All turns count, since the fastest turn of
each side need not fall into the same minutes. Workers are started in their first turn and kept,
as in a grid.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from assay.bench.material import SEED
from assay.bench.measurement import Bench, Measurement, time_in_turns
from assay.data.corpus import Corpus, Document
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.engines import open_workers, run_graph
from assay.engines.graph import Graph, Workers, execute_graph
from assay.probes import guide, imitation, seeds, uniform
from assay.progress import ignore
from assay.runs.further_trainings import TrainedBase
from assay.runs.jobs import TrainJob, run_training
from assay.runs.timing import TIMING_FILE
from assay.runs.training_graph import FurtherJob, run_further_job, run_trainings
from assay.training.recipes import configure, recipe_for
from assay.training.specs import ALL_GUIDES, TrainingBudget, TrainingSpec, training_budget

SHORTEST, LONGEST = 6, 32  # 19 words in the mean, as in SST


@dataclass(frozen=True)
class Size:
    """The size of a generated corpus."""

    train: int
    dev: int
    test: int
    words: int


SST = Size(train=6_356, dev=822, test=1_726, words=13_700)


def train_base(size: Size, folder: Path, epochs: int | None) -> TrainedBase:
    """Train the base model, with the epochs of the paper's recipe unless `epochs` is given."""
    corpus = _corpus(size)
    recipe = recipe_for(corpus, "paper")
    recipe = recipe if epochs is None else replace(recipe, epochs=epochs)
    config = configure(corpus, recipe, encoder="bilstm", attention="additive")
    task = TrainJob(corpus, config, recipe, SEED, SEED, threads=1, device="cpu")
    return TrainedBase(run_training(task, folder / "base"), task)


def _corpus(size: Size) -> Corpus:
    documents = _documents(size.train + size.dev + size.test, size.words)
    train, dev, test = (
        tuple(next(documents) for _ in range(n)) for n in (size.train, size.dev, size.test)
    )
    return Corpus(
        name="sst-sized",
        task="classification",
        classes=("negative", "positive"),
        train=train,
        dev=dev,
        test=test,
        vocabulary=Vocabulary(SPECIALS + tuple(_words(size.words))),
        licence="generated",
        source="random words",
        dropped={},
    )


def _words(number: int) -> list[str]:
    return [f"word{i}" for i in range(number)]


def _documents(number: int, words: int) -> Iterator[Document]:
    """Documents in which the first two words decide the label and the others do not matter."""
    rng = np.random.default_rng(SEED)
    known = np.array(_words(words))
    for i in range(number):
        label = i % 2
        tokens = rng.choice(known[2:], rng.integers(SHORTEST, LONGEST + 1))
        tokens[rng.integers(len(tokens))] = known[label]
        yield Document(f"random-{i}", tuple(tokens.tolist()), label)


ENGINE, WORKERS = "processes", 2
PROBES = (uniform, seeds, guide, imitation)


def paper_budget() -> TrainingBudget:
    """Base, uniform, 8 seeds, 8 imposed weights with 3 seeds each, 10 lambdas, each continued."""
    imposed = tuple(name for name in ALL_GUIDES if name not in ("seen", "unseen"))
    return replace(
        training_budget("paper", SEED, None),
        apart=0,
        uniforms=1,
        guides=3,
        sweeps=1,
        imposed=imposed,
    )


def measure_grid(
    size: Size, budget: TrainingBudget, epochs: int | None = None, engine: str = ENGINE
) -> Measurement:
    """Seconds from the first training to the last; n is the number of trainings."""
    execute = partial(run_graph, engine, run_further_job, workers=WORKERS)
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        base = train_base(size, Path(name), epochs)
        sources = [s for probe in PROBES for s in probe.plan(budget, base.training.corpus)]
        done = run_trainings(sources, base, Path(name) / "jobs", execute)
        seconds = time.perf_counter() - start
    return Measurement(
        n=1 + sum(isinstance(source, TrainingSpec) for source in done), seconds=seconds
    )


GRID = Bench(
    "grid",
    "all trainings of Wiegreffe & Pinter's grid at SST's size, two workers; at most 2,700 s",
    lambda: measure_grid(SST, paper_budget()),
    grid=True,
)
TRAININGS, EPOCHS, TURNS = 2, 2, 5  # trainings per turn, epochs of each, turns of each side


def measure_workers(
    size: Size, epochs: int = EPOCHS, turns: int = TURNS, engine: str = ENGINE
) -> Measurement:
    """The same trainings by one worker and by two; all files must be equal."""
    with ExitStack() as stack:
        base = train_base(size, Path(stack.enter_context(tempfile.TemporaryDirectory())), 1)
        pools = [
            stack.enter_context(open_workers(engine, run_further_job, n)) for n in (1, WORKERS)
        ]
        (baseline_time, expected), (seconds, ours) = time_in_turns(
            *(partial(_turn, pool, base, epochs) for pool in pools), repeats=turns, summarize=sum
        )
    return Measurement(
        n=turns * TRAININGS, baseline_seconds=baseline_time, seconds=seconds, equal=expected == ours
    )


def _turn(pool: Workers[FurtherJob, Path], base: TrainedBase, epochs: int) -> dict[str, bytes]:
    """Execute the trainings and return their files; a new folder, so that no turn finds them."""
    specs = [TrainingSpec(SEED + i, SEED + i, epochs=epochs) for i in range(1, TRAININGS + 1)]
    with tempfile.TemporaryDirectory() as name:
        run_trainings(
            specs,
            base,
            Path(name),
            lambda tasks: execute_graph(Graph(tasks), nullcontext(pool), ignore),
        )
        written = sorted(path for path in Path(name).rglob("*") if path.is_file())
        files = [path for path in written if path.name != TIMING_FILE]
        return {str(path.relative_to(name)): path.read_bytes() for path in files}


SECOND_WORKER = Bench(
    "grid_workers",
    f"trainings of {EPOCHS} epochs at SST's size, {TRAININGS} per turn: one worker, or two",
    lambda: measure_workers(SST),
    grid=True,
    target=1.7,
)
