"""Tests of the Hugging Face adapter on a tiny random model of every family.

The oracle is the untouched model: own weights replay its logits, and proposals of weights give what
whole forward passes with an independent replacement of the attention give.
"""

from functools import cache

import pytest
import torch
from torch.testing import assert_close

from assay.data.batches import Batch, EncodedSplit
from assay.models.adapters.check import check_model
from assay.models.adapters.huggingface import attach
from assay.models.adapters.interception import attention_calls, run_with_weights
from assay.models.adapters.site_passes import SiteStates
from assay.models.adapters.transformer import AttachedTransformer
from tests.builders.tiny_transformers import FAMILIES, LABELS, TEXTS, tiny_transformer

# How each family is attached in its last layer: route, padding on the left, interface.
ATTACHED = {
    "bert": ("row", False, True),
    "distilbert": ("row", False, True),
    "roberta": ("row", False, True),
    "electra": ("row", False, True),
    "albert": ("row", False, True),
    "modernbert": ("row", False, True),
    "deberta-v2": ("tail", False, False),
    "xlnet": ("whole", True, False),
    "gpt2": ("row", False, True),
    "llama": ("row", False, True),
    "qwen3": ("row", False, True),
    "gpt_oss": ("row", False, True),
    "mistral": ("row", False, True),
    "gemma2": ("row", False, True),
    "xlm-roberta": ("row", False, True),
    "camembert": ("row", False, True),
    "esm": ("row", False, True),
    "mpnet": ("tail", False, False),
    "big_bird": ("tail", False, False),
    "bart": ("tail", False, True),
    "t5": ("whole", False, True),
}
PADDED_LEFT = ("xlnet",)  # reads the last position, padded or not; encoders read the first one
# Read the last real position wherever it stands.
READS_LAST_REAL = ("gpt2", "llama", "qwen3", "gpt_oss", "mistral", "gemma2")
LAYERS = (-1, 1)


@cache
def attached(family: str, layer: int) -> tuple[AttachedTransformer, Batch, torch.Tensor]:
    """The model, four documents of different length, and the logits of the untouched model."""
    network, tokenizer = tiny_transformer(family)
    side = "left" if family in PADDED_LEFT else "right"
    inputs = tokenizer(list(TEXTS), padding=True, padding_side=side, return_tensors="pt")
    with torch.no_grad():
        logits = network(inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
    model = attach(network, tokenizer, layer=layer)
    corpus = model.corpus(TEXTS, LABELS)
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2)
    return model, split.batch(range(len(TEXTS))), logits


def replay(model: AttachedTransformer, batch: Batch) -> torch.Tensor:
    with torch.no_grad():
        states = model.encode(batch)
        return model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]


def imposed_logits(
    model: AttachedTransformer, states: SiteStates, proposed: torch.Tensor, layer: int
) -> torch.Tensor:
    """Logits of a whole pass with the row of weights (B, H, S) imposed on the softmax itself."""

    def run() -> torch.Tensor:
        return model.network.logits(states.positions)

    def impose(own: torch.Tensor) -> torch.Tensor:
        own = own.clone()
        # A softmax with a sink has one more column, which keeps its weight.
        own[torch.arange(len(own)), :, states.row, : proposed.shape[-1]] = proposed
        return own

    # Mixtures of experts take a softmax of their own after the attention of every layer.
    calls = [call for call in attention_calls(model.module, run) if call.weights.dim() == 4]
    return run_with_weights(model.module, run, calls[layer].index, impose)


def test_the_families_of_the_table_are_tested():
    assert ATTACHED.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_attached_by_its_fastest_exact_route(family):
    model, _, _ = attached(family, -1)
    route, left, interface = ATTACHED[family]
    assert (model.route, model.pads_left, model.network.shows_values) == (route, left, interface)
    assert model.layers == 3


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", LAYERS)
def test_own_weights_replay_the_untouched_model(family, layer):
    model, batch, logits = attached(family, layer)
    assert_close(replay(model, batch), logits, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", LAYERS)
def test_proposals_equal_whole_passes_with_replaced_weights(family, layer):
    """The oracle replaces the weights by the other mechanism: on the softmax itself."""
    model, batch, logits = attached(family, layer)
    with torch.no_grad():
        states = model.encode(batch)
        heads = model.head_weights(states)
        permuted = heads.flip(-1).masked_fill(~batch.mask[:, None], 0)
        proposed = states.layout.position_weights(states.own, permuted[:, None])[:, 0]

        wanted = imposed_logits(model, states, proposed, layer % model.layers)
        found = model.decode_heads(states, permuted[:, None])[:, 0]
    assert_close(found, wanted, rtol=1e-5, atol=2e-6)
    assert not torch.allclose(found, logits, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_uniform_weights_change_the_prediction(family):
    model, batch, logits = attached(family, -1)
    with torch.no_grad():
        states = model.encode(batch)
        mass = model.head_weights(states).sum(-1, keepdim=True)
        uniform = mass * batch.mask[:, None] / batch.mask.sum(1)[:, None, None]
        found = model.decode_heads(states, uniform[:, None])[:, 0]
    assert float((found - logits).abs().max()) > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_a_document_alone_equals_the_document_in_a_batch(family):
    model, batch, logits = attached(family, -1)
    shortest = int(batch.lengths.argmin())
    alone = batch.rows(slice(shortest, shortest + 1))
    assert_close(replay(model, alone), logits[shortest, None], rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("family", READS_LAST_REAL)
def test_padding_on_the_left_equals_padding_on_the_right(family, monkeypatch):
    model, batch, logits = attached(family, -1)
    monkeypatch.setattr(model, "pads_left", True)
    assert_close(replay(model, batch), logits, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_own_embeddings_replay_and_carry_gradients(family):
    model, batch, logits = attached(family, -1)
    embedded = model.embed(batch).detach().requires_grad_()
    states = model.contextualise(embedded, batch)
    found = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
    assert_close(found.detach(), logits, rtol=1e-5, atol=2e-6)
    (gradient,) = torch.autograd.grad(found.sum(), embedded)
    touched = gradient.abs().sum(-1) > 0
    assert bool(touched[batch.mask].all())
    assert not bool(touched[~batch.mask].any())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_passes_the_checks_before_use(family):
    model, _, _ = attached(family, -1)
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)
    names = {check.name for check in report.checks}
    assert {"site met once", "no change without intervention", "own weights replayed"} <= names
