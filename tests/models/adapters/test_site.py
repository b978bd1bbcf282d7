"""Tests of sites and of the arithmetic between items and positions, on hand-worked cases."""

import pytest
import torch
from torch.testing import assert_close

from assay.errors import UserError
from assay.models.adapters.site import ItemPositions, Site, given_to_heads


@pytest.fixture
def layout() -> ItemPositions:
    """[CLS] film is un ##watch ##able [SEP], and a document of one word with padding."""
    owner = torch.tensor([[-1, 0, 1, 2, 2, 2, -1], [-1, 0, -1, -1, -1, -1, -1]])
    first = torch.zeros(2, 7, dtype=torch.bool)
    first[:, 0] = True
    last = torch.zeros(2, 7, dtype=torch.bool)
    last[0, 6] = last[1, 2] = True
    return ItemPositions(owner, 3, {"[CLS]": first, "[SEP]": last})


@pytest.fixture
def own() -> torch.Tensor:
    return torch.tensor(
        [
            [[0.3, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1], [0.5, 0.2, 0.1, 0.0, 0.0, 0.0, 0.2]],
            [[0.4, 0.5, 0.1, 0.0, 0.0, 0.0, 0.0], [0.2, 0.2, 0.6, 0.0, 0.0, 0.0, 0.0]],
        ]
    )


def test_an_item_weighs_as_much_as_its_positions(layout, own):
    expected = [[[0.1, 0.1, 0.4], [0.2, 0.1, 0.0]], [[0.5, 0, 0], [0.2, 0, 0]]]
    assert_close(layout.item_weights(own), torch.tensor(expected))


def test_own_item_weights_give_the_own_position_weights(layout, own):
    again = layout.position_weights(own, layout.item_weights(own)[:, None])
    assert_close(again[:, 0], own)


def test_proposals_keep_shares_and_what_stands_apart(layout, own):
    proposed = torch.tensor([[0.0, 0.0, 0.6], [0.0, 0.0, 0.3]]).expand(2, 1, 2, 3)
    found = layout.position_weights(own, proposed)[0, 0]
    # The first head divides the word 1:2:1; the second gave it nothing, so it divides it equally.
    assert_close(found[0], torch.tensor([0.3, 0, 0, 0.15, 0.3, 0.15, 0.1]))
    assert_close(found[1], torch.tensor([0.5, 0, 0, 0.1, 0.1, 0.1, 0.2]))


def test_the_total_of_a_head_is_kept_by_a_permutation(layout, own):
    permuted = layout.item_weights(own)[:1].flip(-1)[:, None]
    one = ItemPositions(layout.owner[:1], 3)
    assert_close(one.position_weights(own[:1], permuted).sum(-1), torch.ones(1, 1, 2))


def test_weights_apart_by_name(layout, own):
    found = layout.weights_apart(own)
    assert list(found) == ["[CLS]", "[SEP]"]
    assert_close(found["[CLS]"], torch.tensor([[0.3, 0.5], [0.4, 0.2]]))
    assert_close(found["[SEP]"], torch.tensor([[0.1, 0.2], [0.1, 0.6]]))


def test_a_short_row_has_a_sink(layout, own):
    found = layout.weights_apart(own * 0.75)
    assert_close(found["sink"], torch.full((2, 2), 0.25))


def test_what_stands_apart_is_given_to_the_items_in_proportion(layout, own):
    found = layout.without_apart(own)
    assert_close(found.sum(-1), torch.ones(2, 2))
    assert_close(found[0, 0], torch.tensor([0, 1, 1, 1, 2, 1, 0]) / 6)
    assert_close(layout.without_apart(own * 0.5), found)


def test_gradients_reach_the_proposals(layout, own):
    proposed = layout.item_weights(own)[:, None].requires_grad_()
    layout.position_weights(own, proposed).square().sum().backward()
    assert proposed.grad is not None
    assert bool(torch.isfinite(proposed.grad).all())


def test_shown_weights_sum_to_one_over_the_items():
    heads = torch.tensor([[0.1, 0.1, 0.4], [0.2, 0.2, 0.0]])
    assert_close(Site().shown_weights(heads), torch.tensor([0.3, 0.3, 0.4]))
    assert_close(Site(heads="max").shown_weights(heads), torch.tensor([0.25, 0.25, 0.5]))
    assert_close(Site(heads=1).shown_weights(heads[1:]), torch.tensor([0.5, 0.5, 0]))
    assert_close(Site().shown_weights(torch.zeros(2, 3)), torch.zeros(3))


def test_every_head_gets_the_shown_weights_at_its_own_mass():
    own = torch.tensor([[[0.1, 0.1, 0.4], [0.2, 0.2, 0.0]]])
    found = given_to_heads(torch.tensor([[[0.5, 0.5, 0.0]]]), own)
    assert_close(found, torch.tensor([[[[0.3, 0.3, 0], [0.2, 0.2, 0]]]]))


def test_a_site_says_what_it_is():
    assert str(Site()) == "the last layer, the mean over the heads, the row of the first position"
    text = str(Site(layer=3, heads=2, query=5))
    assert text == "layer 3 (the first is 0), head 2, the row of position 5"
    assert str(Site(layer="rollout", heads="max", query="mean")).startswith("attention rollout")


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        ({"layer": "all"}, "layer='all'"),
        ({"heads": "sum"}, "heads='sum'"),
        ({"heads": -1}, "heads=-1"),
        ({"query": 1.5}, "query=1.5"),
    ],
)
def test_an_impossible_site_is_refused(faulty, said):
    with pytest.raises(UserError, match=said):
        Site(**faulty)


def test_layers_and_heads_are_held_against_the_model():
    assert Site(layer=-1).layer_index(6) == 5
    with pytest.raises(UserError, match="6 layers, 0 to 5"):
        Site(layer=6).layer_index(6)
    with pytest.raises(UserError, match="12 heads, 0 to 11"):
        Site(heads=12).check_heads(12)
