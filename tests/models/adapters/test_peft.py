"""Tests of models with an adapter: LoRA, prefix tuning and prompt tuning.

The oracle is the model as PEFT wraps it, on one document at a time, before it is attached.
"""

from functools import cache

import pytest
import torch
from peft import (
    LoraConfig,
    PrefixTuningConfig,
    PromptEncoderConfig,
    PromptTuningConfig,
    get_peft_model,
)
from torch.testing import assert_close

import assay
from assay.data.batches import Batch, EncodedSplit
from assay.errors import UserError
from assay.models.adapters.check import check_model
from assay.models.adapters.huggingface import attach
from assay.models.adapters.language_model import attach_language_model
from assay.models.adapters.peft_adapters import PREFIX, VIRTUAL
from assay.models.adapters.prompt_items import Prompt
from assay.models.adapters.transformer import AttachedTransformer
from tests.builders.tiny_transformers import (
    LABELS,
    TEXTS,
    tiny_language_model,
    tiny_transformer,
)
from tests.models.adapters.test_families import imposed_logits

LEARNED = 3  # columns or tokens
CLOSE = {"rtol": 1e-5, "atol": 5e-6}
KINDS = ("lora", "prefix", "prompt", "p-tuning")
FAMILIES = ("bert", "gpt2", "llama")
APART = {"lora": None, "prefix": PREFIX, "prompt": VIRTUAL, "p-tuning": VIRTUAL}
WORDS = {"good": " good", "bad": " dull"}
TEMPLATE = "Review: {text}\nThe story is"


def adapted(network, kind: str, task: str):
    """The network with a random adapter."""
    configs = {
        "lora": lambda: LoraConfig(
            task_type=task, r=2, target_modules="all-linear", init_lora_weights=False
        ),
        "prefix": lambda: PrefixTuningConfig(task_type=task, num_virtual_tokens=LEARNED),
        "prompt": lambda: PromptTuningConfig(task_type=task, num_virtual_tokens=LEARNED),
        "p-tuning": lambda: PromptEncoderConfig(
            task_type=task, num_virtual_tokens=LEARNED, encoder_hidden_size=8
        ),
    }
    torch.manual_seed(1)
    return get_peft_model(network, configs[kind]()).eval()


@cache
def attached(
    family: str, kind: str, layer: int = -1
) -> tuple[AttachedTransformer, Batch, torch.Tensor]:
    """The model, four documents, and the logits of the wrapped model for each of them alone."""
    network, tokenizer = tiny_transformer(family)
    wrapped = adapted(network, kind, "SEQ_CLS")
    with torch.no_grad():
        logits = [wrapped(**tokenizer(text, return_tensors="pt")).logits for text in TEXTS]
    model = attach(wrapped, tokenizer, layer=layer)
    return model, batch_of(model), torch.cat(logits)


def batch_of(model: AttachedTransformer) -> Batch:
    corpus = model.corpus(TEXTS, LABELS)
    return EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(len(TEXTS)))


def assert_exact(model: AttachedTransformer, batch: Batch, logits: torch.Tensor, layer: int):
    """Own weights replay the logits, and proposals give what whole passes give."""
    with torch.no_grad():
        states = model.encode(batch)
        own = model.head_weights(states)
        assert_close(model.decode_heads(states, own[:, None])[:, 0], logits, **CLOSE)
        permuted = own.flip(-1).masked_fill(~batch.mask[:, None], 0)
        proposed = states.layout.position_weights(states.own, permuted[:, None])[:, 0]
        wanted = imposed_logits(model, states, proposed, layer % model.layers)
        found = model.decode_heads(states, permuted[:, None])[:, 0]
    assert_close(found, wanted, **CLOSE)
    assert not torch.allclose(found, logits, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", [-1, 1])
def test_a_model_with_an_adapter_is_replayed_exactly(family, kind, layer):
    model, batch, logits = attached(family, kind, layer)
    assert_exact(model, batch, logits, layer)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_with_an_adapter_takes_the_fast_route_and_passes_the_checks(family, kind):
    model, _, _ = attached(family, kind)
    assert model.route == "row"
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learned_stands_apart_and_is_counted(family, kind):
    model, batch, _ = attached(family, kind)
    with torch.no_grad():
        states = model.encode(batch)
        apart = model.weights_apart(states)
        total = sum(apart.values()) + model.head_weights(states).sum(-1)
    assert_close(total, torch.ones_like(total), **CLOSE)
    width = model.positions(batch).ids.shape[1]
    assert states.own.shape[-1] == width + (LEARNED if kind == "prefix" else 0)
    name, notes = APART[kind], model.corpus(TEXTS[:1]).notes
    if name is None:
        assert not {PREFIX, VIRTUAL} & apart.keys()
    else:
        assert bool((apart[name] > 0).all())
        assert int(states.layout.apart[name].sum(1)[0]) == LEARNED
        assert notes[0].startswith(f"{LEARNED} learned ")


@pytest.mark.parametrize("kind", KINDS)
def test_own_embeddings_replay_and_carry_gradients(kind):
    model, batch, logits = attached("gpt2", kind)
    embedded = model.embed(batch).detach().requires_grad_()
    states = model.contextualise(embedded, batch)
    found = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
    assert_close(found.detach(), logits, **CLOSE)
    (gradient,) = torch.autograd.grad(found.sum(), embedded)
    assert torch.equal(gradient.abs().sum(-1) > 0, batch.mask)


@pytest.mark.parametrize("kind", KINDS)
def test_leave_one_out_equals_reading_each_shorter_document(kind):
    model, batch, _ = attached("llama", kind)
    found = model.logits_without_each(batch)
    with torch.no_grad():
        shorter = model.encode(batch.without(1))
        wanted = model.decode_heads(shorter, model.head_weights(shorter)[:, None])[:, 0]
    assert_close(found[:, 1], wanted, **CLOSE)


@pytest.mark.parametrize("site", [{"query": "mean", "layer": 1}, {"layer": "rollout"}], ids=str)
@pytest.mark.parametrize("kind", ["prefix", "prompt"])
def test_all_rows_and_the_rollout_count_the_learned_columns(kind, site):
    network, tokenizer = tiny_transformer("bert")
    model = attach(adapted(network, kind, "SEQ_CLS"), tokenizer, **site)
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)


def test_the_rollout_with_a_prefix_is_the_product_of_its_layers():
    """A learned column is no position: it keeps what flows into it."""
    network, tokenizer = tiny_transformer("bert")
    model = attach(adapted(network, "prefix", "SEQ_CLS"), tokenizer, layer="rollout")
    corpus = model.corpus(TEXTS[:1], LABELS[:1])
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch([0])
    seen = []
    with torch.no_grad():
        states = model.encode(batch)
        model.network.logits(model.positions(batch), lambda call: seen.append(call.weights[0]))
    size = seen[0].shape[-1]
    product = torch.eye(size)
    for weights in seen:
        mixed = torch.eye(size)
        mixed[LEARNED:] = (weights.mean(0) + torch.eye(size)[LEARNED:]) / 2
        product = mixed @ product
    assert_close(states.own[0, 0], product[LEARNED], **CLOSE)


def test_the_output_matrix_includes_the_matrices_of_lora():
    model, batch, _ = attached("llama", "lora")
    with torch.no_grad():
        states = model.encode(batch)
        matrix = model.output_matrix(states)
        flat = torch.einsum("bhs,bhsd->bhd", states.own, states.values).flatten(1)
        projection = model.stack.layers[-1].get_submodule("self_attn.o_proj")
        wanted = projection(flat)
        base = projection.base_layer(flat)
    assert_close(flat @ matrix.flatten(0, 1), wanted, **CLOSE)
    assert not torch.allclose(base, wanted, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_language_model_with_an_adapter_is_replayed_exactly(kind):
    network, tokenizer = tiny_language_model("qwen3")
    wrapped = adapted(network, kind, "CAUSAL_LM")
    columns = [tokenizer(word)["input_ids"][0] for word in WORDS.values()]
    logits = []
    for text in TEXTS:
        inputs = tokenizer(TEMPLATE.replace("{text}", text), return_tensors="pt")
        with torch.no_grad():
            logits.append(wrapped(**inputs).logits[0, -1, columns])
    model = attach_language_model(wrapped, tokenizer, WORDS, Prompt(TEMPLATE), layer=1)
    assert_exact(model, batch_of(model), torch.stack(logits), 1)
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)


@pytest.fixture
def base(tmp_path):
    network, tokenizer = tiny_transformer("bert")
    network.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    return tmp_path / "base"


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_adapter_is_loaded_with_its_base(base, tmp_path, kind):
    from transformers import AutoModelForSequenceClassification

    network = AutoModelForSequenceClassification.from_pretrained(base).eval()
    wrapped = adapted(network, kind, "SEQ_CLS")
    wrapped.save_pretrained(tmp_path / "adapter")
    _, tokenizer = tiny_transformer("bert")
    inputs = tokenizer(TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        wanted = wrapped(**inputs).logits
    model = assay.huggingface(tmp_path / "adapter")
    assert not any(parameter.requires_grad for parameter in model.module.parameters())
    batch = batch_of(model).rows(slice(0, 1))
    with torch.no_grad():
        states = model.encode(batch)
        found = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
    assert_close(found, wanted, **CLOSE)


def test_the_head_of_an_adapter_has_its_own_number_of_classes(base, tmp_path):
    from transformers import AutoModel, AutoModelForSequenceClassification

    AutoModel.from_pretrained(base).save_pretrained(base)
    network = AutoModelForSequenceClassification.from_pretrained(base, num_labels=3).eval()
    adapted(network, "lora", "SEQ_CLS").save_pretrained(tmp_path / "adapter")
    model = assay.huggingface(tmp_path / "adapter")
    assert model.classes == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_an_adapter_without_a_trained_head_is_refused(base, tmp_path):
    from transformers import AutoModel, AutoModelForSequenceClassification

    AutoModel.from_pretrained(base).save_pretrained(base)
    network = AutoModelForSequenceClassification.from_pretrained(base).eval()
    config = LoraConfig(r=2, target_modules=["query"])
    get_peft_model(network, config).save_pretrained(tmp_path / "adapter")
    with pytest.raises(UserError, match=r"weights for classifier.bias.*together with the head"):
        assay.huggingface(tmp_path / "adapter")


def test_an_adapter_of_another_task_is_refused_with_the_right_prefix(base, tmp_path):
    from transformers import AutoModelForSequenceClassification

    network = AutoModelForSequenceClassification.from_pretrained(base).eval()
    adapted(network, "lora", "SEQ_CLS").save_pretrained(tmp_path / "adapter")
    with pytest.raises(UserError, match=r"is no language model \(its task is SEQ_CLS\): pass hf:"):
        assay.language_model(tmp_path / "adapter", labels=WORDS, prompt=TEMPLATE)


def test_an_adapter_that_would_be_unpickled_is_refused(base, tmp_path):
    from transformers import AutoModelForSequenceClassification

    network = AutoModelForSequenceClassification.from_pretrained(base).eval()
    wrapped = adapted(network, "lora", "SEQ_CLS")
    wrapped.save_pretrained(tmp_path / "adapter", safe_serialization=False)
    with pytest.raises(UserError, match=r"holds no adapter_model.safetensors.*unpickled"):
        assay.huggingface(tmp_path / "adapter")


def test_a_learned_prompt_of_an_encoder_decoder_is_refused():
    network, tokenizer = tiny_transformer("bart")
    with pytest.raises(UserError, match=r"learned prompt that cannot be asked \(an encoder-decod"):
        attach(adapted(network, "prompt", "SEQ_CLS"), tokenizer)
