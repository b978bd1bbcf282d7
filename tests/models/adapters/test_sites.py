"""Tests of how the tap finds attention in a module, and of the errors one meets."""

import pytest
import torch
from torch import Tensor, nn

from assay.data.batches import Batch, EncodedSplit
from assay.data.vocabulary import UNKNOWN
from assay.errors import UserError
from assay.models.adapters.torch_module import TappedModule, tap
from tests.builders.torch_modules import (
    CLASSES,
    WORDS,
    HandWritten,
    Pooling,
    ids_and_mask,
    tapped,
    texts,
)

LENGTHS = (6, 3, 9, 1, 4)


def batch_of(model: TappedModule, lengths=LENGTHS, seed: int = 0) -> Batch:
    corpus = model.corpus(texts(lengths, seed))
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(model.classes))
    return split.batch(range(len(lengths)))


def test_the_sites_of_a_module_are_listed_with_their_axes():
    listed = str(tap(tapped("encoder").module, ids_and_mask, words=WORDS).sites(texts((5, 3))))
    assert listed.splitlines()[1] == (
        "1: MultiheadAttention in encoder.layers.1.self_attn, shape (2, 2, 6, 6) "
        "(documents, heads, queries, items), rows sum to one"
    )
    log = tap(tapped("log pooling").module, ids_and_mask, words=WORDS).sites(texts((5, 3)))
    assert [one.axes is None for one in log] == [False, True]
    assert "(not over the items: it does not grow with the documents' length)" in str(log)


def test_axes_are_found_although_all_sizes_are_equal():
    """Two documents of two items in two heads: only growth tells the axes apart."""
    for style, names in {
        "folded": ("documents x heads", "queries", "items"),
        "sdpa": ("documents", "heads", "queries", "items"),
        "bahdanau": ("documents", "items", "heads"),
    }.items():
        (seen,) = tapped(style).sites(texts((2, 2)))
        assert seen.axes.names == names


class Plain(nn.Module):
    """Averages word vectors: there is no attention in it."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.embedding(ids).mean(1)


class OverClasses(Plain):
    """The only softmax is that of the classes."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return torch.softmax(super().forward(ids, mask), -1)


class OneByOne(Pooling):
    """Reads the documents of a batch one after another."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        forward = super().forward
        return torch.cat([forward(ids[row, None], mask[row, None]) for row in range(len(ids))])


class Alternating(Pooling):
    """Takes a softmax over other scores first, for long documents only."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        if ids.shape[1] > 4:
            nn.Softmax(-1)(self.context)
        return super().forward(ids, mask)


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        (Plain, {}, r"no attention was seen in the forward pass of Plain.*torch\.softmax"),
        (OverClasses, {}, r"no attention over the items.*\n0: softmax"),
        (OneByOne, {}, r"pass all documents of a batch.*\n0: softmax.*one document at a time"),
        (Alternating, {"site": 0}, "site=0 is no attention over the items of Alternating"),
        (Pooling, {"site": 3}, r"site=3 is no attention.*choose one of 0"),
        (Pooling, {"site": "encoder"}, "site='encoder' fits 0 attention computations"),
        (Pooling, {"before": ["[CLS]"]}, "has 9 positions where.* 9 items and 1 positions"),
        (Pooling, {"heads": 1}, "heads=1 is not possible: the layer has 1 heads"),
        (HandWritten, {"query": 5}, r"query=5.*only 1 positions"),
        (Pooling, {"call": lambda module, ids, mask: (module(ids, mask),)}, "returned tuple"),
        (Pooling, {"call": lambda module, ids, mask: module(ids, mask).T}, r"shape \(3, 1\)"),
        (Pooling, {"words": dict(list(WORDS.items())[:6])}, "a word that is not in `words`"),
    ],
)
def test_a_mistake_is_a_sentence_with_the_cure(module, options, message):
    given = {"call": ids_and_mask, "classes": CLASSES, "words": WORDS, **options}
    model = tap(module().eval(), **given)
    with pytest.raises(UserError, match=f"(?s){message}"):
        model.encode(batch_of(model))


def test_attention_that_is_not_where_it_was_is_an_error():
    model = tap(Alternating().eval(), ids_and_mask, classes=CLASSES, words=WORDS, unknown=1)
    model.encode(batch_of(model, (4, 3)))
    with pytest.raises(UserError, match=r"was not met with 2 documents.*same order for every"):
        model.encode(batch_of(model, (6, 3)))


def test_two_attentions_need_a_choice():
    model = tapped("encoder", site=None)
    with pytest.raises(UserError, match=r"(?s)2 times in a forward pass: choose one with `site`"):
        model.encode(batch_of(model))


def test_words_may_be_a_list_in_the_order_of_the_indices():
    one = tapped("pooling")
    other = tapped("pooling", words=list(WORDS))
    torch.testing.assert_close(
        one.untouched_logits(batch_of(one)), other.untouched_logits(batch_of(other))
    )
    assert one.words == other.words == tuple(word for word in WORDS if word.startswith("word"))


def test_the_index_of_unknown_words_is_told():
    assert tap(Plain(), classes=CLASSES, words=WORDS, unknown=1).unknown == 1
    assert tap(Plain(), classes=CLASSES, words=WORDS).unknown is None
    assert tap(Plain(), classes=CLASSES).unknown == UNKNOWN


@pytest.mark.slow
def test_a_compiled_module_is_run_as_it_was_written():
    model = tapped("pooling")
    batch = batch_of(model)
    compiled = torch.compile(model.module, backend="eager")
    other = tap(compiled, ids_and_mask, classes=CLASSES, words=WORDS, unknown=1)
    states, same = model.encode(batch), other.encode(batch)
    assert torch.equal(model.attend(states), other.attend(same))
    uniform = batch.mask / batch.mask.sum(1, keepdim=True)
    assert torch.equal(model.decode(states, uniform), other.decode(same, uniform))
