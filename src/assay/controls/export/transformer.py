"""A tiny BERT with a planted attention site, as a Hugging Face folder written without any library.

The residual stream of a position has four channels, each a pair of numbers (v, -v), so that its
mean is zero: evidence, score, a mark of [CLS], and a filler that gives every embedding the same
norm. Layer normalization then changes nothing below the site. In layer 1, head 0, the row of [CLS]
attends by the scores of the words and carries their evidence to the classifier. No other head
carries anything: their weights look like attention and are decoys.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from assay.controls.graded.documents import CUE, Lexicon
from assay.models.build import write_tensors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LAYER, HEAD = 1, 0  # the planted site; its query is the first position
LAYERS, HEADS, HIDDEN = 2, 2, 8
HEAD_SIZE = HIDDEN // HEADS
EVIDENCE, SCORE, MARK, FILLER = range(4)  # channels
NORM = HIDDEN / 2  # of the four channels: the variance of a position is then one
CENTER, SPREAD = 2.0, 2.0  # score s is stored as (s - CENTER) / SPREAD
APART = -1.9  # the stored score of special tokens: they get next to no weight
MARKED = 0.5
CARRIED = 2.0  # how much of the attended evidence is added to the row of [CLS]
SLOPE, SCALE = 4.0, 3.0  # of the pooling layer's tanh, and of the logits
LONGEST = 40


def write_transformer(folder: Path, lexicon: Lexicon, labels: Sequence[str]) -> None:
    """Write configuration, weights and tokenizer of the planted model."""
    folder.mkdir(parents=True, exist_ok=True)
    words = (*SPECIAL, *lexicon.words)
    write_tensors(folder / "model.safetensors", _weights(_embeddings(lexicon)))
    for name, content in {
        "config.json": _config(len(words), labels),
        "tokenizer.json": _tokenizer(words),
        "tokenizer_config.json": _tokenizer_config(),
    }.items():
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")


def _embeddings(lexicon: Lexicon) -> Tensor:
    """(V, 4): the channels of special tokens and words."""
    first = len(lexicon.vocabulary) - len(lexicon.words)
    evidence = lexicon.evidence[first:, 0] / CUE[1]
    scores = (lexicon.scores[first:] - CENTER) / SPREAD
    channels = torch.zeros(len(SPECIAL) + len(lexicon.words), 4, dtype=torch.float64)
    channels[len(SPECIAL) :, EVIDENCE] = evidence
    channels[len(SPECIAL) :, SCORE] = scores
    channels[: len(SPECIAL), SCORE] = APART
    channels[SPECIAL.index("[CLS]"), MARK] = MARKED
    rest = NORM - channels.square().sum(1)
    assert bool((rest >= 0).all()), "a channel is larger than the norm of an embedding"
    channels[:, FILLER] = rest.sqrt()
    return channels


def _weights(channels: Tensor) -> dict[str, Tensor]:
    zeros: dict[str, tuple[int, ...]] = {
        "bert.embeddings.position_embeddings.weight": (LONGEST, HIDDEN),
        "bert.embeddings.token_type_embeddings.weight": (2, HIDDEN),
    }
    norms = ["bert.embeddings.LayerNorm"]
    for layer in range(LAYERS):
        place = f"bert.encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            zeros |= _linear(f"{place}.attention.{part}", HIDDEN, HIDDEN)
        zeros |= _linear(f"{place}.intermediate.dense", HIDDEN, HIDDEN)
        zeros |= _linear(f"{place}.output.dense", HIDDEN, HIDDEN)
        norms += [f"{place}.attention.output.LayerNorm", f"{place}.output.LayerNorm"]
    zeros |= _linear("bert.pooler.dense", HIDDEN, HIDDEN)
    zeros |= _linear("classifier", HIDDEN, 2)
    weights = {name: torch.zeros(shape) for name, shape in zeros.items()}
    for name in norms:
        weights |= {f"{name}.weight": torch.ones(HIDDEN), f"{name}.bias": torch.zeros(HIDDEN)}
    pairs = torch.stack([channels, -channels], 2).flatten(1)  # channel c at 2c and 2c + 1
    weights["bert.embeddings.word_embeddings.weight"] = pairs.float()
    _plant(weights)
    return weights


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _plant(weights: dict[str, Tensor]) -> None:
    """Set the weights of the site, of the decoys and of the classifier."""
    scale = HEAD_SIZE**0.5
    for layer in range(LAYERS):
        place = f"bert.encoder.layer.{layer}.attention"
        for head in range(HEADS):
            unit = head * HEAD_SIZE
            planted = (layer, head) == (LAYER, HEAD)
            # Decoys attend by the evidence instead, in either direction.
            channel = SCORE if planted else EVIDENCE
            strength = SPREAD if planted else (3.0 if head else -3.0)
            weights[f"{place}.self.query.bias"][unit] = strength * scale
            _read(weights[f"{place}.self.key.weight"][unit], channel)
    site = f"bert.encoder.layer.{LAYER}.attention"
    unit = HEAD * HEAD_SIZE
    _read(weights[f"{site}.self.value.weight"][unit], EVIDENCE)
    weights[f"{site}.output.dense.weight"][2 * EVIDENCE, unit] = CARRIED
    weights[f"{site}.output.dense.weight"][2 * EVIDENCE + 1, unit] = -CARRIED
    _read(weights["bert.pooler.dense.weight"][0], EVIDENCE)
    weights["bert.pooler.dense.weight"][0] *= SLOPE
    weights["classifier.weight"][0, 0], weights["classifier.weight"][1, 0] = -SCALE, SCALE


def _read(row: Tensor, channel: int) -> None:
    """Let a row of a weight matrix read a channel."""
    row[2 * channel], row[2 * channel + 1] = 0.5, -0.5


def _config(words: int, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "vocab_size": words,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": HIDDEN,
        "max_position_embeddings": LONGEST,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "pad_token_id": SPECIAL.index("[PAD]"),
        "id2label": {str(number): label for number, label in enumerate(labels)},
        "label2id": {label: number for number, label in enumerate(labels)},
    }


def _tokenizer(words: Sequence[str]) -> dict[str, Any]:
    """Words are cut at blanks and stand between [CLS] and [SEP]."""
    added = [
        {
            "id": number,
            "content": token,
            "special": True,
            **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
        }
        for number, token in enumerate(SPECIAL)
    ]
    cls, sep = ({"SpecialToken": {"id": token, "type_id": 0}} for token in ("[CLS]", "[SEP]"))
    known = {
        token: {"id": token, "ids": [SPECIAL.index(token)], "tokens": [token]}
        for token in ("[CLS]", "[SEP]")
    }
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in ("A", "B"))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [cls, first, sep],
            "pair": [cls, first, sep, second, sep],
            "special_tokens": known,
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(words)},
            "unk_token": "[UNK]",
        },
    }


def _tokenizer_config() -> dict[str, Any]:
    roles = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": LONGEST,
        **dict(zip(roles, SPECIAL, strict=True)),
    }
