"""Norm-based scores of transformer blocks, against decompositions written out for each family."""

import pytest
import torch
from torch.nn import functional as F

pytest.importorskip("transformers")

import assay
from assay.data.batches import EncodedSplit
from assay.models.adapters.huggingface import attach
from assay.models.view import NotApplicable, View
from assay.scores import SCORES
from assay.scores.block_norms import attention_block_norm, attention_feed_forward_norm
from tests.builders.models_with_heads import ThreeHeads, view_of
from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_transformer

NAMES = ("attention_block_norm", "attention_feed_forward_norm")
HEADS = 4


def random_biases(network):
    """The network in float64, with biases and gains that are neither zero nor one."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return network.double()


def twins(family, *, changes=None, **site):
    """An attached model with documents, and the same network as it is, with eager attention."""
    network, tokenizer = tiny_transformer(family, **(changes or {}))
    model = attach(random_biases(network), tokenizer, **site)
    plain = random_biases(tiny_transformer(family, **(changes or {}))[0])
    plain.set_attn_implementation("eager")
    documents = model.corpus(list(TEXTS), list(LABELS)).test
    split = EncodedSplit.encode(documents, model.vocabulary, 2)
    return View(model, split.batch(list(range(len(documents))))), plain


def read_alone(view, plain, document, layer):
    """The layer's input (S, m), its weights (H, S, S), the query and the item of each position."""
    positions = view.states.positions
    real = positions.mask[document]
    ids = positions.ids[document][real][None]
    seen = plain(ids, output_hidden_states=True, output_attentions=True)
    query = int(view.states.row[document]) - int(positions.first[document])
    owner = positions.layout.owner[document][real].tolist()
    return seen.hidden_states[layer][0], seen.attentions[layer][0], query, owner


def added_by_position(weights, values, matrix, query):
    """(S, m): the sum over heads of weight times value, after the output matrix (H * d, m)."""
    size = matrix.shape[0] // HEADS
    found = 0
    for head in range(HEADS):
        cut = slice(head * size, (head + 1) * size)
        found = found + weights[head, query][:, None] * values[:, cut] @ matrix[cut]
    return found


def layer_norm(parts, whole, norm):
    """The parts of a vector, each centered and divided by the deviation of the whole."""
    deviation = (whole.var(correction=0) + norm.eps).sqrt()
    return norm.weight * (parts - parts.mean(-1, keepdim=True)) / deviation


def through_activation(directions, whole, bias, activation):
    """Integrated gradients of activation(x + bias) from x = 0 to the whole, in closed form."""
    return directions * (activation(whole + bias) - activation(bias)) / whole


def item_norms(parts, owner, items):
    sums = [sum(part for part, at in zip(parts, owner, strict=True) if at == t) for t in items]
    return torch.stack([part.norm() for part in sums])


def bert_parts(layer, hidden, weights, query):
    """Post-norm: the parts of the block and of the layer's output, which is checked."""
    own, dense = layer.attention.self, layer.attention.output.dense
    values = hidden @ own.value.weight.T + own.value.bias
    parts = added_by_position(weights, values, dense.weight.T, query)
    parts[query] += hidden[query]
    norm, last = layer.attention.output.LayerNorm, layer.output.LayerNorm
    total = parts.sum(0) + dense.bias
    block, stream = layer_norm(parts, total, norm), norm(total)
    up, down = layer.intermediate.dense, layer.output.dense
    inner = through_activation(block @ up.weight.T, stream @ up.weight.T, up.bias, F.gelu)
    made = stream + down(F.gelu(up(stream)))
    return block, layer_norm(block + inner @ down.weight.T, made, last), last(made)


def gpt2_parts(layer, hidden, weights, query):
    """Pre-norm: the sum of residual and attention is not normalized in the stream."""
    projected = layer.attn.c_attn(layer.ln_1(hidden))
    values = projected[:, 2 * hidden.shape[1] :]
    parts = added_by_position(weights, values, layer.attn.c_proj.weight, query)
    parts[query] += hidden[query]
    total = parts.sum(0) + layer.attn.c_proj.bias
    up, down, activation = layer.mlp.c_fc, layer.mlp.c_proj, layer.mlp.act
    given, whole = layer_norm(parts, total, layer.ln_2), layer.ln_2(total)
    inner = through_activation(given @ up.weight, whole @ up.weight, up.bias, activation)
    return parts, parts + inner @ down.weight, total + layer.mlp(whole)


def llama_parts(layer, hidden, weights, query):
    """Pre-norm with RMSNorm and a gated network, integrated with many small steps."""
    values = layer.input_layernorm(hidden) @ layer.self_attn.v_proj.weight.T
    size = values.shape[1] // 2  # two groups of two heads
    repeated = torch.cat([values[:, :size]] * 2 + [values[:, size:]] * 2, 1)
    parts = added_by_position(weights, repeated, layer.self_attn.o_proj.weight.T, query)
    parts[query] += hidden[query]
    total, norm = parts.sum(0), layer.post_attention_layernorm
    rms = (total.square().mean() + norm.variance_epsilon).sqrt()
    given, whole = norm.weight * parts / rms, norm(total)
    inner = torch.zeros_like(parts)
    for step in range(500):
        jacobian = torch.autograd.functional.jacobian(layer.mlp, (step + 0.5) / 500 * whole)
        inner += given @ jacobian.T / 500
    return parts, parts + inner, total + layer.mlp(whole)


FAMILIES = {
    "bert": (bert_parts, lambda plain: plain.bert.encoder.layer),
    "gpt2": (gpt2_parts, lambda plain: plain.transformer.h),
    "llama": (llama_parts, lambda plain: plain.model.layers),
}


@pytest.mark.slow
@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_it_equals_the_decomposition_written_out(family, layer):
    view, plain = twins(family, layer=layer, heads=1)
    block, whole = attention_block_norm(view), attention_feed_forward_norm(view)
    parts_of, layers_of = FAMILIES[family]
    with torch.no_grad():
        for document in range(len(view.batch.ids)):
            hidden, weights, query, owner = read_alone(view, plain, document, layer)
            module = layers_of(plain)[layer]
            parts, with_feed_forward, made = parts_of(module, hidden, weights, query)
            if layer == 1:
                ids = view.states.positions.ids[document][view.states.positions.mask[document]]
                following = plain(ids[None], output_hidden_states=True).hidden_states[2]
                torch.testing.assert_close(made, following[0, query])
            items = range(int(view.batch.lengths[document]))
            length = len(items)
            wanted = item_norms(parts, owner, items)
            torch.testing.assert_close(block[document, :length], wanted, rtol=1e-5, atol=1e-7)
            wanted = item_norms(with_feed_forward, owner, items)
            torch.testing.assert_close(whole[document, :length], wanted, rtol=1e-4, atol=1e-7)
            assert not block[document, length:].any()
            assert not whole[document, length:].any()


def test_the_residual_belongs_to_the_item_of_the_query():
    """GPT-2 shows the row of the last position: its item has its own state beside the values."""
    view, _ = twins("gpt2")
    added = SCORES["attention_value_norm"].compute(view)
    found = attention_block_norm(view)
    last = view.batch.lengths - 1
    others = torch.arange(added.shape[1]) != last[:, None]
    torch.testing.assert_close(found[others], added[others])
    assert (found != added)[~others].all()


def test_a_model_of_ones_own_has_the_norms_of_its_parts():
    """Without residual and normalization the block is the attention."""
    view = view_of(ThreeHeads(), (4, 2))
    torch.testing.assert_close(
        attention_block_norm(view), SCORES["attention_value_norm"].compute(view)
    )
    parts = view.model.block_parts(view.states, feed_forward=True)
    found = attention_feed_forward_norm(view)
    torch.testing.assert_close(found[0], parts[0].norm(dim=-1))
    assert (found[1, 2:] == 0).all()


@pytest.mark.parametrize("family", ["albert", "t5", "bart", "esm", "distilbert", "modernbert"])
def test_other_families_are_proved_when_they_are_found(family):
    model = attach(*tiny_transformer(family))
    for name in NAMES:
        SCORES[name].check(model)


@pytest.mark.parametrize("site", [{"layer": "rollout"}, {"query": "mean"}])
@pytest.mark.parametrize("name", NAMES)
def test_several_rows_have_no_parts(name, site):
    model = attach(*tiny_transformer("bert"), **site)
    with pytest.raises(NotApplicable, match="neither a rollout nor a mean of rows"):
        SCORES[name].check(model)


@pytest.mark.parametrize("name", NAMES)
def test_models_without_a_known_block(name):
    with pytest.raises(NotApplicable, match="nor a model whose values are not seen"):
        SCORES[name].check(attach(*tiny_transformer("deberta-v2")))
    # Gemma 2 normalizes the attention output before it adds the residual.
    with pytest.raises(NotApplicable, match="no normalization in the layer reads the sum"):
        SCORES[name].check(attach(*tiny_transformer("gemma2")))


def test_a_network_that_reads_other_positions_is_refused():
    model = attach(*tiny_transformer("gpt2"))
    mlp = model.module.transformer.h[-1].mlp
    mlp.register_forward_hook(lambda _, args, made: made + args[0].roll(1, 1))
    SCORES["attention_block_norm"].check(model)
    with pytest.raises(NotApplicable, match="reads more than the position of the query"):
        SCORES["attention_feed_forward_norm"].check(model)


@torch.no_grad()
def test_an_activation_with_a_kink_takes_more_points():
    """The closed form holds for ReLU, too. No sum over points meets it exactly."""
    view, plain = twins("gpt2", changes={"activation_function": "relu", "n_inner": 200})
    found = attention_feed_forward_norm(view)
    for document, length in enumerate(view.batch.lengths.tolist()):
        hidden, weights, query, owner = read_alone(view, plain, document, 2)
        _, parts, _ = gpt2_parts(plain.transformer.h[2], hidden, weights, query)
        wanted = item_norms(parts, owner, range(length))
        torch.testing.assert_close(found[document, :length], wanted, rtol=0.02, atol=0)
    assert view.model._block(True).points > twins("gpt2")[0].model._block(True).points


@pytest.mark.slow
def test_an_audit_has_a_column_for_each():
    audit = assay.audit(
        attach(*tiny_transformer("bert")), list(TEXTS), list(LABELS), probes=["agreement"]
    )
    for name in NAMES:
        for tokens, values in audit.instances.select("tokens", name).iter_rows():
            assert len(values) == len(tokens)
            assert all(value > 0 for value in values)


def test_a_network_without_a_forward_derivative_is_refused():
    model = attach(*tiny_transformer("gpt_oss"))
    SCORES["attention_block_norm"].check(model)
    with pytest.raises(NotApplicable, match="no derivative in forward mode"):
        SCORES["attention_feed_forward_norm"].check(model)


def test_a_layer_that_ends_otherwise_is_refused():
    model = attach(*tiny_transformer("gpt2"))
    layer = model.module.transformer.h[-1]
    own = layer.forward
    layer.forward = lambda *args, **kwargs: 2 * own(*args, **kwargs)
    with pytest.raises(NotApplicable, match="the layer does not end in the sum"):
        SCORES["attention_block_norm"].check(model)
