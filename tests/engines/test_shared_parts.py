"""Tests that parts which several jobs share are packed once, and that jobs without them are small.

The jobs of a whole run are measured: how many bytes each of them would send to a worker.
"""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.config import Execution, Settings
from assay.data.catalog import load_corpus
from assay.engines import Task
from assay.engines import shared as sharing
from assay.engines.shared import SMALLEST_PART, Packed, Packer, shared_objects, unpack
from assay.runs import run as runs
from assay.runs.further_trainings import TrainedBase
from assay.runs.jobs import audit_parts
from assay.runs.timing import RunTiming


@dataclass(frozen=True, eq=False)
class Words:
    """Something large."""

    table: np.ndarray


@dataclass(frozen=True, eq=False)
class Texts:
    """Something large that has another large part."""

    words: Words
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class Reading:
    """A job."""

    number: int
    texts: Texts
    more: dict[str, Words]


def large(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(SMALLEST_PART // 4)


def readings() -> list[Task[Reading]]:
    words = Words(large(0))
    texts = Texts(words, large(1))
    return [Task(str(i), Reading(i, texts, {"words": words})) for i in range(3)]


@pytest.fixture(autouse=True)
def no_parts_of_other_tests() -> Iterator[None]:
    sharing._parts.clear()
    yield
    sharing._parts.clear()


def test_only_what_two_tasks_hold_is_shared_and_inner_parts_come_first():
    tasks = readings()
    argument = tasks[0].argument
    alone = Words(large(2))
    tasks[1] = replace(tasks[1], argument=replace(tasks[1].argument, more={"alone": alone}))
    words, texts = argument.texts.words, argument.texts
    shared = [each for each in shared_objects(tasks) if isinstance(each, Words | Texts)]
    assert shared == [words, texts]


def test_jobs_are_small_and_are_unpacked_as_they_were():
    tasks, parts = readings(), dict[str, Packed]()
    packer = Packer(pickle.Pickler, shared_objects(tasks), lambda p: parts.update({p.name: p}))
    # Both arrays are parts by themselves, and what is left of `Words` and `Texts` is small.
    assert len(parts) == 2
    for task in tasks:
        packed = packer.pack(task.argument)
        assert len(packed.content) < 600
        found = unpack(packed.content, packed.needs, lambda name: parts[name].content)
        assert found.number == task.argument.number
        assert np.array_equal(found.texts.rows, task.argument.texts.rows)
        assert np.array_equal(found.texts.words.table, task.argument.texts.words.table)
        assert found.more["words"].table is found.texts.words.table


def test_a_worker_fetches_each_part_once_and_keeps_only_those_of_its_last_job():
    tasks, parts = readings(), dict[str, Packed]()
    packer = Packer(pickle.Pickler, shared_objects(tasks), lambda p: parts.update({p.name: p}))
    fetched: list[str] = []

    def get(name: str) -> bytes:
        fetched.append(name)
        return parts[name].content

    for task in tasks:
        packed = packer.pack(task.argument)
        unpack(packed.content, packed.needs, get)
    assert sorted(fetched) == sorted(parts)
    unpack(pickle.dumps("a job without parts"), (), get)
    assert sharing._parts == {}


def test_equal_parts_have_one_name():
    tasks = [Task(str(i), Reading(i // 2, *made)) for i, made in enumerate(_equal_pairs())]
    put: list[Packed] = []
    packer = Packer(pickle.Pickler, shared_objects(tasks), put.append)
    assert len(put) == 1
    assert len({packer.pack(task.argument).needs for task in tasks}) == 1


def _equal_pairs() -> Iterator[tuple[Texts, dict[str, Words]]]:
    """Two equal objects, each in two jobs."""
    for _ in range(2):
        texts = Texts(Words(np.zeros(1)), large(3))
        yield from [(texts, {})] * 2


RUN = Settings(
    corpus="motif",
    encoder="average",
    options={"documents": "2000", "length": "27"},
    threads=1,
    probes=("permutation", "substitute", "uniform", "seeds", "guide", "imitation", "sanity"),
)
JOB_BYTES = 8 * 2**10  # of a job without its documents, at most, whatever the size of the corpus


class Recorded(Exception):
    """The tasks of a graph, which is not executed."""


def tasks_of_run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, settings: Settings = RUN
) -> tuple[list[Task], list[Task]]:
    """The audits and the further trainings of a run that is not executed."""

    def record(engine: str, function: Any, tasks: list[Task], workers: int, **options: Any) -> Any:
        raise Recorded(tasks)

    monkeypatch.setattr(runs, "run_graph", record)
    monkeypatch.setattr(runs, "audit_parts", partial(audit_parts, part_cost=100_000))
    corpus = load_corpus("motif", options=settings.options)
    base = TrainedBase(folder, runs.training_of(settings, corpus, None))
    graphs = []
    for plan in (runs.audit_model, runs.train_for_probes):
        with pytest.raises(Recorded) as recorded:
            plan(settings, base, folder, Execution(engine="ray", workers=2), RunTiming())
        graphs.append(recorded.value.args[0])
    return graphs[0], graphs[1]


def test_the_jobs_of_a_run_carry_nothing_large(monkeypatch, tmp_path: Path):
    """A training sends no documents, and an audit those that it reads and no others."""
    audits, trainings = tasks_of_run(monkeypatch, tmp_path)
    assert len(audits) > 5
    assert len(trainings) > 10
    whole = len(pickle.dumps(trainings[0].argument))
    sizes = bytes_by_job(trainings)
    assert max(sizes) < JOB_BYTES < whole / 10
    own = np.array([len(pickle.dumps(task.argument.part.documents)) for task in audits])
    more = bytes_by_job(audits) - own
    assert more.max() < JOB_BYTES
    print(f"\na training with its corpus: {whole:,} bytes")
    print(f"{len(trainings)} trainings as they are sent: {sizes.min():,} to {sizes.max():,} bytes")
    print(f"{len(audits)} audits: their documents and at most {more.max():,} bytes")


def test_a_training_of_more_documents_is_no_larger(monkeypatch, tmp_path: Path):
    fewer = replace(RUN, options={"documents": "1000", "length": "27"})
    _, trainings = tasks_of_run(monkeypatch, tmp_path)
    _, of_fewer = tasks_of_run(monkeypatch, tmp_path, fewer)
    assert bytes_by_job(trainings).tolist() == bytes_by_job(of_fewer).tolist()


def bytes_by_job(tasks: list[Task]) -> np.ndarray:
    packer = Packer(pickle.Pickler, shared_objects(tasks), lambda part: None)
    return np.array([len(packer.pack(task.argument).content) for task in tasks])
