"""Tests of the budget of work for costly scores, by hand-worked cases and by its own rules."""

from itertools import pairwise

import numpy as np
import pytest

from assay.config import EXACT_BELOW, QUICK_SAMPLE, SAMPLE
from assay.scores import SCORES
from assay.scores.cost import FEEDFORWARD, RECURRENT, encoder_costs
from assay.scores.sample import LEAST_BUDGET, plan_sample, share_budget
from assay.scores.score import RunDocuments

COSTLY = [name for name, score in SCORES.items() if score.costly]


def run_of(documents: int, length: int) -> RunDocuments:
    return RunDocuments(tuple(f"d{i}" for i in range(documents)), (length,) * documents, ())


def plan(run: RunDocuments, sample: int | None = None, **settings):
    defaults = {"preset": "quick", "encoder": "bilstm", "seed": 0, "exact_below": EXACT_BELOW}
    return plan_sample(run, list(SCORES.values()), sample=sample, **{**defaults, **settings})


def test_the_budget_is_shared_equally_and_what_is_left_goes_to_the_costlier():
    totals = {"dear": np.arange(1, 11) * 10.0, "cheap": np.arange(1, 11) * 1.0}
    # 60 steps: at most 30 for the cheap one, which needs 10; the dear one gets the other 50.
    assert share_budget(totals, 60) == {"dear": 5, "cheap": 10}
    assert share_budget(totals, 8) == {"dear": 0, "cheap": 4}
    assert share_budget({"none": np.array([])}, 8) == {"none": 0}
    # Equal scores get equal samples, although the second could use what the first left over.
    equal = np.arange(1, 11) * 10.0
    assert share_budget({"one": equal, "other": equal}, 55) == {"one": 2, "other": 2}


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", None])
@pytest.mark.parametrize(("documents", "length"), [(1000, 20), (500, 175), (40, 700), (3, 4000)])
def test_costly_scores_cost_no_more_than_the_rest(encoder, documents: int, length: int):
    found = plan(run_of(documents, length), encoder=encoder)
    costs = encoder_costs(encoder, EXACT_BELOW)
    rest = costs.audit(np.array([float(length)]))[0] * documents
    each = {name: SCORES[name].cost(np.array([float(length)]), costs)[0] for name in COSTLY}
    spent = sum(size * each[name] for name, size in found.sizes.items())
    assert spent == pytest.approx(found.steps)
    assert spent <= (rest if encoder is None else max(rest, LEAST_BUDGET))
    assert set(found.sizes) == set(COSTLY)
    assert max(found.sizes.values()) <= min(QUICK_SAMPLE, documents)
    # The cheaper the score, the larger its sample.
    ascending = sorted(COSTLY, key=each.__getitem__)
    assert all(found.sizes[one] >= found.sizes[other] for one, other in pairwise(ascending))


def test_short_documents_are_sampled_as_the_preset_says():
    assert set(plan(run_of(2000, 20)).sizes.values()) == {QUICK_SAMPLE}
    assert set(plan(run_of(4000, 20), preset="paper").sizes.values()) == {SAMPLE}
    assert set(plan(run_of(7, 10)).sizes.values()) == {7}


def test_long_documents_get_a_smaller_sample():
    found = plan(run_of(200, 175))
    assert 0 < found.sizes["lime"] < found.sizes["leave_one_out_masked"] <= QUICK_SAMPLE
    assert found.within_budget


def test_the_users_number_replaces_the_budget():
    found = plan(run_of(200, 3000), sample=70)
    assert set(found.sizes.values()) == {70}
    assert not found.within_budget
    assert set(plan(run_of(5, 10), sample=70).sizes.values()) == {5}
    assert plan(run_of(200, 10), sample=0).steps == 0


def test_the_choice_depends_on_lengths_and_settings_only():
    lengths = tuple(np.random.default_rng(0).integers(5, 400, 300).tolist())
    ids = tuple(f"d{i}" for i in range(300))
    there = plan(RunDocuments(ids, lengths, ()))
    assert there == plan(RunDocuments(ids, lengths, ()))
    back = plan(RunDocuments(ids[::-1], lengths[::-1], ("other", "words")))
    assert back.sizes == there.sizes
    assert back.steps == pytest.approx(there.steps)


def test_effects_that_fade_cost_less():
    lengths = np.array([500.0, 1000.0])
    exact, faded = (encoder_costs("bilstm", below).changes(lengths) for below in (2000, 600))
    assert faded[0] == exact[0]
    assert faded[1] < exact[1]
    assert RECURRENT.changes(lengths)[1] == 4 * RECURRENT.changes(lengths)[0]
    assert (
        encoder_costs("cnn", 600).changes(lengths)[1]
        == 2 * encoder_costs("cnn", 600).changes(lengths)[0]
    )
    assert FEEDFORWARD.read > 0


def test_costly_probes_get_a_tenth_of_the_audit_and_thorough_gives_them_all_of_it():
    lengths = (20,) * 2_000
    run = RunDocuments(tuple(map(str, range(2_000))), lengths, ())

    def count(preset="quick", sample=None, encoder="bilstm", steps=10_000.0):
        plan = plan_sample(
            run,
            [],
            sample=sample,
            preset=preset,
            encoder=encoder,
            seed=0,
            exact_below=600,
            probes={"probe": lambda lengths, encoder: np.full(len(lengths), steps)},
        )
        assert plan.all_sizes == plan.probes
        assert plan.steps == steps * plan.probes["probe"]
        return plan.probes["probe"]

    rest = encoder_costs("bilstm", 600).audit(np.array(lengths)).sum()
    assert count(steps=rest / 100) == 10
    assert count(preset="thorough", steps=rest / 40) == 40
    assert count(sample=17) == 17
    foreign = encoder_costs(None, 600).audit(np.array(lengths)).sum()
    assert count(encoder=None, steps=foreign / 50) == 5
