"""How are the models of a table trained, so that one failure does not lose the others?

Each is an ordinary run in a folder of its own. A run that is complete is not touched; one that
was killed, or that lacks a probe which is asked now, goes on from its finished jobs. Runs stand
beside each other, unless they train further models: then the engine works within each of them.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from assay.engines import run_jobs
from assay.errors import UserError
from assay.probes import PROBES
from assay.reproduction.cells import slug
from assay.reproduction.finished import RECORD, covers, record_of
from assay.runs import run
from assay.settings import Settings, Ways
from assay.store import write_json
from assay.vectors import OWN

State = Literal["kept", "trained", "refused", "failed"]


@dataclass(frozen=True)
class Task:
    settings: Settings
    out: Path
    data: Path | None
    vectors: Path | None

    @property
    def folder(self) -> Path:
        return self.out / slug(self.settings)


@dataclass(frozen=True)
class Outcome:
    settings: Settings
    state: State
    words: str = ""  # what was wrong: the user's to mend if refused, ours if failed

    @property
    def done(self) -> bool:
        return self.state in ("kept", "trained")


def run_task(task: Task, ways: Ways | None = None) -> Outcome:
    """One run. What goes wrong is handed back with its words, so that the next can go on."""
    record = record_of(task.folder)
    if record is not None and covers(record, task.settings):
        return Outcome(task.settings, "kept")
    try:
        _reclaim(task)
        vectors = None if task.settings.vectors in (None, OWN) else task.vectors
        within = replace(ways or Ways(), data=task.data, vectors=vectors)
        run(task.settings, task.folder, ways=within, resume=True)
    except UserError as mistake:
        return Outcome(task.settings, "refused", str(mistake))
    except Exception:
        return Outcome(task.settings, "failed", traceback.format_exc())
    return Outcome(task.settings, "trained")


def run_tasks(
    tasks: Sequence[Task], ways: Ways, tell: Callable[[Outcome], None]
) -> Iterator[Outcome]:
    """Each outcome when it is there. A dead worker ends the rest, whose words then say so."""
    left = {slug(task.settings): task.settings for task in tasks}
    try:
        for outcome in _one_by_one(tasks, ways) if _trains(tasks) else _together(tasks, ways):
            del left[slug(outcome.settings)]
            tell(outcome)
            yield outcome
    except UserError as mistake:
        for settings in left.values():
            outcome = Outcome(settings, "refused", str(mistake))
            tell(outcome)
            yield outcome


def _trains(tasks: Sequence[Task]) -> bool:
    """Does any of these runs have a graph of trainings of its own?"""
    asked = {name for task in tasks for name in task.settings.probes}
    return any(PROBES[name].trainings is not None for name in asked)


def _one_by_one(tasks: Sequence[Task], ways: Ways) -> Iterator[Outcome]:
    for task in tasks:
        yield run_task(task, ways)


def _together(tasks: Sequence[Task], ways: Ways) -> Iterable[Outcome]:
    with ways.watching("models") as watch:
        yield from run_jobs(ways.engine, run_task, tasks, ways.workers,
                            ray_address=ways.ray_address, watch=watch)  # fmt: skip


def _reclaim(task: Task) -> None:
    """A folder that holds the same model under other settings is taken over.

    Its jobs are named by hash, so what is still right is used and the rest is done anew.
    """
    held = record_of(task.folder)
    asked = task.settings.as_record()
    if held is not None and held.get("settings") != asked:
        write_json(task.folder / RECORD, {"status": "running", "settings": asked})
