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

from assay.config import OWN_VECTORS, Execution, Settings
from assay.data.files import write_json
from assay.engines import run_jobs
from assay.errors import UserError
from assay.probes import PROBES
from assay.reproduction.models import RECORD, covers, record_of, slug
from assay.runs.run import execute_run

State = Literal["kept", "trained", "refused", "failed"]


@dataclass(frozen=True)
class ReproductionRun:
    settings: Settings
    out: Path
    data: Path | None
    vectors: Path | None

    @property
    def folder(self) -> Path:
        return self.out / slug(self.settings)


@dataclass(frozen=True)
class RunOutcome:
    settings: Settings
    state: State
    words: str = ""  # what was wrong: the user's to mend if refused, ours if failed

    @property
    def done(self) -> bool:
        return self.state in ("kept", "trained")


def reproduce_run(task: ReproductionRun, execution: Execution | None = None) -> RunOutcome:
    """One run. What goes wrong is handed back with its words, so that the next can go on."""
    record = record_of(task.folder)
    if record is not None and covers(record, task.settings):
        return RunOutcome(task.settings, "kept")
    try:
        _reclaim(task)
        vectors = None if task.settings.vectors in (None, OWN_VECTORS) else task.vectors
        within = replace(execution or Execution(), data=task.data, vectors=vectors)
        execute_run(task.settings, task.folder, execution=within, resume=True)
    except UserError as mistake:
        return RunOutcome(task.settings, "refused", str(mistake))
    except Exception:
        return RunOutcome(task.settings, "failed", traceback.format_exc())
    return RunOutcome(task.settings, "trained")


def reproduce_runs(
    tasks: Sequence[ReproductionRun], execution: Execution, tell: Callable[[RunOutcome], None]
) -> Iterator[RunOutcome]:
    """Each outcome when it is there. A dead worker ends the rest, whose words then say so."""
    left = {slug(task.settings): task.settings for task in tasks}
    try:
        for outcome in (
            _one_by_one(tasks, execution) if _trains(tasks) else _together(tasks, execution)
        ):
            del left[slug(outcome.settings)]
            tell(outcome)
            yield outcome
    except UserError as mistake:
        for settings in left.values():
            outcome = RunOutcome(settings, "refused", str(mistake))
            tell(outcome)
            yield outcome


def _trains(tasks: Sequence[ReproductionRun]) -> bool:
    """Does any of these runs have a graph of trainings of its own?"""
    asked = {name for task in tasks for name in task.settings.probes}
    return any(PROBES[name].trainings is not None for name in asked)


def _one_by_one(tasks: Sequence[ReproductionRun], execution: Execution) -> Iterator[RunOutcome]:
    for task in tasks:
        yield reproduce_run(task, execution)


def _together(tasks: Sequence[ReproductionRun], execution: Execution) -> Iterable[RunOutcome]:
    with execution.watching("models") as watch:
        yield from run_jobs(execution.engine, reproduce_run, tasks, execution.workers,
                            ray_address=execution.ray_address, watch=watch)  # fmt: skip


def _reclaim(task: ReproductionRun) -> None:
    """A folder that holds the same model under other settings is taken over.

    Its jobs are named by hash, so what is still right is used and the rest is done anew.
    """
    held = record_of(task.folder)
    asked = task.settings.as_record()
    if held is not None and held.get("settings") != asked:
        write_json(task.folder / RECORD, {"status": "running", "settings": asked})
