"""What do the probes that need a trainer say of this model?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.corpora.corpus import Corpus
from assay.evidence import empty, sign
from assay.lessons import Base, Scale, Source
from assay.probes import PROBES
from assay.probes.probe import Trainings
from assay.scores import NotApplicable
from assay.trainings.graph import Execute, read_outputs, run_lessons
from assay.trainings.jobs import BaseModel


@dataclass(frozen=True)
class AskedOfTrained:
    """Rows of evidence, which of these probes do not apply and why, and what was trained."""

    evidence: pl.DataFrame
    not_applicable: dict[str, str]  # probe -> why
    scale: Scale
    looked: Path | None  # where the look at the run's own model lies; None: nothing was asked


def ask_trained(
    names: Sequence[str], base: BaseModel, scale: Scale, folder: Path, execute: Execute
) -> AskedOfTrained:
    """All their trainings are one graph: what two probes ask for is trained once."""
    corpus = base.training.corpus
    asked, missing = _plans(names, scale, corpus)
    wanted = dict.fromkeys(source for plan in asked.values() for source in plan)
    if not wanted:
        return AskedOfTrained(empty(), missing, scale, None)
    jobs = run_lessons([Base(), *wanted], base, folder, execute)
    outputs = {source: read_outputs(folder / jobs[source].job.key) for source in wanted}
    signed = [
        sign(_trainings(name).conclude(outputs, scale, corpus), name, scale.seed) for name in asked
    ]
    return AskedOfTrained(pl.concat(signed), missing, scale, folder / jobs[Base()].job.key)


def _plans(
    names: Sequence[str], scale: Scale, corpus: Corpus
) -> tuple[dict[str, Sequence[Source]], dict[str, str]]:
    """What each probe wants trained; and of those that do not apply, why."""
    asked: dict[str, Sequence[Source]] = {}
    missing: dict[str, str] = {}
    for name in names:
        if PROBES[name].trainings is None:
            continue
        try:
            asked[name] = _trainings(name).plan(scale, corpus)
        except NotApplicable as reason:
            missing[name] = str(reason)
    return asked, missing


def _trainings(name: str) -> Trainings:
    trainings = PROBES[name].trainings
    assert trainings is not None, f"the probe {name} asks for no trainings"
    return trainings
