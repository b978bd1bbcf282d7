"""Random transformers for the benchmark of attached models, and their plain loops.

A random model is an ordinary Hugging Face folder of a given size. Its tokenizer knows the frequent
words whole and cuts the others in two, so that items consist of one or two positions. The weights
are drawn wider than for training, so that the attention is not uniform and the predictions differ.

The plain loops are written as a user would write them without assay: the whole model runs once for
every change, and a registered attention function replaces one row of weights. They share no code
with the adapters. This is the only module of the benchmark that imports transformers.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.bench.captum_loops import ablate_each

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CLASSES = ("negative", "positive")
WHOLE_WORDS = 3_000  # the most frequent words are one position each
HEAD_LETTERS = 4  # where the other words are cut
SPREAD = 0.05  # standard deviation of the random weights
LONGEST = 512
NAME = "assay_bench"  # of the registered attention function


@dataclass(frozen=True)
class Size:
    """The size of a BERT-like encoder."""

    layers: int
    width: int
    heads: int


MINILM = Size(layers=6, width=384, heads=12)
BERT = Size(layers=12, width=768, heads=12)


def write_random_model(
    folder: Path, size: Size, documents: Sequence[Sequence[str]], seed: int
) -> Path:
    """Write a classifier with random weights and a tokenizer for these documents."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    vocabulary = sub_words(documents)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
        max_position_embeddings=LONGEST,
        initializer_range=SPREAD,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: number for number, name in enumerate(CLASSES)},
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        create: Any = BertForSequenceClassification
        model = create(config)
    model.save_pretrained(folder)
    BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder


def sub_words(documents: Sequence[Sequence[str]]) -> dict[str, int]:
    """The tokenizer's vocabulary: frequent words whole, the others as a head and a rest."""
    counted = Counter(word for words in documents for word in words)
    by_frequency = sorted(counted, key=lambda word: (-counted[word], word))
    pieces = list(by_frequency[:WHOLE_WORDS])
    for word in by_frequency[WHOLE_WORDS:]:
        pieces += [word[:HEAD_LETTERS], f"##{word[HEAD_LETTERS:]}"]
    found = [piece for piece in dict.fromkeys(pieces) if piece != "##"]
    return {piece: number for number, piece in enumerate((*SPECIALS, *found))}


class PlainClassifier:
    """A BERT classifier that always runs whole, on one document of words at a time."""

    def __init__(self, folder: Path) -> None:
        from transformers import (
            AttentionInterface,
            AutoModelForSequenceClassification,
            AutoTokenizer,
        )
        from transformers.masking_utils import AttentionMaskInterface, eager_mask
        from transformers.models.bert.modeling_bert import eager_attention_forward

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True
        ).eval()
        self.replaced: tuple[int, Tensor] | None = None  # layer, and the first row (H, S)
        self.seen: dict[int, Tensor] = {}  # layer -> its first row (H, S) in the last pass

        def attention(
            module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, **options: Any
        ) -> tuple[Tensor, Tensor]:
            output, weights = eager_attention_forward(module, query, key, value, mask, **options)
            self.seen[module.layer_idx] = weights[0, :, 0]
            if self.replaced is not None and self.replaced[0] == module.layer_idx:
                weights = weights.clone()
                weights[:, :, 0] = self.replaced[1]
                output = (weights @ value).transpose(1, 2).contiguous()
            return output, weights

        AttentionInterface.register(NAME, attention)
        AttentionMaskInterface.register(NAME, eager_mask)
        self.model.set_attn_implementation(NAME)

    @property
    def layers(self) -> int:
        """The number of layers."""
        return int(self.model.config.num_hidden_layers)

    @torch.no_grad()
    def probabilities(self, words: Sequence[str]) -> Tensor:
        """The class probabilities (C,) of a document."""
        inputs = self.tokenizer([list(words)], is_split_into_words=True, return_tensors="pt")
        logits: Tensor = self.model(**inputs).logits
        return logits[0].double().softmax(-1)

    def positions(self, words: Sequence[str]) -> list[list[int]]:
        """The positions of each word."""
        owners = self.tokenizer([list(words)], is_split_into_words=True).word_ids(0)
        return [[at for at, owner in enumerate(owners) if owner == i] for i in range(len(words))]


def permutation_loop(
    plain: PlainClassifier, words: Sequence[str], orders: NDArray[np.int64], layer: int
) -> NDArray[np.float64]:
    """(P,): the TVD of every permutation (P, T) of a row's weights, one whole pass for each."""
    before, own = plain.probabilities(words), plain.seen[layer].clone()
    positions = plain.positions(words)
    moved = []
    for order in orders:
        plain.replaced = (layer, permuted_row(own, positions, order))
        moved.append(0.5 * float((plain.probabilities(words) - before).abs().sum()))
    plain.replaced = None
    return np.array(moved)


def permuted_row(own: Tensor, positions: list[list[int]], order: NDArray[np.int64]) -> Tensor:
    """A row (H, S) in which item t has the weight of item order[t]; the rest stays.

    The weight of an item is the sum over its positions, and is divided over them as it was.
    """
    row = own.clone()
    totals = [own[:, at].sum(1) for at in positions]
    for item, at in enumerate(positions):
        row[:, at] = own[:, at] * (totals[order[item]] / totals[item])[:, None]
    return row


def deletion_loop(plain: PlainClassifier, words: Sequence[str], copies: int) -> Tensor:
    """(T,): the TVD of deleting each word, by captum's ablation of one word at a time."""
    before = plain.probabilities(words)

    def moved(present: Tensor) -> Tensor:
        kept = [[w for w, here in zip(words, row, strict=True) if here] for row in present.tolist()]
        inputs = plain.tokenizer(kept, is_split_into_words=True, padding=True, return_tensors="pt")
        after: Tensor = plain.model(**inputs).logits.double().softmax(-1)
        return 0.5 * (after - before).abs().sum(-1)

    return ablate_each(moved, len(words), copies)
