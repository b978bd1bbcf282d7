"""Tests of the methods of attached transformers, each against a plainly written computation."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from assay.data.batches import Batch, EncodedSplit
from assay.data.vocabulary import UNKNOWN
from assay.errors import UserError
from assay.models.adapters.huggingface import attach
from assay.models.adapters.interception import run_with_weights
from assay.models.adapters.transformer import AttachedTransformer
from assay.models.conformance import check_batch
from assay.models.protocol import SupportsItemValues
from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_transformer

CLOSE = {"rtol": 1e-5, "atol": 2e-6}


def attached(family: str = "bert", **site) -> AttachedTransformer:
    return attach(*tiny_transformer(family), **site)


def batch_of(model: AttachedTransformer, texts=TEXTS) -> Batch:
    corpus = model.corpus(texts, LABELS[: len(texts)])
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2)
    return split.batch(range(len(texts)))


def all_weights(model: AttachedTransformer, batch: Batch) -> list[torch.Tensor]:
    """The weights (B, H, S, S) of every layer, by the library's own option."""
    positions = model.positions(batch)
    outputs = model.module(
        positions.ids, attention_mask=positions.mask.long(), output_attentions=True
    )
    return list(outputs.attentions)


def replay(model: AttachedTransformer, batch: Batch) -> torch.Tensor:
    states = model.encode(batch)
    return model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.no_grad():
        yield


@pytest.mark.parametrize(
    "site",
    [
        {},
        {"layer": 0, "heads": "max"},
        {"heads": 2},
        {"layer": 1, "query": "last"},
        {"layer": 1, "query": 2},
        {"layer": -2, "query": -2},
        {"layer": 1, "query": "mean"},
        {"query": "mean", "heads": 1},
        {"layer": "rollout"},
        {"layer": "rollout", "heads": "max", "query": "mean"},
    ],
    ids=str,
)
def test_every_site_keeps_the_interface_of_a_model(site):
    model = attached(**site)
    batch = batch_of(model)
    check_batch(model, batch)
    assert_close(replay(model, batch), model.network.logits(model.positions(batch)), **CLOSE)


def test_shown_weights_are_the_row_of_the_layer():
    model = attached(layer=1, query=2)
    batch = batch_of(model)
    states = model.encode(batch)
    row = all_weights(model, batch)[1][:, :, 2]
    owner = model.positions(batch).layout.owner
    for document in range(len(TEXTS)):
        mean = row[document].mean(0)
        items = [float(mean[owner[document] == item].sum()) for item in range(batch.items.shape[1])]
        wanted = torch.tensor(items) / sum(items)
        assert_close(model.attend(states)[document], wanted, **CLOSE)


@pytest.mark.parametrize("heads", ["mean", "max", 1])
def test_the_mean_of_all_rows_is_shown_and_every_row_is_moved(heads):
    model = attached(layer=1, query="mean", heads=heads)
    batch = batch_of(model)
    states = model.encode(batch)
    positions = states.positions
    weights = all_weights(model, batch)[1]
    chosen = weights[:, 1:2] if heads == 1 else weights
    for document in range(len(TEXTS)):
        real = positions.mask[document]
        rows = chosen[document][:, real].mean(1)
        items = positions.layout.item_weights(rows.expand(len(TEXTS), -1, -1))[document]
        items = items.amax(0) if heads == "max" else items.mean(0)
        assert_close(model.attend(states)[document], items / items.sum(), **CLOSE)
        apart = model.weights_apart(states)["[CLS]"][document].view(len(rows), -1)
        assert_close(apart[:, real].mean(1), rows[:, 0], **CLOSE)
    flipped = model.head_weights(states).flip(-1) * batch.mask[:, None]
    proposed = states.layout.position_weights(states.own, flipped[:, None])[:, 0]

    def impose(own: torch.Tensor) -> torch.Tensor:
        new = own.clone()
        split = proposed.view_as(chosen)
        for document, real in enumerate(positions.mask):
            picked = split[document][:, real]
            if heads == 1:
                new[document, 1, real] = picked[0]
            else:
                new[document, :, real] = picked
        return new

    wanted = run_with_weights(model.module, lambda: model.network.logits(positions), 1, impose)
    assert_close(model.decode_heads(states, flipped[:, None])[:, 0], wanted, **CLOSE)


def test_one_head_alone_is_replaced():
    model, every = attached(heads=2), attached()
    batch = batch_of(model)
    every.texts = model.texts
    states, all_states = model.encode(batch), every.encode(batch)
    changed = model.head_weights(states).flip(-1) * batch.mask[:, None]
    proposed = every.head_weights(all_states).clone()
    proposed[:, 2] = changed[:, 0]
    assert_close(
        model.decode_heads(states, changed[:, None]),
        every.decode_heads(all_states, proposed[:, None]),
        **CLOSE,
    )


def test_proposals_are_independent_of_the_chunks_they_are_computed_in(monkeypatch):
    for layer in (-1, 0):
        model = attached(layer=layer)
        batch = batch_of(model)
        states = model.encode(batch)
        heads = model.head_weights(states)
        proposed = torch.stack([heads, heads.flip(-1), heads.roll(1, -1)], 1)
        together = model.decode_heads(states, proposed)
        with monkeypatch.context() as patch:
            patch.setattr("assay.models.adapters.site_passes.CHUNK_BYTES", 1)
            assert_close(model.decode_heads(states, proposed), together, **CLOSE)


@pytest.mark.parametrize("family", ["bert", "gpt2", "deberta-v2"])
def test_leave_one_out_equals_reading_each_shorter_document(family):
    model = attached(family)
    batch = batch_of(model)
    found = model.logits_without_each(batch)
    for position in range(batch.items.shape[1]):
        wanted = replay(model, batch.without(position))
        real = batch.mask[:, position]
        assert_close(found[real, position], wanted[real], **CLOSE)
    assert not bool(found[~batch.mask].any())


def test_the_only_item_can_be_deleted():
    for family in ("bert", "gpt2"):
        model = attached(family)
        batch = batch_of(model, ("good",))
        assert bool(torch.isfinite(model.logits_without_each(batch)).all())


def test_replaced_items_equal_the_documents_written_so():
    model = attached()
    batch = batch_of(model)
    masked = torch.full_like(batch.items, UNKNOWN)
    others = batch.items.flip(0)
    found = model.logits_with_each_replaced(batch, torch.stack([masked, others], 1))
    alone = model.logits_with_each_replaced(batch, masked)
    for position in range(int(batch.lengths.min())):
        for number, replacement in enumerate((masked, others)):
            items = batch.items.clone()
            items[:, position] = replacement[:, position]
            wanted = replay(model, replace(batch, items=items))
            assert_close(found[:, number, position], wanted, **CLOSE)
    assert_close(alone, found[:, 0], **CLOSE)
    assert model.unknown == "<mask>"


def test_rollout_is_the_product_of_the_layers():
    model = attached()
    batch = batch_of(model)
    product = None
    for weights in all_weights(model, batch):
        mean = weights.mean(1)
        mixed = (mean + torch.eye(mean.shape[-1])) / 2
        product = mixed if product is None else mixed @ product
    items = model.positions(batch).layout.item_weights(product[:, :1])[:, 0]
    assert_close(model.rollout(batch), items / items.sum(1, keepdim=True), **CLOSE)
    rolled = attached(layer="rollout")
    rolled.texts = model.texts
    assert_close(rolled.attend(rolled.encode(batch)), model.rollout(batch), **CLOSE)


@pytest.mark.parametrize("query", ["cls", "mean"])
def test_uniform_by_head_equals_one_head_at_a_time(query):
    model = attached(query=query)
    batch = batch_of(model)
    found, names = model.uniform_by_head(batch)
    assert found.shape == (len(TEXTS), 3, 4, 2)
    assert names[0][2] == "layer 0, head 2"
    for layer, head in ((0, 1), (1, 3), (2, 0)):
        alone = attached(layer=layer, heads=head, query=query)
        alone.texts = model.texts
        states = alone.encode(batch)
        mass = alone.head_weights(states).sum(-1, keepdim=True)
        uniform = mass * batch.mask[:, None] / batch.lengths[:, None, None]
        wanted = alone.decode_heads(states, uniform[:, None])[:, 0]
        assert_close(found[:, layer, head], wanted, **CLOSE)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "modernbert"])
def test_values_and_projection_give_the_output_of_the_attention(family):
    """Weights times values, projected, is what the layer's projection returns without its bias."""
    model = attached(family)
    batch = batch_of(model)
    assert isinstance(model, SupportsItemValues)
    states = model.encode(batch)
    values, matrix = model.item_values(states), model.output_matrix(states)
    heads = model.head_weights(states)
    items = torch.einsum("bht,bhtd,hdm->bm", heads, values, matrix)
    apart = states.own * (states.layout.owner < 0)[:, None]
    rest = torch.einsum("bhs,bhsd,hdm->bm", apart, states.values, matrix)
    layer = model.stack.layers[-1]
    seen = []

    def look(module, args, output):
        seen.append(output - (0 if getattr(module, "bias", None) is None else module.bias))

    names = {"bert": "attention.output.dense", "gpt2": "attn.c_proj", "llama": "self_attn.o_proj"}
    projection = layer.get_submodule(names.get(family, "attn.Wo"))
    handle = projection.register_forward_hook(look)
    model.network.logits(states.positions)
    handle.remove()
    wanted = seen[0][torch.arange(len(batch.ids)), states.row]
    assert_close(items + rest, wanted, rtol=1e-4, atol=1e-5)


def test_tapped_models_have_no_values():
    assert not isinstance(attached("deberta-v2"), SupportsItemValues)


def test_without_what_stands_apart_the_items_have_all_the_weight():
    model = attached()
    batch = batch_of(model)
    states = model.encode(batch)
    apart = model.weights_apart(states)
    heads = model.head_weights(states)
    assert_close(sum(apart.values()) + heads.sum(-1), torch.ones(len(TEXTS), 4), **CLOSE)
    nothing = replace(states, own=states.layout.without_apart(states.own))
    wanted = model.decode_heads(nothing, model.head_weights(nothing)[:, None])[:, 0]
    assert_close(model.decode_without_apart(states), wanted, **CLOSE)
    assert not torch.allclose(model.decode_without_apart(states), replay(model, batch), atol=1e-4)


def test_fixed_weights_have_no_derivative_of_their_own():
    """With weights fixed, only the values carry the derivative: compare finite differences."""
    network, tokenizer = tiny_transformer("bert")
    model = attach(network.double(), tokenizer)
    batch = batch_of(model)
    with torch.enable_grad():
        embedded = model.embed(batch).detach().requires_grad_()
        states = model.contextualise(embedded, batch)
        heads = model.head_weights(states).detach()
        logit = model.decode_heads(states, heads[:, None])[0, 0, 0]
        (gradient,) = torch.autograd.grad(logit, embedded)
    own = states.detached()
    step = torch.zeros_like(embedded)
    step[0, 3, 1] = 1e-5
    sides = []
    for sign in (1, -1):
        moved = model.contextualise(embedded.detach() + sign * step, batch)
        kept = replace(moved, own=own.own)
        sides.append(model.decode_heads(kept, heads[:, None])[0, 0, 0])
    assert_close(gradient[0, 3, 1], (sides[0] - sides[1]) / 2e-5, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_checked_at_its_own_tolerance(dtype):
    network, tokenizer = tiny_transformer("bert")
    model = attach(network.to(dtype), tokenizer)
    batch = batch_of(model)
    check_batch(model, batch)
    states = model.encode(batch)
    assert states.own.dtype == dtype
    assert "sink" not in model.weights_apart(states)


def test_the_memory_of_a_proposal_follows_the_route():
    batches = [(model, batch_of(model)) for model in (attached(), attached(layer=0))]
    row, tail = (model.proposal_bytes(model.encode(batch)) for model, batch in batches)
    assert 0 < row < tail


def test_the_memory_of_a_document_grows_with_its_length_and_with_gradients():
    model = attached()
    batch_of(model)
    short = model.document_bytes(10, gradient=False)
    assert model.document_bytes(20, gradient=False) > 1.5 * short
    assert model.document_bytes(10, gradient=True) == 3 * short


def test_documents_of_another_model_are_refused():
    model, other = attached(), attached()
    batch = batch_of(model)
    with pytest.raises(UserError, match=r"not read by the tokenizer.*model\.corpus"):
        other.encode(batch)


def test_another_device_is_named():
    model = attached()
    batch = batch_of(model)
    with pytest.raises(UserError, match="on the device cpu and the documents are on meta"):
        model.encode(batch.to("meta"))


def test_training_mode_is_refused():
    network, tokenizer = tiny_transformer("bert")
    with pytest.raises(UserError, match=r"training mode.*eval\(\)"):
        attach(network.train(), tokenizer)
    model = attach(network.eval(), tokenizer)
    batch = batch_of(model)
    network.train()
    with pytest.raises(UserError, match="training mode"):
        model.encode(batch)
