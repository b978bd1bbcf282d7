"""Tests of the three kinds of attention of encoder-decoders, and of attention that is not dense."""

from functools import cache

import pytest
import torch
from torch.testing import assert_close
from transformers import (
    BigBirdConfig,
    BigBirdForSequenceClassification,
    LongformerConfig,
    LongformerForSequenceClassification,
)

from assay.data.batches import Batch, EncodedSplit
from assay.errors import UserError
from assay.models.adapters.attention_parts import DECODER_START
from assay.models.adapters.check import check_model
from assay.models.adapters.huggingface import attach
from assay.models.adapters.transformer import AttachedTransformer
from tests.builders.tiny_transformers import (
    LABELS,
    SIZE,
    TEXTS,
    sentence_pieces,
    tiny_transformer,
)
from tests.models.adapters.test_families import imposed_logits

CLOSE = {"rtol": 1e-5, "atol": 2e-6}
FAMILIES = ("bart", "t5")
# The place of the first computation, and how many lie between two layers. Both encoders have three
# layers, and each layer of a decoder computes its own attention before that to the encoder.
CALLS = {"encoder": (0, 1), "decoder": (3, 2), "cross": (4, 2)}


@cache
def attached(family: str, part: str, layer: int) -> tuple[AttachedTransformer, Batch, torch.Tensor]:
    network, tokenizer = tiny_transformer(family)
    inputs = tokenizer(list(TEXTS), padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = network(inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
    model = attach(network, tokenizer, part=part, layer=layer)
    corpus = model.corpus(TEXTS, LABELS)
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2)
    return model, split.batch(range(len(TEXTS))), logits


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", CALLS)
@pytest.mark.parametrize("layer", [0, 1])
def test_a_part_is_replayed_and_replaced_exactly(family, part, layer):
    model, batch, logits = attached(family, part, layer)
    first, step = CALLS[part]
    with torch.no_grad():
        states = model.encode(batch)
        own = model.head_weights(states)
        assert_close(model.decode_heads(states, own[:, None])[:, 0], logits, **CLOSE)
        permuted = own.flip(-1).masked_fill(~batch.mask[:, None], 0)
        proposed = states.layout.position_weights(states.own, permuted[:, None])[:, 0]
        wanted = imposed_logits(model, states, proposed, first + step * layer)
        found = model.decode_heads(states, permuted[:, None])[:, 0]
    assert_close(found, wanted, **CLOSE)
    assert not torch.allclose(found, logits, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", CALLS)
def test_a_part_passes_the_checks(family, part):
    model, _, _ = attached(family, part, 1)
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)


@pytest.mark.parametrize("part", CALLS)
def test_the_shown_weights_are_those_that_the_library_returns(part):
    """A decoder reads every token one position late, behind its start token."""
    model, batch, _ = attached("bart", part, 1)
    with torch.no_grad():
        states = model.encode(batch)
        positions = states.positions
        outputs = model.module(
            positions.ids, attention_mask=positions.mask.long(), output_attentions=True
        )
        shown = model.attend(states)
    late = part == "decoder"
    weights = outputs[f"{part}_attentions"][1]
    for document, owner in enumerate(positions.layout.owner.tolist()):
        row = weights[document, :, int(states.row[document])].mean(0).tolist()
        items = [0.0] * batch.items.shape[1]
        for position, item in enumerate(owner):
            if item >= 0:
                items[item] += row[position + late]
        wanted = torch.tensor(items) / sum(items)
        assert_close(shown[document], wanted, **CLOSE)
    apart = model.weights_apart(states)
    assert (DECODER_START in apart) == late
    if late:
        start = weights[0, :, int(states.row[0]), 0]
        assert_close(apart[DECODER_START][0], start, **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", CALLS)
def test_gradients_follow_the_encoder_and_the_decoder(family, part):
    """The oracle moves one row of the embedding matrices: both sides read it."""
    network, tokenizer = tiny_transformer(family)
    model = attach(network.double(), tokenizer, part=part, layer=1)
    corpus = model.corpus(TEXTS[:1], LABELS[:1])
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch([0])
    positions = model.positions(batch)
    ids = positions.ids[0].tolist()
    place = next(at for at, one in enumerate(ids) if at > 1 and ids.count(one) == 1)
    item, within = int(positions.layout.owner[0, place]), int(positions.place[0, place])
    embedded = model.embed(batch).detach().requires_grad_()
    states = model.contextualise(embedded, batch)
    logit = model.decode_heads(states, model.head_weights(states)[:, None])[0, 0, 0]
    (gradient,) = torch.autograd.grad(logit, embedded)
    size = network.config.d_model
    found = gradient[0, item, within * size : (within + 1) * size]
    own = model.embed(batch).detach()[0, item, within * size]
    scale = float(own / matrix(network)[ids[place], 0].detach())
    # T5 computes its softmax in float32, so that a small step drowns in rounding.
    step, close = (1e-6, 1e-5) if family == "bart" else (1e-3, 2e-3)
    moved = []
    for sign in (1, -1):
        with torch.no_grad():
            for table in tables(network):
                table[ids[place], 2] += sign * step
            moved.append(float(model.network.logits(positions)[0, 0]))
            for table in tables(network):
                table[ids[place], 2] -= sign * step
    assert float(found[2]) * scale == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=close)


def tables(network) -> list[torch.Tensor]:
    """The embedding matrices of both sides, each once."""
    sides = (network.get_encoder(), network.get_decoder())
    found = [side.get_input_embeddings().weight for side in sides]
    return list({one.data_ptr(): one for one in found}.values())


def matrix(network) -> torch.Tensor:
    return network.get_encoder().get_input_embeddings().weight


def test_the_rollout_of_a_decoder_is_the_product_of_its_layers():
    network, tokenizer = tiny_transformer("bart")
    model = attach(network, tokenizer, part="decoder", layer="rollout")
    corpus = model.corpus(TEXTS[:1], LABELS[:1])
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch([0])
    with torch.no_grad():
        states = model.encode(batch)
        seen = network(model.positions(batch).ids, output_attentions=True).decoder_attentions
    product = torch.eye(seen[0].shape[-1])
    for weights in seen:
        product = (weights[0].mean(0) + torch.eye(len(product))) / 2 @ product
    assert_close(states.own[0, 0], product[-1], **CLOSE)


@pytest.mark.parametrize(
    ("family", "site", "said"),
    [
        ("bert", {"part": "cross"}, r'part="cross" is not possible: Bert.* one kind of attention'),
        ("bart", {"part": "both"}, r'"encoder" or "decoder" or "cross"'),
        ("bart", {"part": "cross", "layer": "rollout"}, "a rollout multiplies layers"),
        ("bart", {"part": "cross", "layer": 2}, "2 layers, 0 to 1"),
    ],
)
def test_an_impossible_part_is_refused(family, site, said):
    with pytest.raises(UserError, match=said):
        attach(*tiny_transformer(family), **site)


def test_local_attention_is_refused():
    tokenizer = sentence_pieces("[CLS] $A </s>")
    config = LongformerConfig(
        **SIZE,
        vocab_size=len(tokenizer),
        attention_window=4,
        max_position_embeddings=66,
        pad_token_id=tokenizer.pad_token_id,
        sep_token_id=tokenizer.eos_token_id,
    )
    with pytest.raises(UserError, match=r"Longformer.*it computes \(2, 12, 4, .*Only dense"):
        attach(LongformerForSequenceClassification(config).eval(), tokenizer)


def test_block_sparse_attention_is_refused_with_the_setting_that_makes_it_dense():
    tokenizer = sentence_pieces("[CLS] $A </s>")
    config = BigBirdConfig(
        **SIZE,
        vocab_size=len(tokenizer),
        attention_type="block_sparse",
        pad_token_id=tokenizer.pad_token_id,
        sep_token_id=tokenizer.eos_token_id,
    )
    with pytest.raises(UserError, match=r"block_sparse.*\"original_full\" in config\.json"):
        attach(BigBirdForSequenceClassification(config).eval(), tokenizer)
