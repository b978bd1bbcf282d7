"""Tests that a trainer's models are the same on every engine."""

from pathlib import Path

import pytest

from assay.engines import run_graph
from assay.runs.timing import TIMING_FILE
from assay.runs.trainer_jobs import AttachedBase
from assay.runs.trainers import named_trainer
from assay.runs.training_graph import run_further_job, run_trainings
from assay.runs.training_texts import TrainingTexts
from assay.training.specs import BaseModelSpec, ImitationObjective, TrainingSpec
from tests.builders import own_trainers as own

pytestmark = pytest.mark.slow
SPECS = (
    TrainingSpec(1, 1),
    TrainingSpec(1, 1, attention="uniform"),
    TrainingSpec(0, 0, objective=ImitationObjective(BaseModelSpec(), 0.1)),
)


def files(engine: str, folder: Path) -> dict[str, bytes]:
    model = own.load()
    texts = TrainingTexts.of(own.write_table(folder / "all.csv"), None, {}, None)
    trainer = named_trainer("tests.builders.own_trainers:train")
    base = AttachedBase(model, "a fingerprint", texts.read(model), texts, trainer, "cpu")
    base.predict(folder)
    run_trainings(SPECS, base, folder, lambda t: run_graph(engine, run_further_job, t, 2))
    found = [path for path in folder.glob("*-*/*") if path.name != TIMING_FILE]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(found)}


def test_every_engine_trains_the_same_models(parallel_engine: str, tmp_path: Path):
    (tmp_path / "serial").mkdir()
    (tmp_path / "other").mkdir()
    serial = files("serial", tmp_path / "serial")
    assert len(serial) == 3 + 3 * 3  # the audited model's splits; dev, test and losses of three
    assert files(parallel_engine, tmp_path / "other") == serial
