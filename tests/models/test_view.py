"""Tests of what a view computes for models with several heads, and of their interface."""

import numpy as np
import pytest
import torch
from torch import Tensor

from assay.errors import UserError
from assay.models.conformance import check_batch, check_interface
from assay.models.protocol import States
from assay.models.view import View, predict
from tests.builders.hand_made_models import Curved
from tests.builders.models_with_heads import HEADS, ThreeHeads, batch_of, view_of

LENGTHS = (5, 1, 3)


def equal(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shown", ["mean", "max", "1"])
def test_the_prediction_is_made_with_the_weights_of_the_heads(shown):
    model = ThreeHeads(3, shown=shown)
    view = view_of(model, LENGTHS)
    whole = model.decode_heads(view.states, model.head_weights(view.states)[:, None])[:, 0]
    equal(view.logits, whole)
    equal(predict(model, view.states), whole)
    assert view.heads.shape == (3, HEADS, 5)
    assert not torch.allclose(view.decode(view.weights), whole)
    assert view.affine is None


def test_a_model_without_heads_has_none():
    model = Curved(2, seed=1, scale=1.0, peak=1.0)
    view = View(model, batch_of(*LENGTHS))
    assert view.heads is None
    assert view.own_weights is view.weights
    assert torch.equal(predict(model, view.states), model.decode(view.states, view.weights))


@pytest.mark.parametrize("kind", [ThreeHeads, lambda: Curved(2, seed=1, scale=1.0, peak=1.0)])
def test_the_identity_and_keeping_all_change_nothing(kind):
    view = View(kind(), batch_of(*LENGTHS))
    identity = torch.arange(5).expand(3, 2, 5)
    equal(view.decode_permuted(identity), view.logits[:, None].expand(-1, 2, -1))
    equal(view.decode_kept(view.batch.mask[:, None]), view.logits[:, None])


def test_every_head_is_permuted_alike():
    model = ThreeHeads()
    view = view_of(model, (4,))
    order = [2, 0, 3, 1]
    proposal = view.heads[0][:, order][None, None]
    found = view.decode_permuted(torch.tensor(order)[None, None])
    equal(found, model.decode_heads(view.states, proposal))
    assert not torch.allclose(found[:, 0], view.logits)


def test_erased_weight_goes_to_the_others_in_the_same_head():
    model = ThreeHeads()
    view = view_of(model, (4,))
    kept = torch.tensor([[[True, False, True, True], [False] * 4]])
    heads = view.heads[0].clone()
    mass = heads.sum(-1, keepdim=True)
    heads[:, 1] = 0
    heads *= mass / heads.sum(-1, keepdim=True)
    proposals = torch.stack([heads, torch.zeros_like(heads)])[None]
    equal(view.decode_kept(kept), model.decode_heads(view.states, proposals))


def test_memory_of_a_proposal():
    view = view_of(ThreeHeads(), LENGTHS)
    assert view.proposal_bytes == 3 * HEADS * 5 * 8

    class Knows(ThreeHeads):
        def proposal_bytes(self, states: States) -> int:
            return 1000

    assert view_of(Knows(), LENGTHS).proposal_bytes == 3000


@pytest.mark.parametrize("shown", ["mean", "max", "0"])
def test_the_hand_made_model_keeps_the_interface(shown):
    model = ThreeHeads(3, shown=shown)
    assert check_interface(model, model.classes) is model
    check_batch(model, batch_of(*LENGTHS))


class Broken(ThreeHeads):
    """A model with one fault, given as a function on one of its outputs."""

    def __init__(self, **faults) -> None:
        super().__init__()
        for name, fault in faults.items():
            method = getattr(self, name)
            setattr(self, name, lambda *given, m=method, f=fault: f(m(*given)))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"head_weights": lambda w: w[:, 0]}, r"`head_weights` returns weights of shape \(3, 5\)"),
        ({"head_weights": lambda w: w - 0.5}, "`head_weights` returns a negative weight"),
        ({"head_weights": lambda w: w + 0.01}, "`head_weights` returns a weight on padding"),
        ({"head_weights": lambda w: w * 3}, r"head \d in document .* one, with what stands apart"),
        ({"weights_apart": lambda names: {}}, "sum to .*: they must sum to one, with what stands"),
        ({"attend": lambda w: w.flip(0) * 0 + 0.2 * (w > 0)}, "document 'document 1' sum to 0.2"),
        ({"shown_weights": lambda w: w**2}, "sum to"),
        ({"decode_heads": lambda z: z[:, 0]}, r"`decode_heads` gives the shape \(3, 2\)"),
        ({"decode_heads": lambda z: z * z.shape[1]}, "`decode_heads` with two proposals gives"),
        ({"decode_heads": lambda z: z / 0}, "`decode_heads` returns logits that are"),
    ],
)
def test_a_fault_is_named_with_its_cure(fault, message):
    with pytest.raises(UserError, match=message):
        check_batch(Broken(**fault), batch_of(*LENGTHS))


def test_what_is_shown_must_come_from_the_heads():
    class Other(ThreeHeads):
        def attend(self, states: States) -> Tensor:
            return states.mask / states.mask.sum(1, keepdim=True).double()

    with pytest.raises(UserError, match=r"`shown_weights\(head_weights\)` gives a weight of"):
        check_batch(Other(), batch_of(*LENGTHS))


def test_the_weights_of_a_document_do_not_depend_on_its_batch():
    model = ThreeHeads()
    together, alone = view_of(model, LENGTHS), View(model, batch_of(*LENGTHS).rows(slice(2, 3)))
    np.testing.assert_allclose(together.heads[2:], alone.heads, atol=1e-15)
    equal(together.logits[2:], alone.logits)
