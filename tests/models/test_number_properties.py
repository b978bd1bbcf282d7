"""Properties of the numbers, over models, lengths, classes and saturations.

`make soak` tries many more examples of each (`tests/soak/soak_properties.py`).
"""

import math
import os

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from assay.data.batches import Batch
from assay.exact.search import SearchSettings, published_search, starting_logits
from assay.exact.several_classes import bracket_adversary
from assay.exact.two_classes import exact_adversary
from assay.models.classifier import ENCODERS
from assay.models.view import View
from assay.statistics.divergence import class_probabilities, jsd, tvd
from assay.statistics.kendall import kendall
from assay.statistics.keyed_random import document_keys
from tests.builders.exact_cases import random_case
from tests.builders.small_models import batch, network

EPS = (0.01, 0.1)
STEPS = SearchSettings(steps=40, learning_rate=0.08)
DOCUMENTS = 3
seeds = st.integers(0, 10**6)
class_counts = st.sampled_from([2, 3, 7])
item_counts = st.sampled_from([1, 2, 3, 9])
saturations = st.sampled_from([0.0, 0.1, 1.0, 30.0, 1000.0])
encoders = st.sampled_from(sorted(ENCODERS))
attentions = st.sampled_from(["additive", "dot"])
dtypes = st.sampled_from([torch.float32, torch.float64])
several_lengths = st.lists(st.integers(1, 9), min_size=1, max_size=4)
EXAMPLES = int(os.environ.get("ASSAY_EXAMPLES", "12"))
few = settings(max_examples=EXAMPLES, derandomize=True, deadline=None)


@few
@given(seeds, class_counts, saturations, dtypes)
def test_distances_of_probabilities_stay_in_their_ranges(
    seed: int, classes: int, scale: float, dtype: torch.dtype
) -> None:
    rng = torch.Generator().manual_seed(seed)
    logits = torch.randn(2, 20, classes, generator=rng, dtype=torch.float64) * scale
    p, q = class_probabilities(logits.to(dtype))
    rounding = 10 * torch.finfo(dtype).eps
    for each in (p, q):
        assert ((each >= 0) & (each <= 1)).all()
        assert (each.sum(-1) - 1).abs().max() <= classes * rounding
    found = jsd(p, q)
    assert ((found >= 0) & (found <= math.log(2) + rounding)).all()
    assert torch.allclose(found, jsd(q, p), rtol=0, atol=rounding)
    assert (jsd(p, p) == 0).all()
    assert ((tvd(p, q) >= 0) & (tvd(p, q) <= 1 + rounding)).all()
    # Pinsker's inequality, applied to both halves of the JSD.
    assert (tvd(p, q) <= (2 * found).sqrt() + math.sqrt(rounding)).all()


@few
@given(seeds, st.integers(2, 40), st.sampled_from([1.0, 3.0, 1e6]))
def test_tau_is_between_minus_one_and_one_and_changes_its_sign(
    seed: int, items: int, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(size=(2, DOCUMENTS, items)) * spread)  # with ties if it is small
    mask = np.ones_like(x, dtype=bool)
    found = kendall(x, y, mask).tau
    known = ~np.isnan(found)
    assert (np.abs(found[known]) <= 1).all()
    assert np.array_equal(kendall(x, -y, mask).tau[known], -found[known])
    assert np.allclose(kendall(y, x, mask).tau[known], found[known], rtol=0, atol=1e-15)
    order = rng.permutation(items)
    shuffled = kendall(x[:, order], y[:, order], mask).tau
    assert np.allclose(shuffled[known], found[known], rtol=0, atol=1e-15)
    for row in range(DOCUMENTS):
        expected = kendalltau(x[row], y[row]).statistic
        assert (math.isnan(expected) and not known[row]) or abs(expected - found[row]) < 1e-12


@pytest.mark.slow
@few
@given(seeds, item_counts, saturations, st.booleans())
def test_the_exact_optimum_is_never_below_the_search(
    seed: int, items: int, scale: float, ties: bool
) -> None:
    weights, terms, bias, mask = random_case(
        np.random.default_rng(seed), DOCUMENTS, items, ties=ties, scale=scale
    )
    exact = exact_adversary(weights, terms, bias, mask, EPS).jsd
    assert ((exact >= 0) & (exact <= math.log(2) + 1e-12)).all()
    assert (np.diff(exact, axis=1) >= -1e-12).all()  # a larger eps allows more
    assert (exact >= _searched(weights, terms, bias, mask) - 1e-6).all()


@pytest.mark.slow
@few
@given(seeds, item_counts, saturations)
def test_the_bracket_holds_the_search(seed: int, items: int, scale: float) -> None:
    case = random_case(np.random.default_rng(seed), DOCUMENTS, items, classes=3, scale=scale)
    found = bracket_adversary(*case, EPS)
    assert ((found.lower >= 0) & (found.lower <= found.upper + 1e-12)).all()
    assert (found.upper <= math.log(2) + 1e-9).all()
    assert (found.upper >= _searched(*case) - 1e-6).all()


def _searched(
    weights: np.ndarray, terms: np.ndarray, bias: np.ndarray, mask: np.ndarray
) -> np.ndarray:
    keys = document_keys([f"d{row}" for row in range(len(weights))], 0, "search")
    items, offset = torch.from_numpy(terms), torch.from_numpy(bias)
    found = published_search(
        lambda proposals: torch.bmm(proposals.to(items), items) + offset,
        torch.from_numpy(weights),
        torch.from_numpy(mask),
        EPS,
        starting_logits(keys, weights.shape[1], 3),
        settings=STEPS,
    )
    return found.jsd.numpy()


@few
@given(seeds, encoders, attentions, class_counts, several_lengths)
def test_weights_are_a_distribution_and_what_is_kept_is_renormalized(
    seed: int, encoder: str, attention: str, classes: int, lengths: list[int]
) -> None:
    documents = batch(lengths, seed=seed)
    view = View(network("classification", encoder, attention, classes, seed), documents)
    assert ((view.weights >= 0) & (view.weights <= 1)).all()
    assert (view.weights[~documents.mask] == 0).all()
    assert torch.allclose(view.weights.sum(1), torch.ones(len(lengths)).double(), atol=1e-12)
    assert ((view.probabilities >= 0) & (view.probabilities <= 1)).all()
    rng = torch.Generator().manual_seed(seed)
    kept = torch.rand(len(lengths), 2, documents.mask.shape[1], generator=rng) < 0.5
    left = view.weights[:, None] * kept
    mass = left.sum(-1, keepdim=True)
    expected = view.decode(torch.where(mass > 0, left / mass.clamp(min=1e-300), left))
    assert torch.allclose(view.decode_kept(kept), expected, atol=1e-9)
    assert torch.allclose(view.decode_kept(torch.ones_like(kept))[:, 0], view.logits, atol=1e-9)


@few
@given(seeds, attentions, class_counts, st.integers(2, 12))
def test_an_encoder_without_order_follows_a_permutation_of_the_items(
    seed: int, attention: str, classes: int, items: int
) -> None:
    model = network("classification", "average", attention, classes, seed)
    documents = batch([items, items], seed=seed)
    order = torch.randperm(items, generator=torch.Generator().manual_seed(seed))
    moved = Batch(documents.ids, documents.items[:, order], documents.mask, documents.labels)
    view, other = View(model, documents), View(model, moved)
    assert torch.allclose(other.weights, view.weights[:, order], atol=1e-12)
    assert torch.allclose(other.logits, view.logits, atol=1e-10)


@few
@given(seeds, encoders, attentions, class_counts, several_lengths)
def test_single_precision_agrees_with_double(
    seed: int, encoder: str, attention: str, classes: int, lengths: list[int]
) -> None:
    documents = batch(lengths, seed=seed)
    double = View(network("classification", encoder, attention, classes, seed), documents)
    single = View(network("classification", encoder, attention, classes, seed).float(), documents)
    assert (double.weights - single.weights).abs().max() < 1e-5
    assert tvd(double.probabilities, single.probabilities.double()).max() < 1e-4
    clear = double.probabilities.max(-1).values > 0.5 + 1e-3
    if classes == 2:
        assert torch.equal(double.decisions[clear], single.decisions[clear])
