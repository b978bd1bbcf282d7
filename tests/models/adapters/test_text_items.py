"""Tests of words and sub-words, with `tokenizer(text)` as the oracle."""

import pytest
import torch

from assay.data.batches import Batch, EncodedSplit
from assay.data.corpus import Document
from assay.data.vocabulary import UNKNOWN
from assay.errors import UserError
from assay.models.adapters.text_items import VARIANT, TextItems
from tests.builders.tiny_transformers import (
    TEXTS,
    byte_pairs,
    sentence_pieces,
    spaceless_pairs,
    word_pieces,
)

TOKENIZERS = {
    "word pieces": word_pieces,
    "byte pairs": byte_pairs,
    "sentence pieces": sentence_pieces,
    "byte pairs of whole texts": spaceless_pairs,
}
DIFFICULT = (
    "  Two  spaces,   three \n and a line ",
    "naïve café 🤗 ok",
    "one <mask> two <pad> three",
    "don't!?",
    "x",
    "unwatchable" * 3,
)


def items_of(tokenizer) -> TextItems:
    return TextItems(tokenizer, 200, pad=tokenizer.pad_token_id)


def batch_of(items: TextItems, documents) -> Batch:
    plain = [Document(str(row), words, 0) for row, words in enumerate(documents)]
    return EncodedSplit.encode(plain, items.vocabulary, 2).batch(range(len(plain)))


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("split", [False, True], ids=["texts", "token lists"])
def test_ids_are_those_of_the_tokenizer(name, left, split):
    tokenizer = TOKENIZERS[name]()
    items = items_of(tokenizer)
    texts = [*TEXTS, *DIFFICULT]
    given = [text.split() for text in texts] if split else texts
    read = items.read(given)
    batch = batch_of(items, read.documents)
    positions = items.table.positions(batch.items, batch.mask, left=left)
    assert read.rows == list(range(len(texts)))
    for row, text in enumerate(given):
        plain = " ".join(text) if split else text
        assert positions.ids[row][positions.mask[row]].tolist() == tokenizer(plain)["input_ids"]
    lengths = items.table.lengths(batch.items, batch.mask)
    assert lengths.tolist() == positions.mask.sum(1).tolist()


def test_words_of_word_pieces_are_words_and_punctuation():
    words = [word for word, _ in items_of(word_pieces()).words(TEXTS[0])]
    assert words == ["The", "film", "is", "unwatchable", ",", "don", "'", "t", "see", "it", "!"]


def test_a_leading_space_belongs_to_the_word_of_byte_pairs():
    words = [word for word, _ in items_of(byte_pairs()).words("good film, good")]
    assert words == ["good", " film", ",", " good"]


def test_words_are_divided_at_spaces_where_the_tokenizer_knows_no_words():
    words = [word for word, _ in items_of(spaceless_pairs()).words("a good film")]
    assert words == ["a", "good", "film"]


@pytest.mark.parametrize("make", TOKENIZERS.values(), ids=TOKENIZERS)
def test_given_tokens_stay_as_they_are(make):
    tokens = ["good-film", "is", "un.watch", "able"]
    words = [word.strip() for word, _ in items_of(make()).words(tokens)]
    assert words == tokens


def test_words_that_look_alike_but_have_other_ids_are_different_words():
    items = items_of(byte_pairs())
    ((first, second),) = items.read(["film  film"]).documents
    assert (first, second) == ("film", " film")
    ((_, third),) = items.read(["film film"]).documents
    assert third == f" film{VARIANT}"
    assert items.read(["film  film"]).documents == [(first, second)]


def test_special_names_in_a_text_are_ordinary_items():
    items = items_of(word_pieces())
    read = items.read(["good <pad> film <unk>"])
    batch = batch_of(items, read.documents)
    assert bool((batch.items > UNKNOWN).all())


def test_texts_are_cut_after_the_last_word_that_fits():
    tokenizer = word_pieces()
    items = TextItems(tokenizer, 8, pad=tokenizer.pad_token_id)
    read = items.read(["good good good", "good " * 9, "the unwatchable unwatchable film", ""])
    assert read.documents[0] == ("good",) * 3
    assert read.documents[1] == ("good",) * 6
    assert read.rows == [0, 1, 2]
    assert (read.truncated, read.lost) == (2, 3 + 4 - len(read.documents[2]))
    batch = batch_of(items, read.documents)
    assert int(items.table.lengths(batch.items, batch.mask).max()) <= 8


def test_a_first_word_that_is_too_long_is_cut_itself():
    tokenizer = word_pieces()
    items = TextItems(tokenizer, 5, pad=tokenizer.pad_token_id)
    (document,) = items.read(["unwatchable" * 4]).documents
    batch = batch_of(items, [document])
    assert items.table.lengths(batch.items, batch.mask).tolist() == [5]


def test_a_masked_item_is_one_mask_token():
    tokenizer = word_pieces()
    items = items_of(tokenizer)
    batch = batch_of(items, items.read(["good film"]).documents)
    batch.items[0, 1] = UNKNOWN
    ids = items.table.positions(batch.items, batch.mask).ids
    assert ids[0, 2:].tolist() == [tokenizer.mask_token_id, tokenizer.sep_token_id]


def test_special_tokens_stand_apart_by_name():
    items = items_of(word_pieces())
    batch = batch_of(items, items.read(["good film", "film"]).documents)
    positions = items.table.positions(batch.items, batch.mask)
    apart = positions.layout.apart
    assert apart["[CLS]"].nonzero().tolist() == [[0, 0], [1, 0]]
    assert apart["[SEP]"].nonzero()[:, 1].tolist() == positions.last.tolist()


def test_a_document_without_items_has_its_special_tokens_alone():
    items = items_of(word_pieces())
    batch = batch_of(items, items.read(["film"]).documents).without(0)
    positions = items.table.positions(batch.items, batch.mask)
    assert positions.ids.tolist() == [[*items.prefix, *items.suffix]]
    bare = items_of(byte_pairs())
    batch = batch_of(bare, bare.read(["x"]).documents).without(0)
    assert bare.table.positions(batch.items, batch.mask).mask.tolist() == [[False]]


def test_embeddings_of_items_are_those_of_their_positions():
    items = items_of(word_pieces())
    batch = batch_of(items, items.read(TEXTS).documents)
    positions = items.table.positions(batch.items, batch.mask)
    values = torch.randn(*positions.ids.shape, 3)
    joined = positions.to_items(values)
    assert joined.shape[:2] == batch.items.shape
    assert not bool(joined[~batch.mask].any())
    assert torch.equal(positions.to_positions(joined, values), values)


def test_a_tokenizer_without_offsets_is_refused():
    class Slow:
        is_fast = False

    with pytest.raises(UserError, match=r"Slow does not report the offsets.*use_fast=True"):
        TextItems(Slow(), 10, pad=0)
