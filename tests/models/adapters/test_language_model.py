"""Tests of causal language models as classifiers, on a tiny random model of each family.

The oracle is the language model as it is: the tokenizer reads the filled prompt, the whole model
runs on one document at a time, and the logits of the label words are taken at the last position.
"""

from functools import cache

import pytest
import torch
from torch.testing import assert_close

import assay
from assay.data.batches import Batch, EncodedSplit
from assay.errors import UserError
from assay.models.adapters.check import check_model
from assay.models.adapters.language_model import attach_language_model
from assay.models.adapters.prompt_items import AFTER, BEFORE, Prompt, PromptItems
from assay.models.adapters.transformer import AttachedTransformer
from tests.builders.tiny_transformers import (
    TEXTS,
    byte_pairs,
    spaceless_pairs,
    stops_with_line_breaks,
    tiny_language_model,
    tiny_transformer,
)
from tests.models.adapters.test_families import imposed_logits

FAMILIES = ("gpt2", "llama", "qwen3", "gpt_oss")
TEMPLATE = "Review: {text}\nThe story is"
WORDS = {"positive": " good", "negative": " dull"}
LAYERS = (-1, 1)
CLOSE = {"rtol": 1e-5, "atol": 5e-6}


@cache
def attached(family: str, layer: int = -1) -> tuple[AttachedTransformer, Batch, torch.Tensor]:
    """The model, four documents, and the logits of the untouched language model."""
    network, tokenizer = tiny_language_model(family)
    columns = [tokenizer(TEMPLATE + word)["input_ids"] for word in WORDS.values()]
    start = len(tokenizer(TEMPLATE)["input_ids"])
    wanted = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer(TEMPLATE.replace("{text}", text))["input_ids"]])
        with torch.no_grad():
            wanted.append(network(ids).logits[0, -1, [one[start] for one in columns]])
    model = attach_language_model(network, tokenizer, WORDS, Prompt(TEMPLATE), layer=layer)
    corpus = model.corpus(TEXTS, ["positive", "negative"] * 2)
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2)
    return model, split.batch(range(len(TEXTS))), torch.stack(wanted)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", LAYERS)
def test_own_weights_replay_the_untouched_language_model(family, layer):
    model, batch, wanted = attached(family, layer)
    with torch.no_grad():
        states = model.encode(batch)
        found = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
    assert_close(found, wanted, **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", LAYERS)
def test_proposals_equal_whole_passes_with_replaced_weights(family, layer):
    model, batch, untouched = attached(family, layer)
    with torch.no_grad():
        states = model.encode(batch)
        permuted = model.head_weights(states).flip(-1).masked_fill(~batch.mask[:, None], 0)
        proposed = states.layout.position_weights(states.own, permuted[:, None])[:, 0]
        wanted = imposed_logits(model, states, proposed, layer % model.layers)
        found = model.decode_heads(states, permuted[:, None])[:, 0]
    assert_close(found, wanted, **CLOSE)
    assert not torch.allclose(found, untouched, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_language_model_takes_the_fast_route_and_passes_the_checks(family):
    model, _, _ = attached(family)
    assert (model.route, model.network.few_columns) == ("row", True)
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)


@pytest.mark.parametrize("family", FAMILIES)
def test_own_embeddings_replay_and_carry_gradients(family):
    model, batch, wanted = attached(family)
    embedded = model.embed(batch).detach().requires_grad_()
    states = model.contextualise(embedded, batch)
    found = model.decode_heads(states, model.head_weights(states)[:, None])[:, 0]
    assert_close(found.detach(), wanted, **CLOSE)
    (gradient,) = torch.autograd.grad(found.sum(), embedded)
    assert torch.equal(gradient.abs().sum(-1) > 0, batch.mask)


def test_a_head_of_all_words_gives_the_same_logits():
    model, batch, wanted = attached("gpt2")
    model.network.few_columns = False
    try:
        with torch.no_grad():
            assert_close(model.network.logits(model.positions(batch)), wanted, **CLOSE)
    finally:
        model.network.few_columns = True


@pytest.mark.parametrize("family", FAMILIES)
def test_the_prompt_and_the_sink_stand_apart_and_are_counted(family):
    model, batch, _ = attached(family)
    with torch.no_grad():
        states = model.encode(batch)
        apart = model.weights_apart(states)
        items = model.head_weights(states).sum(-1)
    special = {"<s>"} if family == "llama" else set()
    sink = {"sink"} if family == "gpt_oss" else set()
    assert apart.keys() == {BEFORE, AFTER} | special | sink
    assert_close(sum(apart.values()) + items, torch.ones_like(items), **CLOSE)
    if sink:
        assert bool((apart["sink"] > 0.01).all())
    note = model.corpus(TEXTS[:1]).notes[0]
    before = len(model.texts.prefix) - len(special)
    assert f"{before} positions before and {len(model.texts.suffix)} after" in note
    assert f"{len(special)} special tokens" in note


def test_items_are_the_words_of_the_text_alone():
    model, _, _ = attached("gpt2")
    corpus = model.corpus(["  A good film, and a good story. \n"], ["positive"])
    words = (" A", " good", " film", ",", " and", " a", " good", " story", ".")
    assert corpus.test[0].tokens == words
    assert model.unknown == "<mask>"
    given = model.corpus([["A", "good", "film"]], ["positive"], rationales=[[False, True, False]])
    assert given.test[0].tokens == (" A", " good", " film")
    assert given.test[0].rationale == (False, True, False)


def test_a_line_break_before_the_text_belongs_to_the_prompt():
    network, tokenizer = tiny_language_model("gpt2")
    model = attach_language_model(network, tokenizer, WORDS, Prompt("Review:\n{text}\nIt is"))
    assert model.corpus(["A good film"], ["positive"]).test[0].tokens == ("A", " good", " film")
    assert model.texts.prefix == tuple(tokenizer("Review:\n")["input_ids"])
    assert model.texts.suffix == tuple(tokenizer("\nIt is")["input_ids"])


def test_an_end_token_that_the_tokenizer_adds_is_left_out():
    network, plain = tiny_language_model("gpt2")
    model = attach_language_model(network, byte_pairs("<s> $A </s>"), WORDS, Prompt(TEMPLATE))
    assert model.texts.prefix[0] == plain.bos_token_id
    assert model.texts.suffix == tuple(plain("\nThe story is")["input_ids"])


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("Is it good?", r"no slot.*write \{text\} once"),
        ("{text} or {text}?", "2 slots"),
    ],
)
def test_a_template_must_have_one_slot(template, said):
    with pytest.raises(UserError, match=said):
        Prompt(template)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"yes": " good", "no": " goody"}, "'goody'|begin with the same sub-word.*differently"),
        ({"yes": " good"}, "1 label words.*at least two"),
        ({"yes": " good", "no": " "}, "does not begin a new token"),
        ({"yes": " good", "no": ""}, "does not begin a new token"),
        ([" good", " bad"], "which word belongs to which class: pass a mapping"),
    ],
)
def test_label_words_must_be_told_apart_by_their_first_subword(labels, said):
    network, tokenizer = tiny_language_model("gpt2")
    with pytest.raises(UserError, match=said):
        attach_language_model(network, tokenizer, labels, Prompt(TEMPLATE))


def test_label_words_that_share_their_space_are_refused_with_the_cure():
    """Some tokenizers have no word with the space before it: the space is a token of its own."""
    tokenizer = spaceless_pairs()
    texts = PromptItems(tokenizer, Prompt(TEMPLATE), 40, pad=0)
    with pytest.raises(UserError, match=r"same sub-word '▁'.*at the end of the prompt"):
        texts.answers({"a": " v", "b": " u"})
    cured = PromptItems(tokenizer, Prompt(TEMPLATE + " "), 40, pad=0)
    assert tokenizer.convert_ids_to_tokens(cured.answers({"a": "v", "b": "u"})) == ["v", "u"]


@pytest.mark.parametrize(
    ("end", "word", "said"),
    [
        (" The story is", "dull", "no space: write ' dull'"),
        (" The story is ", " dull", "two spaces: write 'dull'"),
    ],
)
def test_a_label_word_that_follows_oddly_is_said(end, word, said):
    network, tokenizer = tiny_language_model("gpt2")
    labels = {"a": "!", "b": word}
    model = attach_language_model(network, tokenizer, labels, Prompt("{text}" + end))
    assert model.texts.notes[-1] == f"the label word {word!r} follows on the prompt with {said}"
    assert sum("follows on" in note for note in model.texts.notes) == 1


def test_an_unknown_label_word_is_refused():
    network, tokenizer = tiny_language_model("llama")
    with pytest.raises(UserError, match=r"does not know the label word 'Ω'"):
        attach_language_model(network, tokenizer, {"a": " good", "b": "Ω"}, Prompt(TEMPLATE))


def test_a_label_word_that_joins_the_prompt_is_refused():
    network, tokenizer = tiny_language_model("gpt2")
    prompt = Prompt("{text} It is a g")
    with pytest.raises(UserError, match=r"'ood' does not begin a new token.*space"):
        attach_language_model(network, tokenizer, {"a": "ood", "b": " bad"}, prompt)


def test_a_label_word_of_several_subwords_is_said():
    network, tokenizer = tiny_language_model("gpt2")
    labels = {"a": " good", "b": " unwatchable story"}
    model = attach_language_model(network, tokenizer, labels, Prompt(TEMPLATE))
    assert "' unwatchable story' is known by its first sub-word" in model.texts.notes[1]


def test_a_tokenizer_that_merges_across_the_slot_is_refused_with_a_cure():
    network, tokenizer = tiny_language_model("gpt2")
    with pytest.raises(
        UserError, match=r"joins the prompt '\{text\}t it is'.*write '\{text\} t it"
    ):
        attach_language_model(network, tokenizer, WORDS, Prompt("{text}t it is"))


def test_a_text_that_merges_with_the_prompt_is_refused_with_a_cure():
    network, tokenizer = tiny_language_model("gpt2")
    model = attach_language_model(network, tokenizer, WORDS, Prompt("f{text} it is"))
    with pytest.raises(UserError, match=r"and the text 'ilm' to one token.*write 'f \{text\} it"):
        model.corpus(["film", "ilm"], ["positive"] * 2)


def test_a_prompt_that_leaves_no_room_is_refused():
    network, tokenizer = tiny_language_model("gpt2")
    with pytest.raises(UserError, match=r"the model takes 40: shorten the prompt"):
        attach_language_model(network, tokenizer, WORDS, Prompt("good " * 50 + "{text} is"))


def test_a_saved_language_model_is_audited_with_its_prompt(tmp_path):
    network, tokenizer = tiny_language_model("qwen3")
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = assay.language_model(tmp_path, labels=WORDS, prompt=TEMPLATE, layer=1, heads=2)
    audit = assay.audit(model, list(TEXTS), ["positive", "negative"] * 2, probes=["sinks"])
    described = audit.manifest.attached
    assert described.text("prompt") == TEMPLATE
    assert described.section("label_words").values == WORDS
    assert described.text("shows") == (
        "layer 1 (the first is 0), head 2, the row of the last position"
    )


def test_an_empty_folder_is_no_language_model(tmp_path):
    with pytest.raises(UserError, match="cannot be loaded as a language model"):
        assay.language_model(tmp_path, labels=WORDS, prompt=TEMPLATE)


def test_a_language_model_is_no_classifier_and_the_right_way_is_named(tmp_path):
    network, tokenizer = tiny_language_model("gpt2")
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"no trained weights for score\.weight.*lm:FOLDER"):
        assay.huggingface(tmp_path)


def test_a_full_stop_that_joins_the_line_break_of_the_prompt_is_refused_with_a_cure():
    """Tokenizers as that of Llama 3 and Qwen join punctuation and the line break after it."""
    network, _ = tiny_language_model("gpt2")
    tokenizer = stops_with_line_breaks()
    model = attach_language_model(network, tokenizer, WORDS, Prompt(TEMPLATE))
    assert len(model.corpus(["A good story"], ["positive"]).test) == 1
    with pytest.raises(UserError, match=r"'A good story.' to one token.*\{text\} \\nThe") as seen:
        model.corpus(["A good story."], ["positive"])
    assert str(seen.value).endswith("write 'Review: {text} \\nThe story ' in the prompt.")
    cured = Prompt(TEMPLATE.replace("{text}", "{text} "))
    model = attach_language_model(network, tokenizer, WORDS, cured)
    assert model.corpus(["A good story."], ["positive"]).test[0].tokens[-1] == "."


def test_a_classifier_is_no_language_model_and_the_right_way_is_named(tmp_path, capfd):
    """Transformers prints a table of missing weights; our sentence says it all."""
    network, tokenizer = tiny_transformer("llama")
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    capfd.readouterr()
    with pytest.raises(UserError, match=r"no trained weights for lm_head\.weight.*hf:FOLDER"):
        assay.language_model(tmp_path, labels=WORDS, prompt=TEMPLATE)
    assert capfd.readouterr() == ("", "")
