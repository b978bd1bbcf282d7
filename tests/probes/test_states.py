"""Conicity and the link of item to state, by hand and at both extremes."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from assay.models.diverse import conicity
from assay.models.view import View
from assay.probes.states import measure, own_item_chance, states_alone
from tests.builders.hand_made_models import Curved
from tests.builders.models_with_heads import ThreeHeads
from tests.builders.models_with_heads import view_of as view_with_heads
from tests.builders.nested_batches import layered
from tests.builders.small_models import batch, network


def values_of(view: View, quantity: str) -> list[float | None]:
    table = pl.concat(measure(view, {}).rows)
    return table.filter(pl.col("quantity") == quantity)["value"].to_list()


def test_conicity_by_hand() -> None:
    states = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [9.0, 9.0]]], dtype=torch.float64)
    mask = torch.tensor([[True, True], [True, False]])
    # The mean of the first document is (1/2, 1/2): both cosines are 1 / sqrt(2).
    assert conicity(states, mask).tolist() == pytest.approx([0.5**0.5, 1.0])


def test_conicity_does_not_depend_on_lengths_or_rotations_of_all_states() -> None:
    rng = torch.Generator().manual_seed(0)
    states = torch.randn(3, 5, 4, generator=rng, dtype=torch.float64)
    mask = torch.ones(3, 5, dtype=torch.bool)
    rotation, _ = torch.linalg.qr(torch.randn(4, 4, generator=rng, dtype=torch.float64))
    torch.testing.assert_close(conicity(3 * states @ rotation, mask), conicity(states, mask))


def test_chance_by_hand() -> None:
    items = torch.tensor([[5, 6, 5, 0], [7, 8, 9, 4]])
    mask = torch.tensor([[True, True, True, False], [True] * 4])
    # Two of three items equal to a given 5, one of three to the 6: (2/3 + 1/3 + 2/3) / 3.
    assert own_item_chance(items, mask).tolist() == pytest.approx([5 / 9, 1 / 4])


@pytest.mark.parametrize("model", [network(encoder="average"), layered("flan-none")])
def test_states_of_their_own_items_alone_are_all_nearest(model) -> None:
    view = View(model, batch([3, 8, 5]))
    assert values_of(view, "own_item_nearest") == [1.0, 1.0, 1.0]


def test_equal_states_are_conical_and_no_better_than_one_guess() -> None:
    config = replace(network().config, encoder="pooled")
    model = type(network())(config, *_pooled(config)).double().eval()
    small = batch([6])
    items = torch.tensor([[5, 6, 7, 8, 9, 10]])
    view = View(model, replace(small, items=items))
    assert values_of(view, "conicity") == pytest.approx([1.0])
    assert values_of(view, "own_item_nearest") == pytest.approx([1 / 6])
    assert values_of(view, "own_item_chance") == pytest.approx([1 / 6])


def _pooled(config):
    from assay.models.classifier import TextEncoder, build_attention

    return TextEncoder(config), build_attention(config)


def test_it_equals_a_plain_loop() -> None:
    view = View(network(seed=3), batch([4, 7, 1]))
    found = values_of(view, "own_item_nearest")
    for row, length in enumerate((4, 7)):
        items = view.batch.items[row, :length]
        alone = states_alone(view, items).detach().numpy()
        hits = 0
        for place in range(length):
            own = view.states.items[row, place].detach().numpy()
            cosines = [own @ one / np.linalg.norm(own) / np.linalg.norm(one) for one in alone]
            hits += int(items[int(np.argmax(cosines))] == items[place])
        assert found[row] == pytest.approx(hits / length)
    assert found[2] is None  # a single item has nothing to be confused with


def test_attached_and_paired_models_have_states_too() -> None:
    pair = View(network("pair", classes=3), batch([4, 6], pair=True, classes=3))
    small = batch([4, 6])
    hand_made = View(Curved(2, 1, 1.0, 1.0), replace(small, items=small.items % 40))
    for view in (pair, hand_made, view_with_heads(ThreeHeads(), (4, 2))):
        for value in values_of(view, "conicity"):
            assert value is not None
            assert -1 <= value <= 1 + 1e-12
