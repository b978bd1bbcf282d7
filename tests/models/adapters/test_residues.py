"""Tests of protein models: their slow tokenizer, and residues as items."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification, EsmConfig, EsmTokenizer

import assay
from assay.errors import UserError
from assay.models.adapters.check import check_model
from assay.models.adapters.pretrained import with_offsets
from assay.models.adapters.text_items import TextItems

ALPHABET = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-"]
PROTEINS = ("MKTAYIAKQR", "GAVLK", "MSDNE-PQ", "WWCY")


@pytest.fixture
def tokenizer(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join([*ALPHABET, "<null_1>", "<mask>"]))
    return EsmTokenizer(str(tmp_path / "vocab.txt"))


def test_the_fast_version_gives_the_ids_of_the_slow_one(tokenizer):
    fast = with_offsets(tokenizer)
    assert not tokenizer.is_fast
    assert fast.is_fast
    for text in (*PROTEINS, "M K T", "MabcK", " MK\nT "):
        assert fast(text)["input_ids"] == tokenizer(text)["input_ids"], text
    assert (fast.mask_token_id, fast.pad_token_id) == (
        tokenizer.mask_token_id,
        tokenizer.pad_token_id,
    )


def test_residues_are_the_items_of_a_protein_model(tokenizer, tmp_path):
    torch.manual_seed(0)
    config = EsmConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        mask_token_id=tokenizer.mask_token_id,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=42,
        position_embedding_type="rotary",
        token_dropout=True,
        initializer_range=0.3,
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = assay.huggingface(tmp_path)
    corpus = model.corpus(PROTEINS, ["LABEL_0"] * len(PROTEINS))
    assert [document.tokens for document in corpus.test] == [tuple(one) for one in PROTEINS]
    report = check_model(model, list(PROTEINS))
    assert report.passed, str(report)
    audit = assay.audit(model, list(PROTEINS), ["LABEL_0"] * len(PROTEINS), probes=["permutation"])
    assert audit.instances["tokens"].to_list()[1] == list(PROTEINS[1])


def test_a_slow_tokenizer_of_words_is_not_replaced(tokenizer):
    tokenizer._tokenize = lambda text, **_: [text]
    tokenizer._update_trie(["<cls>"])
    tokenizer.unique_no_split_tokens = ["<cls>"]
    slow = with_offsets(tokenizer)
    assert slow is tokenizer
    with pytest.raises(UserError, match="does not report the offsets"):
        TextItems(slow, 40, pad=1)
