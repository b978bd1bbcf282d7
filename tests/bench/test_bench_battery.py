"""Do the rows on the whole battery say equal when it is, and only then?"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from assay.bench import adversary, battery
from assay.bench.adversary import Answer, apart, plain_jsd, plain_search
from assay.bench.battery import PAIRS, agree, by_document, plain_battery
from assay.bench.material import (
    SEED,
    PackedClassifier,
    evenly_spaced,
    plain_batches,
    some_of,
    trained_model,
)
from assay.bench.measurement import Alone
from assay.exact.search import SearchSettings
from assay.statistics.divergence import jsd
from tests.small_models import corpus

PEAK = 7.5
SHORT = SearchSettings(steps=40, learning_rate=0.1)


@pytest.fixture(autouse=True)
def no_other_process(monkeypatch):
    def here(prepare, argument):
        prepare(argument)()
        return Alone(seconds=6.0, peak_mb=PEAK)

    for module in (adversary, battery):
        monkeypatch.setattr(module, "alone", here)


@pytest.fixture(scope="module")
def toy():
    return some_of(corpus(250), train=100, test=45)


@pytest.fixture(scope="module")
def both_sides(toy):
    """What ours and the loop found, to be tampered with."""
    model, batches = trained_model(toy), plain_batches(toy)
    orders = battery.same_orders(batches)
    plain = plain_battery(PackedClassifier(model), batches, orders, SHORT)
    return by_document(battery.our_way(model, toy)), plain


def test_adversary_is_never_beaten_and_its_witnesses_hold(toy):
    figures = adversary.measure(toy, repeats=1, searched=1, settings=SHORT)
    assert figures.equal is True
    assert (figures.n, figures.plain_n, figures.peak_mb) == (45, 13, PEAK)
    assert figures.baseline_seconds > figures.seconds > 0


@pytest.mark.parametrize("amount", [-0.05, 1e-6], ids=["too little", "too much"])
def test_adversary_notices_another_distance(toy, monkeypatch, amount):
    def wrong(encoded, real=adversary.our_way):
        return [replace(found, jsd=found.jsd + amount) for found in real(encoded)]

    monkeypatch.setattr(adversary, "our_way", wrong)
    assert adversary.measure(toy, repeats=1, settings=SHORT).equal is False


def test_an_answer_is_refused_if_a_candidate_is_further_or_its_witness_is_not_feasible():
    weights, items = torch.tensor([0.5, 0.5, 0.0]).double(), torch.tensor([1.0, 1.0, 1.0]).double()
    away = torch.tensor([[0.0, 0.0, 1.0]]).double()  # any weights give the same logit
    bias, far = torch.zeros(()).double(), float(jsd(away[0], weights))
    right = Answer(weights, items, bias, far, away[0])
    assert right.holds(0.01)
    assert right.unbeaten(away, 0.01)
    shy = replace(right, jsd=0.0, witness=weights)
    assert shy.holds(0.01)
    assert not shy.unbeaten(away, 0.01)
    assert not replace(right, items=torch.tensor([1.0, 1.0, 3.0]).double()).holds(0.01)


def test_battery_equals_the_plain_loops(toy):
    figures = battery.measure(toy, settings=SHORT)
    assert figures.equal is True
    assert (figures.n, figures.plain_n, figures.peak_mb) == (45, None, PEAK)
    assert figures.seconds > 0


def test_battery_scales_a_loop_that_was_timed_on_some(toy, monkeypatch):
    monkeypatch.setattr(
        battery, "race", lambda plain, ours, repeats: [(2.0, plain()), (1.0, ours())]
    )
    figures = battery.measure(toy, timed=1, settings=SHORT)
    assert figures.plain_n == 13
    assert figures.baseline_seconds == pytest.approx(2.0 * 45 / 13)
    assert figures.equal is True


def changed_score(name, amount):
    return lambda found: replace(found, scores=found.scores | {name: found.scores[name] + amount})


WRONG = {
    "gradient": lambda found: replace(
        found, scores=found.scores | {"gradient": 1.01 * found.scores["gradient"]}
    ),
    "leave-one-out": changed_score("leave_one_out", 2e-5),
    "median": lambda found: replace(found, median_tvd=found.median_tvd + 1e-5),
    "tau": lambda found: replace(found, taus=found.taus + 1e-6),
    "adversary": lambda found: replace(found, answer=replace(found.answer, jsd=0.0)),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_battery_notices_one_document_that_is_wrong(both_sides, change):
    ours, plain = both_sides
    assert agree(ours, plain)
    name = next(iter(plain))
    assert not agree(ours | {name: change(ours[name])}, plain)


def test_battery_notices_taus_that_are_not_the_loops(both_sides):
    ours, plain = both_sides
    off = {name: replace(found, taus=found.taus - 0.01) for name, found in plain.items()}
    assert not agree(ours, off)


def test_the_loop_knows_every_document_and_pair(both_sides, toy):
    ours, plain = both_sides
    assert set(ours) == set(plain) == {document.id for document in toy.test}
    assert all(found.taus.shape == (len(PAIRS),) for found in plain.values())
    assert all(0 <= found.max_jsd <= np.log(2) for found in plain.values())


def test_plain_search_climbs_within_the_bound():
    rng = torch.Generator().manual_seed(SEED)
    states, weights = torch.randn(6, 8, 4, generator=rng), torch.full((6, 8), 1 / 7)
    mask = torch.arange(8).expand(6, 8) < 7
    head = torch.nn.Linear(4, 1)
    torch.nn.init.normal_(head.weight, generator=rng)
    before = weights * mask
    found = plain_search(head, states, before, mask, rng)
    assert (found.weights[:, :, 7] == 0).all()
    assert (found.tvd < 0.011).all()
    assert (found.best(0.011) > 0.15).all()
    assert (found.best(-1.0) == 0).all()


def test_plain_divergence_is_the_divergence():
    p = torch.tensor(np.random.default_rng(1).dirichlet(np.ones(5), (2, 3)))
    torch.testing.assert_close(plain_jsd(p[:, 0], p[:, 1]), jsd(p[:, 0], p[:, 1]))
    pairs = sum(jsd(p[:, i], p[:, j]).sum() for i, j in ((0, 1), (0, 2), (1, 2)))
    torch.testing.assert_close(apart(p), pairs / 6)


def test_timed_batches_are_spread_evenly(toy):
    cuts = [np.array([number]) for number in range(10)]
    assert [int(cut[0]) for cut in evenly_spaced(cuts, 2)] == [2, 7]
    assert evenly_spaced(cuts, 12) is evenly_spaced(cuts, None) is cuts
    first, second = plain_batches(toy)
    assert first.lengths.min() >= second.lengths.max()
    assert first.lengths[0] == first.lengths.max()
