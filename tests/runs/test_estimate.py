"""Tests of the estimate of a run: it counts work, and the machine's speed only scales it."""

from dataclasses import replace

import pytest
import torch

from assay.config import FILM_VECTORS, Execution, Settings
from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus
from assay.models.build import MODELS
from assay.runs import estimate as estimates
from assay.runs.estimate import (
    DRAWING,
    TRAINING_ITEM,
    Estimate,
    Speed,
    announce,
    audit_seconds,
    estimate_run,
    faster_engine,
    relative_width,
    shared_seconds,
    training_seconds,
)
from assay.training.recipes import Recipe, recipe_for

PLAIN = Settings(corpus="motif", probes=("permutation",), threads=1)
TRAINED = replace(PLAIN, probes=("permutation", "seeds", "uniform"))
SERIAL = Execution()


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("motif", options={"documents": "200", "length": "30"})


def test_every_encoder_has_a_cost():
    assert set(TRAINING_ITEM) == {*MODELS, "pooled"}  # an encoder of control models only


def test_training_grows_with_epochs_and_documents(corpus):
    recipe = recipe_for(corpus, "quick")
    once = training_seconds(corpus, recipe, "bilstm", 1)
    assert training_seconds(corpus, recipe, "bilstm", 3) == pytest.approx(3 * once)
    half = replace(corpus, train=corpus.train[: len(corpus.train) // 2])
    assert training_seconds(half, recipe, "bilstm", 1) == pytest.approx(once / 2, rel=0.15)


def test_costly_scores_are_counted_only_if_a_probe_reads_them(corpus):
    cheap = audit_seconds(PLAIN.resolved(()), corpus)
    costly = audit_seconds(replace(PLAIN, probes=("agreement",)).resolved(()), corpus)
    assert costly > cheap
    none = audit_seconds(replace(PLAIN, probes=("agreement",), sample=0), corpus)
    assert none == pytest.approx(cheap)


def test_the_machine_scales_every_stage(corpus):
    reference = estimate_run(TRAINED, corpus, SERIAL, Speed())
    slower = estimate_run(TRAINED, corpus, SERIAL, Speed(threads=2.0, single=3.0))
    assert slower.training == pytest.approx(2 * reference.training)
    assert slower.audit == pytest.approx(2 * reference.audit)
    assert slower.trainings == pytest.approx(3 * reference.trainings)
    assert slower.drawing == pytest.approx(3 * reference.drawing)
    assert reference.drawing > DRAWING


def test_workers_share_further_trainings_and_need_time_to_start(corpus):
    alone = estimate_run(TRAINED, corpus, SERIAL, Speed())
    two = estimate_run(TRAINED, corpus, Execution(engine="processes", workers=2), Speed())
    shared = alone.trainings / 2 + estimates.PROCESS_START
    assert two.trainings == pytest.approx(min(alone.trainings, shared))
    assert estimate_run(PLAIN, corpus, SERIAL, Speed()).trainings == 0.0


def test_vectors_of_film_reviews_are_counted_until_they_are_kept(corpus, monkeypatch):
    settings = replace(PLAIN, vectors=FILM_VECTORS)
    for cached, seconds in ((True, 0.0), (False, estimates.FILM_SECONDS)):
        monkeypatch.setattr(estimates, "are_cached", lambda cached=cached: cached)
        assert estimate_run(settings, corpus, SERIAL, Speed()).vectors == seconds
        assert estimate_run(PLAIN, corpus, SERIAL, Speed()).vectors == 0.0


def test_little_work_stays_in_this_process():
    processes = Execution(engine="processes", workers=2)
    start = estimates.PROCESS_START
    assert shared_seconds(1.0, workers=2) == 1.0
    assert shared_seconds(100.0, workers=2) == 50.0 + start
    assert faster_engine(processes, 1.0, workers=2) == "serial"
    assert faster_engine(processes, 100.0, workers=2) == "processes"
    assert faster_engine(processes, 100.0, workers=1) == "serial"
    assert faster_engine(Execution(engine="ray", workers=2), 1.0, workers=2) == "ray"


def test_the_line_by_hand():
    line = Estimate(training=12.4, audit=95, trainings=7200, drawing=5).line()
    assert line == (
        "This will take about 2.0 h: training 12 s, audit 2 min, further trainings 2.0 h, "
        "report 5 s."
    )
    assert "further" not in Estimate(30, 10, 0).line()


def test_short_work_is_not_announced_and_costs_no_calibration(corpus, monkeypatch):
    monkeypatch.setattr(Speed, "measure", lambda _: pytest.fail("the machine was measured"))
    tiny = replace(corpus, train=corpus.train[:20], dev=corpus.dev[:5], test=corpus.test[:5])
    assert announce(replace(PLAIN, encoder="average"), tiny, SERIAL) is None


def test_long_work_is_announced(corpus, monkeypatch):
    monkeypatch.setattr(Speed, "measure", lambda _: Speed(100.0, 100.0))
    found = announce(TRAINED, corpus, SERIAL)
    assert found is not None
    assert found.total > 100


def test_measuring_the_machine_changes_no_random_number_and_no_setting():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    speed = Speed.measure(1)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads
    assert speed.threads == speed.single > 0


def test_narrow_vectors_of_film_reviews_make_trainings_cheaper():
    recipe = Recipe()
    assert relative_width(PLAIN, recipe) == 1
    films = replace(PLAIN, vectors=FILM_VECTORS)
    assert relative_width(films, recipe) == pytest.approx((1 / 3 + 1) / 2)
    assert relative_width(films, replace(recipe, embedding=100)) == 1
