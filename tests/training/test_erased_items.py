"""Tests of documents with masked or kept items."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.data.corpus import Corpus, Document
from assay.training.erased_items import (
    MASK,
    erased_corpus,
    important_first,
    item_count,
    keep_items,
    mask_items,
    masked_items,
    with_masked_copies,
)
from assay.training.specs import BaseModelSpec, ErasedItems
from tests.builders.small_models import corpus as toy_corpus

TEXT = Document("d", ("a", "b", "c", "d"), 1, rationale=(True, False, False, True))
NO_LOTS = np.zeros((1, 4))


def scored(folder: Path, corpus: Corpus, **columns: object) -> Path:
    """Predictions whose importance is the place in the document: the last item matters most."""
    folder.mkdir()
    for name in ("train", "dev", "test"):
        documents = getattr(corpus, name)
        lists = [[float(i) for i in range(len(d.tokens))] for d in documents]
        pl.DataFrame({"id": [d.id for d in documents], "attention": lists}).write_parquet(
            folder / f"{name}.parquet"
        )
    return folder


def test_masking_and_keeping_by_hand():
    places = np.array([3, 0])
    assert mask_items(TEXT, places).tokens == (MASK, "b", "c", MASK)
    kept = keep_items(TEXT, places)
    assert (kept.tokens, kept.rationale) == (("a", "d"), (True, True))
    nested = replace(TEXT, words=(("a", "a"), ("b",), ("c",), ("d",)))
    assert mask_items(nested, places).words == ((MASK,), ("b",), ("c",), (MASK,))
    assert keep_items(nested, places).words == (("a", "a"), ("d",))


@pytest.mark.parametrize(("share", "items", "count"), [(0.1, 10, 1), (0.1, 11, 2), (1.0, 7, 7)])
def test_shares_are_rounded_up(share: float, items: int, count: int):
    assert item_count(ErasedItems(share), items) == count
    assert item_count(ErasedItems(0.3), 10) == 3  # 0.3 * 10 is 3.0000000000000004 in floats


def test_masked_items_come_first_and_then_the_most_important_ones():
    score = np.array([0.1, 0.4, 0.2, 0.3])
    assert important_first(score, NO_LOTS).tolist() == [1, 3, 2, 0]
    assert important_first(-score, NO_LOTS).tolist() == [1, 3, 2, 0]  # the sign does not matter
    masked = np.array([True, False, False, True])
    assert important_first(score, NO_LOTS, masked).tolist() == [3, 0, 1, 2]


def test_every_split_loses_the_items_that_the_model_finds_important(tmp_path: Path):
    corpus, base = toy_corpus(40), BaseModelSpec()
    folders = {base: scored(tmp_path / "base", corpus)}
    found = erased_corpus(ErasedItems(0.25, of=base), corpus, folders, seed=0)
    for name in ("train", "dev", "test"):
        for before, after in zip(getattr(corpus, name), getattr(found, name), strict=True):
            masked = -(-len(before.tokens) // 4)
            assert after.tokens == (*before.tokens[:-masked], *[MASK] * masked)
            assert (after.id, after.label) == (before.id, before.label)
    alone = erased_corpus(ErasedItems(0.25, keep=True, of=base), corpus, folders, seed=0)
    first = corpus.test[0].tokens
    assert alone.test[0].tokens == first[len(first) - -(-len(first) // 4) :]


def test_random_items_depend_on_the_document_and_the_seed_and_are_nested():
    corpus = toy_corpus(40)
    small, large, other = (
        masked_items(erased_corpus(ErasedItems(share), corpus, {}, seed).test).to_list()
        for share, seed in ((0.2, 0), (0.6, 0), (0.2, 1))
    )
    assert small != other
    for few, many in zip(small, large, strict=True):
        assert all(b >= a for a, b in zip(few, many, strict=True))
        assert sum(many) > sum(few)
    fewer = replace(corpus, test=corpus.test[3:4])
    alone = masked_items(erased_corpus(ErasedItems(0.2), fewer, {}, 0).test).to_list()
    assert alone == small[3:4]


def test_with_all_items_masked_nothing_is_left_to_tell_documents_apart():
    found = erased_corpus(ErasedItems(1.0), toy_corpus(40), {}, seed=0)
    assert {token for document in found.train for token in document.tokens} == {MASK}


def test_every_document_gets_one_copy_with_a_random_share_masked():
    documents = toy_corpus(200).train
    found = with_masked_copies(documents, seed=0)
    assert tuple(found[: len(documents)]) == documents
    copies = found[len(documents) :]
    assert len({document.id for document in found}) == 2 * len(documents)
    shares = []
    for before, after in zip(documents, copies, strict=True):
        assert after.label == before.label
        assert all(a in (b, MASK) for a, b in zip(after.tokens, before.tokens, strict=True))
        shares.append(sum(token == MASK for token in after.tokens) / len(after.tokens))
    # Evenly from none to all: the mean is a half, the standard deviation that of a wide spread.
    assert np.mean(shares) == pytest.approx(0.5, abs=0.08)
    assert np.std(shares) > 0.25
    assert with_masked_copies(documents[3:4], seed=0)[1] == copies[3]
