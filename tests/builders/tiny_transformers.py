"""Tiny random Hugging Face classifiers with tokenizers trained on a few sentences."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

TEXTS = (
    "The film is unwatchable, don't see it!",
    "A good film, and a good story.",
    "Never has a naïve plot been so dull",
    "watchable and good",
)
LABELS = ("bad", "good", "bad", "good")
SPECIAL = {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}


def word_pieces() -> Any:
    """As BERT: sub-words within words and punctuation, between [CLS] and [SEP]."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = ["<pad>", "<unk>", "[CLS]", "[SEP]", "<mask>"]
    _train(
        tokenizer,
        trainers.WordPieceTrainer(vocab_size=60, special_tokens=names, show_progress=False),
    )
    return _fast(tokenizer, "[CLS] $A [SEP]", cls_token="[CLS]", sep_token="[SEP]")


def byte_pairs(template: str | None = None) -> Any:
    """As GPT-2 and RoBERTa: bytes, with the leading space joined to the word."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=names, initial_alphabet=alphabet, show_progress=False
    )
    _train(tokenizer, trainer)
    return _fast(tokenizer, template, bos_token="<s>", eos_token="</s>")


def stops_with_line_breaks() -> Any:
    """As Llama 3: byte pairs in which punctuation is joined to the line break after it."""
    tokenizer = Tokenizer(models.BPE())
    cut = pre_tokenizers.Split(
        Regex(r"[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+"), "isolated"
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([f"{text}.\n" * 3 for text in TEXTS], trainer)
    return _fast(tokenizer, None, bos_token="<s>", eos_token="</s>")


def sentence_pieces(template: str = "$A </s>") -> Any:
    """As T5, ALBERT and XLNet: unigram pieces, with a mark in place of each space."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    names = ["<pad>", "<unk>", "</s>", "[CLS]", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=60, special_tokens=names, unk_token="<unk>", show_progress=False
    )
    _train(tokenizer, trainer)
    return _fast(tokenizer, template, eos_token="</s>", cls_token="[CLS]")


def spaceless_pairs() -> Any:
    """As Llama 2: byte pairs of the whole text, without any division into words before."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    names = ["<pad>", "<unk>", "<s>"]
    _train(tokenizer, trainers.BpeTrainer(vocab_size=80, special_tokens=names, show_progress=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.pre_tokenizer = None
    return _fast(tokenizer, "<s> $A", bos_token="<s>", mask_token=None)


def residues() -> Any:
    """As ESM: one position per letter."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    names = ["<cls>", "<pad>", "<eos>", "<unk>", "<mask>"]
    _train(tokenizer, trainers.WordLevelTrainer(special_tokens=names, show_progress=False))
    return _fast(tokenizer, "<cls> $A <eos>", cls_token="<cls>", eos_token="<eos>")


def _train(tokenizer: Any, trainer: Any) -> None:
    tokenizer.train_from_iterator(TEXTS, trainer)


def _fast(tokenizer: Any, template: str | None, **special: Any) -> Any:
    if template is not None:
        used = [one for one in template.split() if one != "$A"]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[(one, tokenizer.token_to_id(one)) for one in used]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=40, **{**SPECIAL, **special}
    )


SIZE = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
}
DECODER = {**SIZE, "num_key_value_heads": 2, "head_dim": 4}
FAMILIES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "bert": (word_pieces, SIZE),
    "distilbert": (word_pieces, {"dim": 16, "hidden_dim": 24, "n_layers": 3, "n_heads": 4}),
    "roberta": (lambda: byte_pairs("<s> $A </s>"), {**SIZE, "max_position_embeddings": 42}),
    "electra": (word_pieces, {**SIZE, "embedding_size": 8}),
    "albert": (
        lambda: sentence_pieces("[CLS] $A </s>"),
        {**SIZE, "embedding_size": 8, "num_hidden_groups": 1},
    ),
    "modernbert": (
        lambda: byte_pairs("<s> $A </s>"),
        {**SIZE, "local_attention": 8, "global_attn_every_n_layers": 2},
    ),
    "deberta-v2": (
        lambda: sentence_pieces("[CLS] $A </s>"),
        {**SIZE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "xlnet": (
        lambda: sentence_pieces("$A </s> [CLS]"),
        {"d_model": 16, "d_inner": 24, "n_layer": 3, "n_head": 4},
    ),
    "xlm-roberta": (
        lambda: sentence_pieces("[CLS] $A </s>"),
        {**SIZE, "max_position_embeddings": 42},
    ),
    "camembert": (
        lambda: sentence_pieces("[CLS] $A </s>"),
        {**SIZE, "max_position_embeddings": 42},
    ),
    "esm": (residues, {**SIZE, "token_dropout": True, "position_embedding_type": "rotary"}),
    "mpnet": (lambda: byte_pairs("<s> $A </s>"), {**SIZE, "max_position_embeddings": 42}),
    "big_bird": (
        lambda: sentence_pieces("[CLS] $A </s>"),
        {**SIZE, "attention_type": "original_full", "max_position_embeddings": 42},
    ),
    "mistral": (spaceless_pairs, {**DECODER, "sliding_window": 8}),
    "gemma2": (
        spaceless_pairs,
        {**DECODER, "attn_logit_softcapping": 2.0, "sliding_window": 8},
    ),
    "bart": (
        lambda: byte_pairs("<s> $A </s>"),
        {
            "d_model": 16,
            "encoder_layers": 3,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 24,
            "decoder_ffn_dim": 24,
            "max_position_embeddings": 42,
        },
    ),
    "gpt2": (byte_pairs, {"n_embd": 16, "n_inner": 24, "n_layer": 3, "n_head": 4}),
    "llama": (spaceless_pairs, DECODER),
    "qwen3": (byte_pairs, DECODER),
    "gpt_oss": (
        byte_pairs,
        {
            **DECODER,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "sliding_window": 16,
            "layer_types": ["full_attention", "sliding_attention", "full_attention"],
        },
    ),
    "t5": (
        sentence_pieces,
        {"d_model": 16, "d_ff": 24, "num_layers": 3, "num_heads": 4, "d_kv": 4},
    ),
}


def tiny_transformer(family: str, *, seed: int = 0, **changes: Any) -> tuple[Any, Any]:
    """A random classifier of a family and its tokenizer. Its weights are large enough to matter."""
    config, tokenizer = tiny_config(family, **changes)
    return _random(AutoModelForSequenceClassification, config, seed), tokenizer


def tiny_language_model(family: str, *, seed: int = 0, **changes: Any) -> tuple[Any, Any]:
    """A random causal language model of a family and its tokenizer."""
    config, tokenizer = tiny_config(family, **changes)
    return _random(AutoModelForCausalLM, config, seed), tokenizer


def tiny_config(family: str, **changes: Any) -> tuple[Any, Any]:
    """The config of a small model for two classes, and its tokenizer."""
    tokenizer = tiny_tokenizer(family)
    return _config(family, tokenizer, {**FAMILIES[family][1], **changes}), tokenizer


def random_model(family: str, tokenizer: Any, size: dict[str, Any]) -> tuple[Any, Any]:
    """A random classifier of any family of `transformers`, and its tokenizer."""
    config = _config(family, tokenizer, size)
    return _random(AutoModelForSequenceClassification, config, 0), tokenizer


def _config(family: str, tokenizer: Any, size: dict[str, Any]) -> Any:
    return CONFIG_MAPPING[family](
        **size,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        mask_token_id=tokenizer.mask_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
        id2label={0: "bad", 1: "good"},
        label2id={"bad": 0, "good": 1},
        num_labels=2,
    )


def _random(kind: Any, config: Any, seed: int) -> Any:
    torch.manual_seed(seed)
    model = kind.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(8 if parameter.std() < 0.1 else 1)
    return model


@cache
def tiny_tokenizer(family: str) -> Any:
    """The tokenizer of a family, trained once."""
    return FAMILIES[family][0]()
