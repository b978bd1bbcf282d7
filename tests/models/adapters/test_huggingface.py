"""Tests of loading Hugging Face classifiers, and of the errors one meets."""

import pytest
import torch
from torch.testing import assert_close
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    FNetConfig,
    FNetForSequenceClassification,
)
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import assay
from assay.data.batches import EncodedSplit
from assay.errors import UserError
from assay.models.adapters.huggingface import attach
from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_tokenizer, tiny_transformer


@pytest.fixture
def folder(tmp_path):
    """A saved classifier."""
    network, tokenizer = tiny_transformer("bert")
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def test_a_saved_classifier_predicts_as_before(folder):
    network, tokenizer = tiny_transformer("bert")
    model = assay.huggingface(folder, layer=1)
    corpus = model.corpus(TEXTS, LABELS)
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(len(TEXTS)))
    inputs = tokenizer(list(TEXTS), padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model.encode(batch)
        found = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
        wanted = network(inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
    assert_close(found, wanted, rtol=1e-5, atol=2e-6)
    assert model.classes == ("bad", "good")
    assert str(model.site).startswith("layer 1 (the first is 0), the mean over the heads")
    assert not any(parameter.requires_grad for parameter in model.module.parameters())


def test_an_audit_of_texts(folder):
    model = assay.huggingface(folder)
    audit = assay.audit(model, list(TEXTS), list(LABELS), probes=["permutation", "erase_one"])
    assert set(audit.evidence()["probe"]) == {"permutation", "erase_one"}
    assert len(audit.instances) == len(TEXTS)


def test_a_missing_folder_is_a_sentence_with_the_cure(tmp_path):
    with pytest.raises(UserError, match=r"nothing-here' cannot be loaded.*download=True"):
        assay.huggingface(tmp_path / "nothing-here")


def test_nothing_is_downloaded_unless_asked(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    with pytest.raises(UserError, match="`download=True`"):
        assay.huggingface("some-organization/some-model")


def test_weights_that_would_be_unpickled_are_refused(folder):
    network, _ = tiny_transformer("bert")
    (folder / "model.safetensors").unlink()
    torch.save(network.state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="cannot be loaded as a classifier"):
        assay.huggingface(folder)


def test_an_encoder_without_a_trained_head_is_refused(folder):
    network, _ = tiny_transformer("bert")
    AutoModel.from_config(network.config).save_pretrained(folder)
    with pytest.raises(UserError, match=r"no trained weights for classifier\.bias.*Fine-tune"):
        assay.huggingface(folder)


def test_a_model_without_attention_is_refused():
    tokenizer = tiny_tokenizer("bert")
    config = FNetConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, intermediate_size=16
    )
    with pytest.raises(UserError, match=r"FNet.*computes no attention weights.*assay\.tap"):
        attach(FNetForSequenceClassification(config).eval(), tokenizer)


@pytest.mark.parametrize(
    "change", [{"num_labels": 1}, {"problem_type": "multi_label_classification"}]
)
def test_a_model_without_exclusive_classes_is_refused(change):
    network, tokenizer = tiny_transformer("bert")
    for name, value in change.items():
        setattr(network.config, name, value)
    with pytest.raises(UserError, match="no classifier with exclusive classes"):
        attach(network, tokenizer)


def test_the_first_row_of_a_decoder_sees_only_itself():
    with pytest.raises(UserError, match=r'no weight on more than one item.*query="last"'):
        attach(*tiny_transformer("gpt2"), query="cls")


@pytest.mark.parametrize(
    ("site", "said"),
    [({"layer": 3}, "3 layers, 0 to 2"), ({"heads": 4}, "4 heads"), ({"layer": "all"}, "rollout")],
)
def test_an_impossible_site_is_refused(site, said):
    with pytest.raises(UserError, match=said):
        attach(*tiny_transformer("bert"), **site)


def test_labels_must_be_classes_of_the_model():
    model = attach(*tiny_transformer("bert"))
    with pytest.raises(UserError, match=r"'positive' is none of the model's classes \(bad, good\)"):
        model.corpus(TEXTS, ["positive"] * len(TEXTS))
    with pytest.raises(UserError, match="4 texts and 1 labels"):
        model.corpus(TEXTS, ["bad"])
    with pytest.raises(UserError, match="put it in a list"):
        model.corpus(TEXTS[0], ["bad"])


def test_without_labels_the_predictions_take_their_place():
    model = attach(*tiny_transformer("bert"))
    corpus = model.corpus(TEXTS)
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(len(TEXTS)))
    with torch.no_grad():
        logits = model.network.logits(model.positions(batch))
    assert logits.argmax(1).tolist() == batch.labels.tolist()
    assert "predictions take their place" in corpus.notes[0]
    audit = assay.audit(model, list(TEXTS), limit=2, probes=["permutation"])
    assert len(audit.instances) == 2


def test_long_texts_are_cut_and_it_is_said():
    model = attach(*tiny_transformer("roberta"))
    assert model.texts.longest == 40  # 42 positions, counted from the id of padding
    corpus = model.corpus(["good film " * 30, "good", " "], ["good", "good", "bad"])
    assert "1 of 3 documents are longer than the 40 positions" in corpus.notes[0]
    assert corpus.dropped == {"without words": 1}
    assert len(corpus.test[0].tokens) < 60
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(2))
    assert bool(torch.isfinite(model.attend(model.encode(batch))).all())


def test_marks_follow_the_tokens():
    model = attach(*tiny_transformer("bert"))
    corpus = model.corpus([["a", "good", "film"]], ["good"], rationales=[[False, True, False]])
    assert corpus.test[0].rationale == (False, True, False)
    with pytest.raises(UserError, match="3 items and 1 marks"):
        model.corpus(["a good film"], ["good"], rationales=[[True]])


def test_rows_with_sinks_leave_a_share_to_the_sink():
    tokenizer = tiny_tokenizer("qwen3")
    torch.manual_seed(0)
    config = CONFIG_MAPPING["gpt_oss"](
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=4,
        num_local_experts=2,
        num_experts_per_tok=1,
        layer_types=["full_attention", "full_attention"],
        pad_token_id=tokenizer.pad_token_id,
    )
    model = attach(AutoModelForSequenceClassification.from_config(config).eval(), tokenizer)
    corpus = model.corpus(TEXTS)
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(len(TEXTS)))
    with torch.no_grad():
        states = model.encode(batch)
        sink = model.weights_apart(states)["sink"]
        logits = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
        wanted = model.network.logits(states.positions)
    assert bool((sink > 0.01).all())
    assert_close(logits, wanted, rtol=1e-5, atol=2e-6)
