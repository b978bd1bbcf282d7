"""Tests of the hand-made sets of models: what they lose, share, pay and leak at each dose."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from assay.controls.graded.model_sets import (
    CALIBRATION_SET,
    LOSS,
    PRICE,
    PROBES_OF_SETS,
    TEST_SET,
    Behavior,
    draw_set,
    equal_in_part,
    lost_anywhere,
    lost_in_one_class,
    paid_by_few,
    paid_everywhere,
    set_evidence,
)

DOCUMENTS = 1_500
BEHAVIORS = {"calibration": CALIBRATION_SET, "test": TEST_SET}


def means(behavior: Behavior, dose: float) -> dict[tuple[str, str, str | None], float]:
    drawn, corpus, budget = draw_set(behavior, dose, seed=8, documents=DOCUMENTS)
    evidence = set_evidence(replace(drawn, disagreement=0.002), corpus, budget)
    assert set(evidence["probe"]) == set(PROBES_OF_SETS)
    rows = evidence.group_by("probe", "quantity", "group").agg(pl.col("value").mean())
    return {
        (row["probe"], row["quantity"], row["group"]): row["value"]
        for row in rows.iter_rows(named=True)
    }


@pytest.fixture(scope="module", params=BEHAVIORS)
def ends(request):
    """The means of every quantity at dose 0 and at dose 1."""
    return [means(BEHAVIORS[request.param], dose) for dose in (0.0, 1.0)]


def test_the_twin_loses_what_the_dose_says(ends):
    lost = [at["uniform", "accuracy", "base"] - at["uniform", "accuracy", "uniform"] for at in ends]
    assert lost[0] == pytest.approx(0.0, abs=0.005)
    assert 0.5 * LOSS < lost[1] < 1.3 * LOSS


def test_models_share_what_the_dose_says(ends):
    taus = [
        np.mean([value for key, value in at.items() if key[:2] == ("seeds", "pair_tau")])
        for at in ends
    ]
    assert taus[0] == pytest.approx(0.0, abs=0.1)
    assert taus[1] > 0.85


def test_far_attention_costs_what_the_dose_says(ends):
    cost = [at["imitation", "imitation_cost", None] for at in ends]
    assert cost[0] == pytest.approx(0.0, abs=0.005)
    assert 0.6 * PRICE < cost[1] < 1.4 * PRICE
    assert all(at["imitation", "far_jsd", None] > 0.4 for at in ends)
    assert all(at["imitation", "far_converged", None] == 1 for at in ends)


def test_the_guide_gains_what_the_dose_says(ends):
    for at, expected in zip(ends, (0.0, LOSS), strict=True):
        accuracy = {key[2]: value for key, value in at.items() if key[:2] == ("guide", "accuracy")}
        gain = accuracy["base"] - max(accuracy["uniform"], accuracy["permuted"])
        leak = accuracy["seen"] - accuracy["unseen"]
        assert gain - leak == pytest.approx(expected, abs=0.06)


def test_the_same_seed_gives_the_same_evidence():
    one, other = (set_evidence(*draw_set(TEST_SET, 0.5, 3, 40)) for _ in range(2))
    assert one.equals(other)
    assert not one.equals(set_evidence(*draw_set(TEST_SET, 0.5, 4, 40)))


def test_documents_lost_in_one_class_are_as_many():
    rng = np.random.default_rng(0)
    labels, lots = rng.integers(0, 2, 4_000), rng.random(4_000)
    anywhere, in_one = lost_anywhere(labels, lots, 0.2), lost_in_one_class(labels, lots, 0.2)
    assert in_one.mean() == pytest.approx(anywhere.mean(), abs=0.02)
    assert set(labels[in_one]) == {1}


@pytest.mark.parametrize("pay", [paid_everywhere, paid_by_few])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_price_is_a_mean_tvd(pay, classes):
    rng = np.random.default_rng(0)
    base, lots = rng.dirichlet([0.3] * classes, 3_000), rng.random(3_000)
    moved = pay(base, lots, 0.1)
    np.testing.assert_allclose(moved.sum(1), 1.0)
    assert np.abs(moved - base).sum(1).mean() / 2 == pytest.approx(0.1, rel=0.1)
    np.testing.assert_allclose(pay(base, lots, 0.0), base)


def test_a_shared_part_of_one_half_agrees_by_half():
    rng = np.random.default_rng(0)
    shared, *own = rng.normal(size=(3, 1, 20_000))
    ones = [equal_in_part(shared, each, np.zeros(1), 0.5)[0] for each in own]
    assert 0.3 < np.corrcoef(ones)[0, 1] < 0.6
