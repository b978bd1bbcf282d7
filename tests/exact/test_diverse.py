"""Tests that every step of the greedy choice is the best and every choice is feasible."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.special import expit, logit

from assay.exact.diverse import K, Mix, diverse_adversaries, mutual_jsd
from assay.exact.numerics import TOLERANCE
from assay.exact.two_classes import exact_adversary
from tests.builders.exact_cases import plain_jsd, prediction, random_case, vertices

EPS = 0.01
PAIR_WEIGHT = 1 / (K * (K - 1))


def solve(weights, terms, bias, mask, eps=EPS):
    optimum = exact_adversary(weights, terms, bias, mask, [eps])
    return optimum, diverse_adversaries(weights, terms, bias, mask, optimum, column=0, eps=eps)


def dense_weights(found, document, items):
    """The chosen weights of one document as dense arrays."""
    mixes = found.mixes
    chosen = []
    for place in np.flatnonzero(found.exists[document]):
        whole = np.zeros(items)
        whole[mixes.first[document, place]] += 1 - mixes.share[document, place]
        whole[mixes.second[document, place]] += mixes.share[document, place]
        chosen.append(whole)
    return chosen


def all_vertices(values, output, eps):
    low = logit(output - eps) if output - eps > 0 else -math.inf
    high = logit(output + eps) if output + eps < 1 else math.inf
    return list(vertices(values, low, high))


@pytest.fixture(params=[False, True], ids=["continuous", "ties"])
def case(request):
    return random_case(np.random.default_rng(11), 90, 5, ties=request.param)


@pytest.mark.parametrize("eps", [EPS, 0.2])
def test_each_step_takes_the_best_vertex(case, eps):
    weights, terms, bias, mask = case
    _, found = solve(*case, eps)
    outputs = prediction(weights, terms, bias)
    complete = 0
    for b, n in enumerate(mask.sum(1)):
        left = all_vertices(terms[b, :n, 0] + bias[0], outputs[b], eps)
        chosen = dense_weights(found, b, n)
        assert len(chosen) == min(K, len(left))
        complete += len(chosen) == K
        for step, taken in enumerate(chosen):

            def gain(vertex, before=chosen[:step], own=weights[b, :n]):
                mutual = sum(plain_jsd(vertex, other) for other in before)
                return plain_jsd(vertex, own) + PAIR_WEIGHT * mutual

            assert gain(taken) == pytest.approx(max(map(gain, left)), abs=1e-9)
            nearest = min(range(len(left)), key=lambda i: np.abs(left[i] - taken).max())
            np.testing.assert_allclose(left.pop(nearest), taken, atol=1e-7)
    assert complete > 20


def test_reported_values_are_those_of_the_weights(case):
    weights, terms, bias, mask = case
    optimum, found = solve(*case)
    outputs = prediction(weights, terms, bias)
    for b in range(len(weights)):
        chosen = dense_weights(found, b, weights.shape[1])
        for alpha in chosen:
            assert abs(expit(bias[0] + alpha @ terms[b, :, 0]) - outputs[b]) <= EPS + TOLERANCE
            assert alpha[~mask[b]].sum() == 0
        own = [plain_jsd(alpha, weights[b]) for alpha in chosen]
        np.testing.assert_allclose(found.jsd[b, : len(own)], own, atol=1e-9)
        assert found.mean_jsd()[b] == pytest.approx(np.mean(own), abs=1e-9)
        pairs = [plain_jsd(x, y) for i, x in enumerate(chosen) for y in chosen[:i]]
        spread = found.spread()[b]
        assert np.isnan(spread) if not pairs else spread == pytest.approx(np.mean(pairs), abs=1e-9)
    assert np.array_equal(found.jsd[:, 0], optimum.jsd[:, 0])


def test_batch_and_padding_change_nothing():
    case = random_case(np.random.default_rng(3), 40, 12)
    weights, terms, bias, mask = case
    together = solve(*case)[1]
    for b in (0, 7, 31):
        n = mask[b].sum()
        alone = solve(weights[b : b + 1, :n], terms[b : b + 1, :n], bias, mask[b : b + 1, :n])[1]
        for name in Mix.NAMES:
            exists = together.exists[b]
            ours, theirs = getattr(alone.mixes, name), getattr(together.mixes, name)
            assert np.array_equal(ours[0, exists], theirs[b, exists])
        assert np.array_equal(alone.jsd[0], together.jsd[b])
        assert alone.pairwise_jsd[0] == together.pairwise_jsd[b]


def test_two_logits_equal_one():
    """A softmax over two classes is a sigmoid of the difference."""
    weights, terms, bias, mask = random_case(np.random.default_rng(4), 30, 8)
    whole = np.concatenate([np.zeros_like(terms), terms], axis=-1)
    one = solve(weights, terms, bias, mask)[1]
    two = solve(weights, whole, np.array([0.0, bias[0]]), mask)[1]
    np.testing.assert_allclose(two.mean_jsd(), one.mean_jsd(), atol=1e-12)
    np.testing.assert_allclose(two.spread(), one.spread(), atol=1e-12)


def test_mutual_jsd_with_shared_items():
    many = Mix(np.array([[0, 2, 1, 0]]), np.array([[1, 3, 1, 1]]), np.array([[0.25, 0.5, 0, 0.6]]))
    one = Mix(np.array([[0]]), np.array([[1]]), np.array([[0.25]]))
    dense = [[0.75, 0.25, 0, 0], [0, 0, 0.5, 0.5], [0, 1, 0, 0], [0.4, 0.6, 0, 0]]
    expected = [plain_jsd(row, dense[0]) for row in dense]
    np.testing.assert_allclose(mutual_jsd(many, one)[0], expected, atol=1e-12)


def test_one_item_and_no_documents():
    alone = (np.ones((1, 1)), np.ones((1, 1, 1)), np.zeros(1), np.ones((1, 1), dtype=bool))
    found = solve(*alone)[1]
    assert found.exists.sum() == 1
    assert found.mean_jsd() == pytest.approx([0])
    assert np.isnan(found.spread()).all()
    no_documents = solve(
        np.zeros((0, 3)), np.zeros((0, 3, 1)), np.zeros(1), np.zeros((0, 3), dtype=bool)
    )
    assert no_documents[1].mean_jsd().shape == no_documents[1].spread().shape == (0,)


def test_memory_for_a_long_document():
    case = random_case(np.random.default_rng(5), 24, 4000)
    optimum = exact_adversary(*case, [EPS])
    tracemalloc.start()
    found = diverse_adversaries(*case, optimum, column=0, eps=EPS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
    assert found.exists.all()
    assert np.median(found.mean_jsd()) > 0.69
