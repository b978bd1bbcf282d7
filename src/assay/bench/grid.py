"""How long does the grid of Wiegreffe & Pinter take on two cores, and does the second one help?

Sentences of random words, as many, as long and with as large a vocabulary as SST's; one word in
each tells the label, so that there is something to learn. Every training of the grid is done:
nothing is scaled up from a part.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from assay.bench.material import SEED
from assay.bench.row import Bench, Figures
from assay.corpora import Corpus, Document
from assay.engines import run_graph
from assay.lessons import Lesson, Scale, Source
from assay.probes import guide, imitation, seeds, uniform
from assay.recipes import configure, recipe_for
from assay.text import SPECIALS, Vocabulary
from assay.trainings import BaseModel, scale_for
from assay.trainings.graph import run_lessons
from assay.trainings.jobs import run_job
from assay.work import TrainJob, run_training

ENGINE, WORKERS = "processes", 2
SHORTEST, LONGEST = 6, 32  # 19 words in the mean, as in SST
PROBES = (uniform, seeds, guide, imitation)
PIECES, PIECE_EPOCHS = 4, 4  # for the second core: so many trainings, each of so many epochs


@dataclass(frozen=True)
class Size:
    train: int
    dev: int
    test: int
    words: int


SST = Size(train=6_356, dev=822, test=1_726, words=13_700)


def paper_scale() -> Scale:
    """Base, uniform, 8 seeds, 8 guides with 3 seeds each, 10 lambdas by continuation."""
    return replace(scale_for("paper", SEED, None), apart=0, uniforms=1, chains=1)


def measure_grid(
    size: Size, scale: Scale, epochs: int | None = None, engine: str = ENGINE
) -> Figures:
    """Seconds from the first training to the last; n is the number of trainings."""
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        base = _base(_corpus(size), Path(name), epochs)
        wanted = [source for probe in PROBES for source in probe.plan(scale, base.training.corpus)]
        done = _taught(wanted, base, Path(name) / "jobs", WORKERS, engine)
        seconds = time.perf_counter() - start
    return Figures(n=1 + sum(isinstance(source, Lesson) for source in done), seconds=seconds)


def measure_workers(
    size: Size, pieces: int = PIECES, epochs: int = PIECE_EPOCHS, engine: str = ENGINE
) -> Figures:
    """The same trainings by one worker and by two; every file they leave must be the same."""
    with tempfile.TemporaryDirectory() as name:
        base = _base(_corpus(size), Path(name), epochs=1)
        wanted = [Lesson(SEED + i, SEED + i, epochs=epochs) for i in range(1, pieces + 1)]
        timed = [_timed(wanted, base, Path(name) / f"by{n}", n, engine) for n in (1, WORKERS)]
        alone, together = (_bytes(folder) for _, folder in timed)
    return Figures(
        n=pieces,
        baseline_seconds=timed[0][0],
        seconds=timed[1][0],
        equal=alone == together,
    )


def _timed(
    wanted: Sequence[Source], base: BaseModel, folder: Path, workers: int, engine: str
) -> tuple[float, Path]:
    start = time.perf_counter()
    _taught(wanted, base, folder, workers, engine)
    return time.perf_counter() - start, folder


def _taught(
    wanted: Sequence[Source], base: BaseModel, folder: Path, workers: int, engine: str
) -> Mapping[Source, object]:
    execute = partial(run_graph, engine, run_job, workers=workers)
    return run_lessons(wanted, base, folder, execute)


def _base(corpus: Corpus, folder: Path, epochs: int | None) -> BaseModel:
    recipe = recipe_for(corpus, "paper")
    recipe = recipe if epochs is None else replace(recipe, epochs=epochs)
    config = configure(corpus, recipe, encoder="bilstm", attention="additive")
    task = TrainJob(corpus, config, recipe, SEED, SEED, threads=1, device="cpu")
    return BaseModel(run_training(task, folder / "base"), task)


def _bytes(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _corpus(size: Size) -> Corpus:
    made = _documents(size.train + size.dev + size.test, size.words)
    train, dev, test = (tuple(next(made) for _ in range(n))
                        for n in (size.train, size.dev, size.test))  # fmt: skip
    return Corpus(
        name="sst-sized", task="classification", classes=("negative", "positive"), train=train,
        dev=dev, test=test, vocabulary=Vocabulary(SPECIALS + tuple(_words(size.words))),
        licence="generated", source="random words", dropped={},
    )  # fmt: skip


def _words(number: int) -> list[str]:
    return [f"word{i}" for i in range(number)]


def _documents(number: int, words: int) -> Iterator[Document]:
    """The first two words tell the label, the others nothing."""
    rng = np.random.default_rng(SEED)
    known = np.array(_words(words))
    for i in range(number):
        label = i % 2
        tokens = rng.choice(known[2:], rng.integers(SHORTEST, LONGEST + 1))
        tokens[rng.integers(len(tokens))] = known[label]
        yield Document(f"random-{i}", tuple(tokens.tolist()), label)


GRID = Bench(
    "grid",
    "all trainings of Wiegreffe & Pinter's grid at SST's size, two workers; at most 2,700 s",
    lambda: measure_grid(SST, paper_scale()),
    grid=True,
)
SECOND_WORKER = Bench(
    "grid_workers",
    f"{PIECES} trainings of {PIECE_EPOCHS} epochs at SST's size: one worker, or two",
    lambda: measure_workers(SST),
    grid=True,
    target=1.7,
)
