"""Tests that attention is seen in every spelling, replaced exactly, and otherwise left alone."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.errors import UserError
from assay.models.adapters.interception import (
    attention_calls,
    dot_product_weights,
    intercept,
    run_with_weights,
)

SPELLINGS = {
    "functional": lambda scores: F.softmax(scores, dim=-1),
    "torch": lambda scores: torch.softmax(scores, -1),
    "method": lambda scores: scores.softmax(-1),
    "special": lambda scores: torch.special.softmax(scores, -1),
    "module": nn.Softmax(-1),
    "softmin": lambda scores: F.softmin(-scores, dim=-1),
    "log functional": lambda scores: F.log_softmax(scores, dim=-1).exp(),
    "log torch": lambda scores: torch.log_softmax(scores, -1).exp(),
    "log method": lambda scores: scores.log_softmax(-1).exp(),
    "log special": lambda scores: torch.special.log_softmax(scores, -1).exp(),
    "log module": lambda scores: nn.LogSoftmax(-1)(scores).exp(),
}


class Pooling(nn.Module):
    """Attention over the items, with the softmax written in one of its spellings."""

    def __init__(self, spelling: str = "functional") -> None:
        super().__init__()
        self.spelling = SPELLINGS[spelling]
        self.scorer = nn.Sequential(nn.Linear(4, 1))

    def forward(self, items: Tensor) -> Tensor:
        weights = self.spelling(self.scorer(items).squeeze(-1))
        return (weights[..., None] * items).sum(1)


@pytest.fixture
def items() -> Tensor:
    return torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_softmax_is_seen_and_replaced_in_every_spelling(spelling, items):
    module = Pooling(spelling)
    (call,) = attention_calls(module, lambda: module(items))
    assert (call.index, call.axis) == (0, -1)
    assert call.path == ("spelling" if spelling == "module" else "")
    assert call.kind == ("log_softmax" if spelling.startswith("log") else "softmax")
    assert torch.allclose(call.weights, torch.softmax(module.scorer(items)[..., 0], -1))
    one_hot = F.one_hot(torch.tensor([2, 0, 4]), 5).float()
    pooled = run_with_weights(module, lambda: module(items), 0, lambda own: one_hot)
    assert torch.allclose(pooled, items[range(3), [2, 0, 4]])


def test_without_a_change_the_result_is_the_same_to_the_bit(items):
    module = Pooling()
    untouched = module(items)
    assert torch.equal(intercept(module, lambda: module(items), lambda call: None), untouched)
    again = run_with_weights(module, lambda: module(items), 0, lambda own: own)
    assert torch.equal(again, untouched)


def test_the_path_names_the_submodule_and_the_hooks_are_removed(items):
    module = nn.Sequential(nn.Identity(), nn.Sequential(Pooling()))
    (call,) = attention_calls(module, lambda: module(items))
    assert call.path == "1.0"
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())


def test_the_hooks_are_removed_after_an_error(items):
    module = nn.Sequential(Pooling())
    with pytest.raises(RuntimeError):
        attention_calls(module, lambda: module(items[..., :2]))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())


@pytest.mark.parametrize("log", [False, True])
def test_derivatives_flow_through_the_given_weights(log, items):
    module = Pooling("log method" if log else "method")
    given = torch.full((3, 5), 0.2).index_fill(1, torch.tensor([4]), 0.0).requires_grad_()
    run_with_weights(module, lambda: module(items), 0, lambda own: given).sum().backward()
    expected = items.sum(-1)
    if log:  # a weight of zero has no logarithm, and its derivative is left out
        expected = expected.index_fill(1, torch.tensor([4]), 0.0)
    assert torch.allclose(given.grad, expected)


def test_a_missing_site_is_an_error_with_both_numbers(items):
    module = Pooling()
    with pytest.raises(UserError, match=r"computation 1 was not met.*Pooling has 1, counted"):
        run_with_weights(module, lambda: module(items), 1, lambda own: own)


@pytest.mark.parametrize("masked", ["no", "bool", "float", "causal", "everything"])
def test_dot_product_weights_are_those_that_pytorch_uses(masked):
    rng = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(2, 3, 5, 4, generator=rng) for _ in range(3))
    visible = torch.rand(5, 5, generator=rng) > 0.4
    visible[:, 0] = True
    mask = {
        "bool": visible,
        "float": torch.randn(5, 5, generator=rng),
        "everything": visible.index_fill(0, torch.tensor([2]), False),
    }.get(masked)
    causal = masked == "causal"
    weights = dot_product_weights(query, key, mask, causal, None)
    expected = F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
    assert torch.allclose(weights @ value, expected, atol=1e-6)


class Grouped(nn.Module):
    """Scaled dot products with two query heads for each key head."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, key, key, is_causal=True, enable_gqa=True)


def test_grouped_query_heads_are_seen_one_by_one():
    rng = torch.Generator().manual_seed(2)
    query, key = torch.randn(2, 4, 5, 3, generator=rng), torch.randn(2, 2, 5, 3, generator=rng)
    module = Grouped()
    untouched = module(query, key)
    (call,) = attention_calls(module, lambda: module(query, key))
    assert call.weights.shape == (2, 4, 5, 5)
    replayed = run_with_weights(module, lambda: module(query, key), 0, torch.clone)
    assert torch.allclose(replayed, untouched, atol=1e-6)
    changed = run_with_weights(
        module, lambda: module(query, key), 0, lambda own: torch.eye(5).expand_as(own)
    )
    assert torch.equal(changed, key.repeat_interleave(2, 1))


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
def test_multihead_attention_is_one_computation_with_heads(need_weights, batch_first):
    torch.manual_seed(0)
    module = nn.MultiheadAttention(8, 2, batch_first=batch_first).eval()
    states = torch.randn(3, 5, 8)
    padded = torch.zeros(3 if batch_first else 5, 5 if batch_first else 3, dtype=torch.bool)
    padded[1, -1] = True

    def run() -> Tensor:
        return module(states, states, states, key_padding_mask=padded, need_weights=need_weights)[0]

    untouched = run()
    (call,) = attention_calls(module, run)
    assert call.kind == "MultiheadAttention"
    assert torch.allclose(call.weights.sum(-1), torch.ones(1))
    assert call.weights.shape == ((3, 2, 5, 5) if batch_first else (5, 2, 3, 3))
    assert (call.weights[1, ..., -1] == 0).all()
    assert torch.equal(intercept(module, run, lambda call: None), untouched)
    assert torch.allclose(run_with_weights(module, run, 0, torch.clone), untouched, atol=1e-6)
    flipped = run_with_weights(module, run, 0, lambda own: own.flip(-1))
    assert (flipped - untouched).abs().max() > 0.01


def test_the_layers_of_a_transformer_encoder_are_seen_in_order():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    module = nn.TransformerEncoder(layer, 2).eval()
    states, padded = torch.randn(2, 4, 8), torch.tensor([[False] * 4, [False, False, True, True]])
    with torch.no_grad():
        calls = attention_calls(module, lambda: module(states, src_key_padding_mask=padded))
    assert [call.path for call in calls] == ["layers.0.self_attn", "layers.1.self_attn"]
    assert all((call.weights[1, ..., 2:] == 0).all() for call in calls)
