"""Documents of which some items are masked, or only some are kept, by their importance.

ROAR (Hooker et al. 2019) masks the most important items of every document and trains again; FRESH
(Jain et al. 2020) keeps these alone. All splits are changed alike, so a model is tested on the same
kind of documents that it was trained on. A masked item becomes the unknown word and the document
keeps its length; items that are not kept are deleted.

The importance comes from another model. If that model was itself trained on masked documents, its
masked items stay masked and its importance orders the others: that is Recursive ROAR (Madsen et al.
2022). Items of equal importance, and all items where the importance is random, stand in an order
that depends on the document and the seed alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from assay.data.corpus import Corpus, Document
from assay.data.files import read_parquet
from assay.data.vocabulary import SPECIALS, UNKNOWN
from assay.statistics.keyed_random import document_keys, uniform
from assay.statistics.ranking import descending_order
from assay.training.specs import SPLITS, ErasedItems, ModelSpec

MASK = SPECIALS[UNKNOWN]
MASKED = "masked"  # the column with 1 for a masked item, else 0
Order = np.ndarray  # (n,) the items of a document, most important first


def erased_corpus(
    erased: ErasedItems, corpus: Corpus, folders: Mapping[ModelSpec, Path], seed: int
) -> Corpus:
    """The corpus with the items of every document masked or kept.

    `folders` hold the predictions of the model that the importance comes from.
    """
    train, dev, test = (
        tuple(_changed_split(erased, name, getattr(corpus, name), folders, seed)) for name in SPLITS
    )
    return replace(corpus, train=train, dev=dev, test=test)


def masked_items(documents: Sequence[Document]) -> pl.Series:
    """Which items of documents are masked: one list of zeros and ones per document."""
    lists = [[float(token == MASK) for token in document.tokens] for document in documents]
    return pl.Series(MASKED, lists, dtype=pl.List(pl.Float64))


def _changed_split(
    erased: ErasedItems,
    split: str,
    documents: Sequence[Document],
    folders: Mapping[ModelSpec, Path],
    seed: int,
) -> list[Document]:
    orders = importance_orders(erased, split, documents, folders, seed)
    change = keep_items if erased.keep else mask_items
    return [
        change(document, order[: item_count(erased, len(order))])
        for document, order in zip(documents, orders, strict=True)
    ]


def item_count(erased: ErasedItems, items: int) -> int:
    """How many items are masked (rounded up) or kept (rounded up: at least one)."""
    return int(np.ceil(round(erased.share * items, 9)))


def importance_orders(
    erased: ErasedItems,
    split: str,
    documents: Sequence[Document],
    folders: Mapping[ModelSpec, Path],
    seed: int,
) -> list[Order]:
    """The items of each document: those that are masked already, then the most important ones."""
    keys = document_keys([document.id for document in documents], seed, "erased items")
    lots = [uniform(keys[row : row + 1], len(d.tokens)) for row, d in enumerate(documents)]
    if erased.of is None:
        return [np.argsort(lot[0], kind="stable") for lot in lots]
    frame = read_parquet(folders[erased.of] / f"{split}.parquet")
    scores = frame[erased.score].to_list()
    before = frame[MASKED].to_list() if MASKED in frame.columns else [None] * len(scores)
    return [
        important_first(np.array(score), lot, None if masked is None else np.array(masked) > 0)
        for score, lot, masked in zip(scores, lots, before, strict=True)
    ]


def important_first(score: np.ndarray, lot: np.ndarray, masked: np.ndarray | None = None) -> Order:
    """The items of a document, masked ones first, then by descending importance."""
    everywhere = np.ones((1, len(score)), dtype=bool)
    order: Order = descending_order(np.abs(score)[None], everywhere, lot)[0]
    if masked is None:
        return order
    return np.concatenate([order[masked[order]], order[~masked[order]]])


def mask_items(document: Document, places: np.ndarray) -> Document:
    """The document with the unknown word in these places; a sentence of it, if items are those."""
    hidden = set(places.tolist())
    tokens = tuple(MASK if i in hidden else token for i, token in enumerate(document.tokens))
    words = document.words
    if words is not None:
        words = tuple((MASK,) if i in hidden else own for i, own in enumerate(words))
    return replace(document, tokens=tokens, words=words)


def with_masked_copies(documents: Sequence[Document], seed: int) -> list[Document]:
    """The documents, and one copy of each in which a random share of the items is masked.

    The share is drawn for each document, evenly from none to all, so that a model that learns from
    the copies has seen texts with any number of masked items.
    """
    keys = document_keys([document.id for document in documents], seed, "masked copies")
    shares = uniform(keys, 1)[:, 0]
    copies = []
    for row, document in enumerate(documents):
        lots = uniform(keys[row : row + 1], 2, len(document.tokens))[0, 1]
        copy = mask_items(document, np.flatnonzero(lots < shares[row]))
        copies.append(replace(copy, id=f"{document.id} with masked items"))
    return [*documents, *copies]


def keep_items(document: Document, places: np.ndarray) -> Document:
    """The document with these items alone, in the order of the text."""
    kept = sorted(places.tolist())
    marks, words = document.rationale, document.words
    return replace(
        document,
        tokens=tuple(document.tokens[i] for i in kept),
        rationale=None if marks is None else tuple(marks[i] for i in kept),
        words=None if words is None else tuple(words[i] for i in kept),
    )
