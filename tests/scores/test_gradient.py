"""Is the gradient score the derivative it claims to be?"""

import pytest
import torch

from assay.models.classifier import ENCODERS
from assay.models.view import NotApplicable, View
from assay.scores.gradients import gradient, log_odds
from assay.statistics.divergence import class_probabilities
from tests.small_models import batch, network

STEP = 1e-6


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_it_equals_a_finite_difference(task: str, classes: int, encoder: str):
    """Scaling e_t by 1 + h moves y by h (dy/de . e), attention fixed."""
    model = network(task, encoder, classes=classes)
    documents = batch([4, 6], pair=task == "pair", classes=classes)
    view = View(model, documents)
    score = gradient(view)
    embedded = model.embed(documents).detach()

    def probability(values: torch.Tensor) -> torch.Tensor:
        states = model.contextualise(values, documents)
        p = class_probabilities(model.decode(states, view.weights))
        return p.gather(-1, view.decisions[:, None])[:, 0]

    for item in range(6):
        up, down = embedded.clone(), embedded.clone()
        up[:, item] *= 1 + STEP
        down[:, item] *= 1 - STEP
        slope = (probability(up) - probability(down)) / (2 * STEP)
        there = documents.mask[:, item]
        torch.testing.assert_close(score[there, item], slope[there].abs(), rtol=1e-5, atol=1e-9)


def test_a_saturated_prediction_still_orders_its_items():
    model, documents = network(), batch([6])
    with torch.no_grad():
        model.head.output.bias.fill_(60)  # sigmoid(60) is 1 in float64 too
    score = gradient(View(model, documents))
    assert (score > 0).all()


def test_with_an_affine_head_the_gradient_of_the_state_orders_as_attention_does():
    """J&W's unit fact: |dy/dh_t| summed is proportional to a_t when attention is detached."""
    model, documents = network(), batch([7])
    states = model.encode(documents)
    weights = model.attend(states).detach()
    items = states.items.detach().requires_grad_()
    logits = torch.einsum("bt,btm->bm", weights, items) @ model.head.output.weight.T
    (slope,) = torch.autograd.grad(logits.sum(), items)
    ratio = slope.abs().sum(-1) / weights
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio))


def test_log_odds_by_hand():
    two = torch.tensor([[2.0], [-1.0]])
    assert log_odds(two, torch.tensor([1, 0])).tolist() == [2.0, 1.0]
    three = torch.tensor([[1.0, 2.0, 0.0]])
    p = three.softmax(-1)[0, 1]
    torch.testing.assert_close(log_odds(three, torch.tensor([1]))[0], torch.log(p / (1 - p)))


def test_a_model_without_embed_is_told_so():
    class Bare:
        classes = ("a", "b")

        def __init__(self) -> None:
            self.inner = network()

        def encode(self, documents):
            return self.inner.encode(documents)

        def attend(self, states):
            return self.inner.attend(states)

        def decode(self, states, weights):
            return self.inner.decode(states, weights)

    with pytest.raises(NotApplicable, match="embed"):
        gradient(View(Bare(), batch([3])))
