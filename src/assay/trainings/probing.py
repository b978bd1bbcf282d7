"""What do the probes that need a trainer say of this model?"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from assay.evidence import empty, sign
from assay.lessons import Scale, Source
from assay.probes import PROBES
from assay.probes.probe import Trainings
from assay.scores import NotApplicable
from assay.trainings.graph import Execute, run_lessons
from assay.trainings.jobs import BaseModel


def ask_trained(
    names: Sequence[str], base: BaseModel, scale: Scale, folder: Path, execute: Execute
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Rows of evidence, and which of these probes do not apply here and why.

    All their trainings are one graph: what two probes ask for is trained once.
    """
    corpus = base.training.corpus
    asked: dict[str, tuple[Trainings, Sequence[Source]]] = {}
    missing: dict[str, str] = {}
    for name in names:
        trainings = PROBES[name].trainings
        if trainings is None:
            continue
        try:
            asked[name] = trainings, trainings.plan(scale, corpus)
        except NotApplicable as reason:
            missing[name] = str(reason)
    wanted = dict.fromkeys(source for _, plan in asked.values() for source in plan)
    outputs = run_lessons(list(wanted), base, folder, execute)
    signed = [
        sign(trainings.conclude(outputs, scale, corpus), name, scale.seed)
        for name, (trainings, _) in asked.items()
    ]
    return pl.concat([empty(), *signed]), missing
