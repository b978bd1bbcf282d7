"""Tests of the adversary's row: it is equal only if every exact answer is right."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from assay.bench import adversary
from assay.bench.adversary import (
    ExactAnswer,
    baseline_jsd,
    baseline_search,
    candidate_distance,
)
from assay.bench.material import SEED
from assay.exact.search import SearchSettings
from assay.statistics.divergence import jsd
from tests.bench.conftest import PEAK

SHORT = SearchSettings(steps=40, learning_rate=0.1)
EPS = 0.01


def test_the_exact_answer_is_unbeaten_and_its_witnesses_hold(two_batches):
    measurement = adversary.measure(two_batches, repeats=1, searched=1, settings=SHORT)
    assert measurement.equal is True
    assert (measurement.n, measurement.plain_n, measurement.peak_mb) == (45, 13, PEAK)
    assert measurement.baseline_seconds > measurement.seconds > 0


@pytest.mark.parametrize("amount", [-0.05, 1e-6], ids=["too small", "too large"])
def test_a_wrong_distance_is_noticed(two_batches, monkeypatch, amount):
    def wrong(encoded, real=adversary.run_optimized):
        return [replace(found, jsd=found.jsd + amount) for found in real(encoded)]

    monkeypatch.setattr(adversary, "run_optimized", wrong)
    assert adversary.measure(two_batches, repeats=1, settings=SHORT).equal is False


def test_a_further_candidate_or_an_infeasible_witness_is_noticed():
    weights, items = torch.tensor([0.5, 0.5, 0.0]).double(), torch.ones(3).double()
    distant = torch.tensor([[0.0, 0.0, 1.0]]).double()  # all weights give the same logit
    bias, distance = torch.zeros(()).double(), float(jsd(distant[0], weights))
    right = ExactAnswer(weights, items, bias, distance, distant[0])
    assert right.holds(EPS)
    assert right.unbeaten(distant, EPS)
    too_small = replace(right, jsd=0.0, witness=weights)
    assert too_small.holds(EPS)
    assert not too_small.unbeaten(distant, EPS)
    assert not replace(right, items=torch.tensor([1.0, 1.0, 3.0]).double()).holds(EPS)


def test_the_baseline_search_stays_within_the_bound():
    rng = torch.Generator().manual_seed(SEED)
    states, weights = torch.randn(6, 8, 4, generator=rng), torch.full((6, 8), 1 / 7)
    mask = torch.arange(8).expand(6, 8) < 7
    head = torch.nn.Linear(4, 1)
    torch.nn.init.normal_(head.weight, generator=rng)
    found = baseline_search(head, states, weights * mask, mask, rng)
    assert (found.weights[:, :, 7] == 0).all()
    assert (found.tvd < 0.011).all()
    assert (found.best(0.011) > 0.15).all()
    assert (found.best(-1.0) == 0).all()


def test_the_divergence_of_the_baseline_is_the_jsd():
    p = torch.tensor(np.random.default_rng(1).dirichlet(np.ones(5), (2, 3)))
    torch.testing.assert_close(baseline_jsd(p[:, 0], p[:, 1]), jsd(p[:, 0], p[:, 1]))
    pairs = sum(jsd(p[:, i], p[:, j]).sum() for i, j in ((0, 1), (0, 2), (1, 2)))
    torch.testing.assert_close(candidate_distance(p), pairs / 6)
