"""Is each lesson taught once, in the right order, and named by all that can change it?"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.engines import run_graph
from assay.models.build import load_model
from assay.probes import PROBES
from assay.runs.further_trainings import THREADS, TrainedBase, training_job
from assay.runs.model_outputs import read_outputs
from assay.runs.timing import TIMING_FILE
from assay.runs.training_graph import graph_tasks, plan_jobs, run_further_job
from assay.training.imposed_weights import halves
from assay.training.specs import (
    BaseModelSpec,
    DeceptionObjective,
    ImitationObjective,
    ImposedWeights,
    ModelSpec,
    TrainingSpec,
    prerequisites,
)
from tests.builders.small_trainings import (
    SCALE,
    TINY,
    base_model,
    marked_corpus,
    outputs_of,
    teach,
    training,
)

TOY = marked_corpus()
NOWHERE = Path("jobs")


def base() -> TrainedBase:
    """A base that is never looked at: enough to plan by."""
    return TrainedBase(Path("model"), training(TOY))


def key(spec: TrainingSpec, model: TrainedBase | None = None) -> str:
    return plan_jobs([spec], model or base(), NOWHERE)[spec].job.key


def test_what_two_probes_ask_for_is_trained_once():
    asked = [
        list(probe.trainings.plan(SCALE, TOY))
        for probe in PROBES.values()
        if probe.trainings is not None
    ]
    wanted = [source for plan in asked for source in plan]
    tasks = graph_tasks(plan_jobs(wanted, base(), NOWHERE))
    assert len({task.key for task in tasks}) == len(tasks)
    assert len(tasks) < len(wanted)
    again = TrainingSpec(1, 1)  # several probes want the network with the next seed
    assert sum(again in plan for plan in asked) >= 2


def test_two_ways_to_say_the_same_training_are_one_job():
    """The base reads each item alone already, so the guide's own network is the base's."""
    said, implied = TrainingSpec(1, 1, "average", "additive"), TrainingSpec(1, 1)
    jobs = plan_jobs([said, implied], base(), NOWHERE)
    assert jobs[said].job.key == jobs[implied].job.key
    assert len(graph_tasks(jobs)) == 1


COUNTERFEIT = TrainingSpec(
    0, 0, objective=ImitationObjective(BaseModelSpec(), 1e-3), epochs=2, patience=3
)
CHANGED = {
    "init": replace(COUNTERFEIT, init_seed=1),
    "order": replace(COUNTERFEIT, order_seed=1),
    "encoder": replace(COUNTERFEIT, encoder="cnn"),
    "attention": replace(COUNTERFEIT, attention="dot"),
    "lambda": replace(COUNTERFEIT, objective=ImitationObjective(BaseModelSpec(), 2e-3)),
    "whose": replace(COUNTERFEIT, objective=ImitationObjective(TrainingSpec(5, 5), 1e-3)),
    "aim": replace(COUNTERFEIT, objective=DeceptionObjective(1e-3)),
    "guide": replace(COUNTERFEIT, imposed=ImposedWeights("tf-idf")),
    "half": replace(COUNTERFEIT, half=0),
    "start": replace(COUNTERFEIT, start=TrainingSpec(0, 0)),
    "epochs": replace(COUNTERFEIT, epochs=3),
    "patience": replace(COUNTERFEIT, patience=None),
}


@pytest.mark.parametrize("changed", CHANGED)
def test_whatever_can_change_a_training_is_in_its_name(changed: str):
    assert key(CHANGED[changed]) != key(COUNTERFEIT)


def test_the_corpus_is_in_the_name_and_folders_are_not():
    other = TrainedBase(Path("elsewhere"), base().training)
    assert key(COUNTERFEIT, other) == key(COUNTERFEIT)
    fewer = replace(TOY, train=TOY.train[1:])
    assert key(COUNTERFEIT, TrainedBase(Path("model"), training(fewer))) != key(COUNTERFEIT)
    moved = plan_jobs([COUNTERFEIT], base(), Path("other place"))[COUNTERFEIT]
    assert moved.job.key == key(COUNTERFEIT)


def test_a_change_anywhere_in_a_chain_renames_all_that_follows():
    second = replace(
        COUNTERFEIT, objective=ImitationObjective(BaseModelSpec(), 2e-3), start=COUNTERFEIT
    )
    third = replace(COUNTERFEIT, objective=ImitationObjective(BaseModelSpec(), 5e-3), start=second)
    early = replace(second, start=replace(COUNTERFEIT, epochs=9))
    assert key(replace(third, start=early)) != key(third)


def test_tasks_stand_after_those_they_need_and_keep_what_others_read():
    probe = PROBES["imitation"].trainings
    assert probe is not None
    jobs = plan_jobs(probe.plan(SCALE, TOY), base(), NOWHERE)
    place = {task.key: number for number, task in enumerate(graph_tasks(jobs))}
    for task in graph_tasks(jobs):
        assert all(place[need] < place[task.key] for need in task.after)
    chain = [source for source in jobs if isinstance(source, TrainingSpec) and source.start]
    assert len(chain) == 4  # two sweeps over three lambdas
    for spec in chain:
        assert set(prerequisites(spec)) == {spec.start, BaseModelSpec()}
        assert jobs[spec.start].keep_model
        assert not jobs[spec.start].keep_train  # its weights are wanted, not its attention
    last = [source for source in jobs if source not in {spec.start for spec in chain}]
    assert not any(jobs[source].keep_model for source in last if isinstance(source, TrainingSpec))


def test_a_lesson_without_wishes_is_the_base_s_training_with_one_thread():
    task = replace(training(TOY), threads=2)
    assert training_job(TrainingSpec(0, 0), task) == replace(task, threads=THREADS)
    other = training_job(TrainingSpec(4, 5, "cnn", "uniform", epochs=7), task)
    assert (other.init_seed, other.order_seed, other.recipe.epochs) == (4, 5, 7)
    assert (other.config.encoder, other.config.attention, other.config.size) == (
        "cnn",
        "uniform",
        8,
    )


def test_imposed_uniform_weights_equal_uniform_attention_to_the_last_bit(tmp_path):
    """The base attends uniformly; a guide made from it must change nothing."""
    model = base_model(tmp_path, TOY, attention="uniform")
    plain = TrainingSpec(1, 2, "average", "uniform")
    guided = replace(plain, imposed=ImposedWeights("weights", (BaseModelSpec(),)))
    one, other = outputs_of([plain, guided], model, tmp_path).values()
    for a, b in ((one.dev, other.dev), (one.test, other.test)):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
        np.testing.assert_array_equal(a.attention, b.attention)


def test_a_guided_model_is_tested_under_its_guide(tmp_path):
    model = base_model(tmp_path, TOY)
    guided = TrainingSpec(
        1, 1, "average", "uniform", imposed=ImposedWeights("weights", (BaseModelSpec(),))
    )
    found = outputs_of([BaseModelSpec(), guided], model, tmp_path)
    np.testing.assert_allclose(
        found[guided].test.attention, found[BaseModelSpec()].test.attention, atol=1e-7
    )


def test_a_copy_that_starts_at_the_counterfeiter_goes_on_from_it(tmp_path):
    """One epoch more moves the weights, and from elsewhere than fresh ones."""
    model = base_model(tmp_path, TOY)
    after = replace(COUNTERFEIT, start=COUNTERFEIT, epochs=1)
    fresh = replace(COUNTERFEIT, epochs=1)
    places = teach([COUNTERFEIT, after, fresh], model, tmp_path)
    assert (places[COUNTERFEIT] / "model.safetensors").exists()
    went_on, anew = (read_outputs(places[one]).test.probabilities for one in (after, fresh))
    assert not np.array_equal(went_on, anew)
    assert load_model(places[COUNTERFEIT]).network.config == model.training.config


def test_half_a_corpus_is_half_a_training(tmp_path):
    model = base_model(tmp_path, TOY)
    first, second = TrainingSpec(0, 0, half=0), TrainingSpec(0, 0, half=1)
    places = teach([first, second], model, tmp_path)
    losses = [pl.read_json(places[one] / "training.json")["epochs"][0] for one in (first, second)]
    assert losses[0].to_list() != losses[1].to_list()
    where = halves(TOY.train)
    assert set(where.values()) == {0, 1}


def test_a_deceiver_is_looked_at_without_the_marked_items(tmp_path):
    model = base_model(tmp_path, TOY)
    deceiver = TrainingSpec(0, 0, objective=DeceptionObjective(1.0))
    found = outputs_of([BaseModelSpec(), deceiver], model, tmp_path)
    for outputs in found.values():
        assert outputs.unmarked is not None
        assert outputs.unmarked.attention.shape[1] < outputs.test.attention.shape[1]


def test_a_killed_grid_ends_in_the_same_bytes(tmp_path):
    """Some folders are gone, as if their jobs had never finished; the others are not done again."""
    model = base_model(tmp_path / "model", TOY)
    probes = [PROBES[name].trainings for name in ("imitation", "guide")]
    wanted: list[ModelSpec] = [s for one in probes if one for s in one.plan(SCALE, TOY)]
    places = teach(wanted, model, tmp_path / "whole")
    before = {path.name: contents(path) for path in places.values()}
    gone = sorted(before)[::3]
    kept = {name: (tmp_path / "whole" / name).stat().st_mtime_ns for name in before}
    for name in gone:
        shutil.rmtree(tmp_path / "whole" / name)
    again = teach(wanted, model, tmp_path / "whole")
    assert {path.name: contents(path) for path in again.values()} == before
    for name in set(before) - set(gone):
        assert (tmp_path / "whole" / name).stat().st_mtime_ns == kept[name]


def contents(folder: Path) -> dict[str, bytes]:
    """All files but the seconds, the only thing in which equal trainings may differ."""
    files = (path for path in folder.iterdir() if path.name != TIMING_FILE)
    return {path.name: path.read_bytes() for path in files}


def test_serial_and_processes_leave_the_same_bytes(tmp_path):
    model = base_model(tmp_path / "model", TOY)
    wanted = [
        BaseModelSpec(),
        COUNTERFEIT,
        replace(COUNTERFEIT, start=COUNTERFEIT, epochs=1),
        TrainingSpec(1, 1),
    ]
    found = {}
    for engine in ("serial", "processes"):
        folder = tmp_path / engine
        tasks = graph_tasks(plan_jobs(wanted, model, folder))
        done = [path for _, path in run_graph(engine, run_further_job, tasks, 2)]
        found[engine] = {path.name: contents(path) for path in done}
    assert found["serial"] == found["processes"]
    assert len(found["serial"]) == len(wanted)


def test_the_tiny_recipe_is_what_was_trained_by(tmp_path):
    model = base_model(tmp_path, TOY)
    place = teach([TrainingSpec(1, 1)], model, tmp_path)[TrainingSpec(1, 1)]
    assert len(pl.read_json(place / "training.json")["epochs"][0]) == TINY.epochs
