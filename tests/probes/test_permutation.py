"""Does shuffling weights measure what it says?"""

import itertools

import numpy as np
import polars as pl
import pytest
import torch

from assay.models.view import View
from assay.probes.permutation import (
    PERMUTATIONS,
    deranged_tvd,
    derangements,
    measure,
    median_tvd,
    movement,
    random_orders,
)
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys, permutations
from tests.builders.small_models import batch, network


def attention_of(view: View) -> np.ndarray:
    return view.weights.double().numpy()


def test_it_equals_one_permutation_at_a_time():
    """The plain loop: per document, per permutation, decode the states again."""
    for task in ("classification", "pair"):
        model = network(task, classes=3)
        view = View(model, batch([2, 6, 5], pair=task == "pair", classes=3), seed=4)
        weights = attention_of(view)
        orders = permutations(document_keys(view.batch.ids, 4, "permutation"), view.mask, 100)
        medians = []
        for row in range(3):
            moved = []
            for order in orders[row]:
                proposal = torch.from_numpy(weights[row][order])[None]
                states = model.encode(view.batch.rows(slice(row, row + 1)))
                p = class_probabilities(model.decode(states, proposal).double())
                moved.append(tvd(p, view.probabilities[row : row + 1]).item())
            medians.append(np.median(moved))
        np.testing.assert_allclose(median_tvd(view), medians, atol=1e-12)


def test_uniform_weights_and_equal_states_change_nothing():
    view = View(network(), batch([2, 6, 5]))
    view.__dict__["weights"] = torch.from_numpy(view.mask / view.mask.sum(1, keepdims=True))
    assert median_tvd(view).max() < 1e-15

    equal = batch([4])
    equal.items[:] = 7
    bag = network(encoder="average")  # no context: equal words are equal states
    view = View(bag, equal)
    view.__dict__["weights"] = torch.tensor([[0.7, 0.1, 0.1, 0.1]], dtype=torch.float64)
    assert median_tvd(view).max() < 1e-15


def test_a_document_does_not_depend_on_its_batch():
    model, documents = network(), batch([2, 9, 5])
    together = median_tvd(View(model, documents))
    alone = View(model, documents.rows(slice(2, 3)))
    np.testing.assert_allclose(median_tvd(alone), together[2:], atol=1e-12)


def test_rows_carry_the_names_of_the_design():
    view = View(network(), batch([3, 4]))
    frame = pl.concat(measure(view, {"attention": attention_of(view)}).rows)
    assert frame["quantity"].unique(maintain_order=True).to_list() == [
        "median_tvd",
        "deranged_tvd",
        "max_attention",
    ]
    largest = frame.filter(quantity="max_attention")["value"].to_list()
    assert largest == attention_of(view).max(1).tolist()
    assert PERMUTATIONS == 100


def deranged(view: View) -> np.ndarray:
    orders = random_orders(view)
    return deranged_tvd(view, orders, movement(view, orders))


def change(view: View, row: int, order: tuple[int, ...]) -> float:
    """The TVD of one document under one order of its weights, decoded by itself."""
    part = View(view.model, view.batch.rows(slice(row, row + 1)))
    weights = attention_of(view)[row].copy()
    weights[: len(order)] = weights[list(order)]
    p = class_probabilities(part.decode(torch.from_numpy(weights)[None]).double())
    return tvd(p, part.probabilities).item()


@pytest.mark.parametrize("task", ["classification", "pair"])
def test_short_documents_get_the_mean_over_all_derangements(task: str):
    lengths = [2, 3, 9, 5, 1, 6]
    documents = batch(lengths, pair=task == "pair", classes=3)
    view = View(network(task, classes=3), documents, seed=1)
    found = deranged(view)
    for row, n in enumerate(lengths):
        if not 2 <= n <= 5:
            continue
        every = [
            p for p in itertools.permutations(range(n)) if all(i != j for i, j in enumerate(p))
        ]
        expected = np.mean([change(view, row, order) for order in every])
        assert found[row] == pytest.approx(expected, abs=1e-12)


def test_two_items_are_not_a_coin_toss():
    """A median over shuffles of two items is 0 or the swap; the mean over derangements is it."""
    view = View(network(), batch([2] * 40))
    swaps = [change(view, row, (1, 0)) for row in range(40)]
    np.testing.assert_allclose(deranged(view), swaps, atol=1e-12)


def test_a_single_item_is_null():
    view = View(network(), batch([1, 4]))
    frame = pl.concat(measure(view, {"attention": attention_of(view)}).rows)
    own = frame.filter(pl.col("quantity") != "max_attention", instance="document 0")
    assert own["value"].to_list() == [None, None]
    alone = View(network(), batch([1]))
    assert np.isnan(deranged(alone)).all()


def test_long_documents_use_the_derangements_among_the_permutations():
    view = View(network(), batch([12, 7]), seed=5)
    orders = random_orders(view)
    for row, n in enumerate((12, 7)):
        own = [tuple(order[:n].tolist()) for order in orders[row]]
        kept = [order for order in own if all(i != j for i, j in enumerate(order))]
        assert 20 < len(kept) < 55
        expected = np.mean([change(view, row, order) for order in kept])
        assert deranged(view)[row] == pytest.approx(expected, abs=1e-12)


def test_the_numbers_of_derangements():
    assert [len(derangements(n)) for n in range(2, 7)] == [1, 2, 9, 44, 265]
