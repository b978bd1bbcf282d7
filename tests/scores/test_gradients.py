"""Tests of the gradient scores against finite differences."""

import pytest
import torch

from assay.models.classifier import ENCODERS
from assay.models.view import View
from assay.scores import gradients
from assay.scores.gradients import (
    gradient,
    gradient_attention,
    gradient_input,
    gradient_norm,
    log_odds,
)
from assay.statistics.divergence import class_probabilities
from tests.builders.known_models import Bare, view_of
from tests.builders.small_models import batch, network

STEP = 1e-6
KINDS = pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
ITEM = 2


def probability(view, embedded: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    """The probability of the predicted class; with `weights=None` attention is computed again."""
    with torch.no_grad():
        states = view.model.contextualise(embedded, view.batch)
        weights = view.model.attend(states) if weights is None else weights
        p = class_probabilities(view.model.decode(states, weights))
    return p.gather(-1, view.decisions[:, None])[:, 0]


def slope(view, change: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    """The finite difference of the probability along `change`."""
    embedded = view.model.embed(view.batch).detach()
    up, down = (probability(view, embedded + h * change, weights) for h in (STEP, -STEP))
    return (up - down) / (2 * STEP)


def along_item(view, item: int) -> torch.Tensor:
    """A direction to move in: the embeddings with all but this item's set to zero."""
    embedded = view.model.embed(view.batch).detach()
    return embedded * (torch.arange(embedded.shape[1]) == item)[:, None]


@KINDS
@pytest.mark.parametrize("encoder", ENCODERS)
def test_gradient_attention_equals_finite_differences(encoder: str, task: str, classes: int):
    view = view_of([4, 6], encoder=encoder, task=task, classes=classes)
    score = gradient_attention(view)
    expected = slope(view, along_item(view, ITEM), None)
    torch.testing.assert_close(score[:, ITEM], expected.abs(), rtol=1e-5, atol=1e-9)
    assert not torch.allclose(score, gradient(view), rtol=1e-2)


@KINDS
def test_gradient_input_equals_finite_differences(task: str, classes: int):
    view = view_of([4, 6], task=task, classes=classes)
    signed = gradient_input(view)
    for item in range(4):
        expected = slope(view, along_item(view, item), view.weights)
        torch.testing.assert_close(signed[:, item], expected, rtol=1e-5, atol=1e-9)
    assert torch.equal(signed.abs(), gradient(view))


def test_gradient_norm_equals_finite_differences():
    view = view_of([4, 6])
    size = view.model.embed(view.batch).shape[-1]
    slopes = []
    for direction in torch.eye(size, dtype=torch.float64):
        change = torch.zeros(6, size, dtype=torch.float64)
        change[ITEM] = direction
        slopes.append(slope(view, change, view.weights))
    expected = torch.stack(slopes).square().sum(0).sqrt()
    torch.testing.assert_close(gradient_norm(view)[:, ITEM], expected, rtol=1e-5, atol=1e-9)


def test_gradients_are_not_shared_between_views():
    one, other = view_of([5]), view_of([5], encoder="average")
    assert not torch.equal(gradient(one), gradient(other))
    assert torch.equal(gradient(one), gradient(view_of([5])))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_gradient_equals_finite_differences(task: str, classes: int, encoder: str):
    """Scaling e_t by 1 + h changes y by h (dy/de . e), with attention fixed."""
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
        real = documents.mask[:, item]
        torch.testing.assert_close(score[real, item], slope[real].abs(), rtol=1e-5, atol=1e-9)


def test_saturated_predictions_have_gradients():
    model, documents = network(), batch([6])
    with torch.no_grad():
        model.head.output.bias.fill_(60)  # sigmoid(60) is 1 in float64 too
    score = gradient(View(model, documents))
    assert (score > 0).all()


def test_gradients_of_states_are_proportional_to_attention():
    """Jain & Wallace: |dy/dh_t| is proportional to a_t if attention is detached."""
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


def test_scores_of_one_view_share_a_backward_pass_and_views_share_nothing(monkeypatch):
    calls = []
    real = gradients.embedding_gradients
    monkeypatch.setattr(
        gradients, "embedding_gradients", lambda *given: calls.append(given[0]) or real(*given)
    )
    first, second = view_of([4, 6]), view_of([4, 6], seed=1)
    alone = gradient(View(second.model, second.batch))
    calls.clear()
    for view in (first, second, first):
        gradient(view), gradient_input(view), gradient_norm(view)
    assert calls == [first, second]
    assert torch.equal(gradient(second), alone)


@pytest.mark.parametrize("task", ["classification", "pair"])
def test_shared_encoding_changes_no_value(task: str):
    alone, shared = (view_of([5, 3], task=task, classes=3) for _ in range(2))
    gradients.share_encoding(shared, through_attention=True)
    assert not shared.states.items.requires_grad
    real = alone.batch.mask
    torch.testing.assert_close(shared.states.items[real], alone.states.items[real])
    torch.testing.assert_close(shared.logits, alone.logits)
    for score in (gradient, gradient_attention, gradient_norm):
        torch.testing.assert_close(score(shared), score(alone))
        assert not score(shared).requires_grad


@pytest.mark.parametrize(("encoder", "encodings"), [("cnn", 1), ("bilstm", 0)])
def test_shared_encoding_encodes_once(
    monkeypatch: pytest.MonkeyPatch, encoder: str, encodings: int
):
    """An LSTM records the one encoding and does not differentiate another one."""
    view, calls = view_of([5, 3], encoder=encoder), []
    real = type(view.model).contextualise
    monkeypatch.setattr(
        type(view.model), "contextualise", lambda *given: calls.append(1) or real(*given)
    )
    gradients.share_encoding(view, through_attention=True)
    for score in (gradient, gradient_attention, gradient_input):
        score(view)
    assert view.weights.shape == (2, 5)
    assert len(calls) == encodings


def test_a_model_without_embeddings_has_nothing_to_share():
    view = View(Bare(), batch([4, 2]))
    gradients.share_encoding(view, through_attention=True)
    assert not view.cache
