"""Tests of the sanity checks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from assay.evidence import sign
from assay.probes import sanity
from assay.probes.model_comparison import item_mask
from assay.scores import SCORES
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


def test_costly_scores_and_random_numbers_are_not_asked():
    names = sanity.compared_scores()
    assert {"gradient", "leave_one_out"} <= set(names)
    assert not {"attention", "random", "lime"} & set(names)
    assert not any(SCORES[name].costly for name in names)


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
