"""Tests of the sanity checks."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from assay.config import Settings
from assay.evidence import sign
from assay.models.build import load_model
from assay.probes import PROBES, sanity
from assay.probes.model_comparison import item_mask
from assay.runs.audit import audit_documents, sample_of
from assay.runs.training_graph import planned_budget
from assay.scores import SCORES
from assay.scores.score import RunDocuments
from assay.training.randomization import PARTS
from assay.training.specs import Predictions
from tests.builders.small_models import corpus as toy_corpus
from tests.builders.small_trainings import SCALE, base_model, outputs_of

ONE = replace(SCALE, retrainings=1)


def scored(values: np.ndarray, **scores: np.ndarray) -> Predictions:
    names = tuple(f"d{row}" for row in range(len(values)))
    zeros = np.zeros(len(values))
    return Predictions(names, zeros, np.stack([zeros, zeros + 1], 1), values, scores)


def test_the_order_kept_is_the_tau_of_each_document():
    rng = np.random.default_rng(0)
    one, other = rng.random((5, 7)), rng.random((5, 7))
    mask = np.arange(7) < np.array([7, 5, 2, 1, 3])[:, None]
    found = sanity.order_kept(scored(one, gradient=one), scored(other, gradient=one), mask)
    for row, length in enumerate((7, 5, 2)):
        expected = kendalltau(one[row, :length], other[row, :length]).statistic
        assert found["attention"][row] == pytest.approx(expected)
    assert np.isnan(found["attention"][3])  # a single item
    assert found["gradient"][[0, 1, 2, 4]] == pytest.approx(1)


def test_a_score_that_one_model_lacks_is_not_compared():
    values, mask = np.random.default_rng(0).random((2, 4)), np.ones((2, 4), dtype=bool)
    assert set(sanity.order_kept(scored(values, gradient=values), scored(values), mask)) == {
        "attention"
    }


def test_every_score_but_random_numbers_and_those_of_heads_is_asked():
    cheap, costly = sanity.compared_scores(), sanity.compared_scores(costly=True)
    assert not any(SCORES[name].costly for name in cheap)
    assert {"lime", "kernel_shap", "integrated_gradients", "feature_permutation"} <= set(costly)
    left_out = set(SCORES) - {*cheap, *costly, "attention"}
    assert left_out == {"random", *(name for name, score in SCORES.items() if score.heads)}
    assert set(sanity.PROBE.scores) == set(SCORES) - left_out


def test_the_order_kept_of_a_sample_by_hand():
    values = [[0.1, 0.4, 0.2, 0.9], None, [0.3], [5.0, 1.0, 2.0]]
    others = [[0.7, 0.4, 0.8, 0.9], None, [0.5], [5.0, 1.0, 2.0]]
    names = ["a", "b", "c", "d"]
    before = pl.DataFrame({"id": names, "lime": values, "deeplift": values})
    after = pl.DataFrame({"id": names, "lime": others})
    [(name, ids, tau)] = sanity.order_kept_of_sample(before, after)
    assert (name, ids) == ("lime", ("a", "c", "d"))  # one model has no DeepLift; b was not drawn
    expected = kendalltau(values[0], others[0]).statistic
    assert tau[[0, 2]] == pytest.approx([expected, 1])
    assert np.isnan(tau[1])  # a single item
    assert not list(sanity.order_kept_of_sample(None, after))


def test_the_sample_of_costly_scores_has_the_budget_of_the_audit():
    documents = toy_corpus(80).test
    settings = Settings(probes=("sanity",), encoder="average", sample=4)
    costly = sanity.compared_scores(costly=True)
    given = planned_budget(settings, documents)
    assert given.score_sample == tuple((name, 4) for name in costly)
    chosen = replace(settings, sample=None)
    audit = sample_of(replace(chosen, probes=("agreement",)), documents)
    assert dict(planned_budget(chosen, documents).score_sample) == audit.sizes
    # No other probe reads scores of further models.
    every = replace(settings, probes=tuple(name for name in PROBES if name != "sanity"))
    assert planned_budget(every, documents).score_sample == ()


@pytest.mark.slow
def test_costly_scores_are_compared_on_the_same_sample_of_every_model(tmp_path: Path):
    corpus, sizes = toy_corpus(80), (("integrated_gradients", 5), ("lime", 3))
    budget = replace(ONE, score_sample=sizes)
    base = base_model(tmp_path, corpus)
    specs = list(sanity.plan(budget, corpus))
    outputs = outputs_of(specs, base, tmp_path)
    frame = sign(sanity.conclude(outputs, budget, corpus), "sanity", 0)
    run = RunDocuments.of(corpus.test)
    steps = [*(f"down_to={part}" for part in PARTS), sanity.LABELS]
    for (name, size), step in itertools.product(sizes, steps):
        own = frame.filter(pl.col("group") == f"{name};{step}")
        assert set(own["instance"]) == run.sample(size, budget.seed)
    # The values of the run's own model are those of its audit.
    audited = audit_documents(
        load_model(base.place).network,
        corpus.test,
        corpus.vocabulary,
        probes=("agreement",),
        seed=0,
        model_seed=0,
        sample=dict.fromkeys(sanity.compared_scores(costly=True), 0) | dict(sizes),
    ).instances
    sampled = outputs[specs[0]].sampled
    assert sampled is not None
    joined = sampled.join(audited, on="id", suffix=" of the audit")
    for name, size in sizes:
        pairs = joined.select(name, f"{name} of the audit").drop_nulls()
        assert len(pairs) == size
        for own, of_audit in pairs.iter_rows():
            assert own == pytest.approx(of_audit)


@pytest.mark.slow
def test_attention_keeps_its_order_without_the_head_and_loses_it_below(tmp_path: Path):
    corpus = toy_corpus(80)
    outputs = outputs_of(list(sanity.plan(ONE, corpus)), base_model(tmp_path, corpus), tmp_path)
    frame = sign(sanity.conclude(outputs, ONE, corpus), "sanity", 0)
    means = {
        group: values["value"].drop_nulls().mean()
        for (group,), values in frame.filter(pl.col("quantity") == "order_kept").group_by("group")
    }
    several = item_mask(corpus.test).sum(1) > 1
    assert several.any()
    assert means["attention;down_to=head"] == pytest.approx(1)  # it cannot see the head
    assert means["leave_one_out;down_to=head"] < 0.9
    assert abs(means["attention;down_to=embedding"]) < 0.5
    assert "attention;labels=shuffled" in means
    right = frame.filter(pl.col("quantity") == "accuracy")
    by_group = dict(zip(right["group"], right["value"], strict=True))
    assert by_group["base"] > by_group["labels=shuffled"]
