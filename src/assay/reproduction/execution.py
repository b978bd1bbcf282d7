"""Execution of the runs that a table needs, so that one failure does not lose the others.

Each model and seed is an ordinary run in its own folder. A complete run is not touched. A run that
was killed, or that lacks a probe which is needed now, continues from its finished jobs. Runs are
executed in parallel, unless they train further models: then they are executed one after another,
and the engine works within each of them.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from assay.config import OWN_VECTORS, Execution, Settings
from assay.engines import run_jobs
from assay.errors import UserError
from assay.probes import PROBES
from assay.reproduction.finished_runs import covers, existing_manifest
from assay.reproduction.models import slug
from assay.runs.manifest import Manifest
from assay.runs.run import execute_run

State = Literal["kept", "trained", "refused", "failed"]


@dataclass(frozen=True)
class ReproductionRun:
    """One run of a reproduction."""

    settings: Settings
    out: Path
    data: Path | None
    vectors: Path | None

    @property
    def folder(self) -> Path:
        return self.out / slug(self.settings)


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of one run. `message` says why it was refused (by the user's input) or failed."""

    settings: Settings
    state: State
    message: str = ""

    @property
    def is_available(self) -> bool:
        return self.state in ("kept", "trained")


def reproduce_run(run: ReproductionRun, execution: Execution | None = None) -> RunOutcome:
    """Execute one run. An error is returned in the outcome, so that other runs can continue."""
    try:
        manifest = existing_manifest(run.folder)
        if manifest is not None and covers(manifest, run.settings):
            return RunOutcome(run.settings, "kept")
        _take_over(run, manifest)
        vectors = None if run.settings.vectors in (None, OWN_VECTORS) else run.vectors
        own_execution = replace(execution or Execution(), data=run.data, vectors=vectors)
        execute_run(run.settings, run.folder, execution=own_execution, resume=True)
    except UserError as error:
        return RunOutcome(run.settings, "refused", str(error))
    except Exception:
        return RunOutcome(run.settings, "failed", traceback.format_exc())
    return RunOutcome(run.settings, "trained")


def reproduce_runs(
    runs: Sequence[ReproductionRun],
    execution: Execution,
    on_outcome: Callable[[RunOutcome], None],
) -> Iterator[RunOutcome]:
    """Yield each outcome as soon as it is known; if a worker dies, the other runs are refused."""
    remaining = {slug(run.settings): run.settings for run in runs}
    execute = _one_by_one if _train_further_models(runs) else _in_parallel
    try:
        for outcome in execute(runs, execution):
            del remaining[slug(outcome.settings)]
            on_outcome(outcome)
            yield outcome
    except UserError as error:
        for settings in remaining.values():
            outcome = RunOutcome(settings, "refused", str(error))
            on_outcome(outcome)
            yield outcome


def _train_further_models(runs: Sequence[ReproductionRun]) -> bool:
    """Whether any of these runs has a graph of further trainings."""
    probes = {name for run in runs for name in run.settings.probes}
    return any(PROBES[name].trainings is not None for name in probes)


def _one_by_one(runs: Sequence[ReproductionRun], execution: Execution) -> Iterator[RunOutcome]:
    for run in runs:
        yield reproduce_run(run, execution)


def _in_parallel(runs: Sequence[ReproductionRun], execution: Execution) -> Iterable[RunOutcome]:
    with execution.watching("models") as watch:
        yield from run_jobs(
            execution.engine,
            reproduce_run,
            runs,
            execution.workers,
            ray_address=execution.ray_address,
            watch=watch,
        )


def _take_over(run: ReproductionRun, manifest: Manifest | None) -> None:
    """Claim a folder that holds the same model under other settings.

    Its jobs are named by hash, so those that are still valid are reused and the rest is repeated.
    """
    settings = run.settings.as_record()
    if manifest is not None and manifest.settings.values != settings:
        Manifest.running(settings).write(run.folder)
