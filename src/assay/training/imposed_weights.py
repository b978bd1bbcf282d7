"""Which weights is a guided model given, document by document?

Every kind of weights is made for train, dev and test alike, so that what is learnt under them
is also tested under them.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor

from assay.data.corpus import Corpus, Document
from assay.statistics.keyed_random import document_keys, permutations
from assay.training.specs import ImposedWeights, ModelSpec

SPLITS = ("train", "dev", "test")
Weights = list[Tensor]  # per document, each sums to one


def imposed_weights(
    guide: ImposedWeights, corpus: Corpus, places: Mapping[ModelSpec, Path], seed: int
) -> dict[str, Weights]:
    """Split -> weights; `places` are the folders of the models the guide is made from."""
    documents = {name: getattr(corpus, name) for name in SPLITS}
    if guide.kind == "tf-idf":
        rarity = inverse_frequencies(corpus.train)
        return {name: [tf_idf(d, rarity) for d in held] for name, held in documents.items()}
    if guide.kind == "other half":
        return {name: _from_other_half(held, [places[one] for one in guide.of], name)
                for name, held in documents.items()}  # fmt: skip
    column = "leave_one_out" if guide.kind == "leave_one_out" else "attention"
    given = {name: _column(places[guide.of[0]], name, column) for name in SPLITS}
    if guide.kind == "permuted":
        return {name: _permuted(held, given[name], seed) for name, held in documents.items()}
    return {name: [normalized(weights) for weights in lists] for name, lists in given.items()}


def halves(documents: Sequence[Document]) -> dict[str, int]:
    """Id -> 0 or 1: two halves, equal in size and in classes, drawn by the ids."""
    order = sorted(documents, key=lambda d: (d.label, hashlib.sha256(d.id.encode()).digest()))
    return {document.id: place % 2 for place, document in enumerate(order)}


def inverse_frequencies(documents: Sequence[Document]) -> dict[str, float]:
    """Word -> log((1 + documents) / (1 + documents that have it)) + 1."""
    holding = Counter(word for document in documents for word in set(document.tokens))
    total = np.log1p(len(documents))
    return {word: float(total - np.log1p(number) + 1) for word, number in holding.items()}


def tf_idf(document: Document, rarity: Mapping[str, float]) -> Tensor:
    """A word no training document has is as rare as one that a single document has."""
    rarest = max(rarity.values())
    here = Counter(document.tokens)
    return normalized([here[word] * rarity.get(word, rarest) for word in document.tokens])


def normalized(values: Sequence[float]) -> Tensor:
    """Shares of the sum; the same for all where the sum is nothing."""
    weights = torch.tensor(values, dtype=torch.float64)
    total = weights.sum()
    return (weights / total if total > 0 else torch.full_like(weights, 1 / len(weights))).float()


def _column(place: Path, split: str, column: str) -> list[list[float]]:
    lists: list[list[float]] = pl.read_parquet(place / f"{split}.parquet")[column].to_list()
    return lists


def _permuted(documents: Sequence[Document], given: list[list[float]], seed: int) -> Weights:
    keys = document_keys([document.id for document in documents], seed, "guide")
    shuffled = []
    for row, weights in enumerate(given):
        order = permutations(keys[row : row + 1], np.ones((1, len(weights)), dtype=bool), 1)[0, 0]
        shuffled.append(normalized([weights[place] for place in order]))
    return shuffled


def _from_other_half(documents: Sequence[Document], places: list[Path], split: str) -> Weights:
    """From the model that was not trained on the document's half."""
    given = [_column(place, split, "attention") for place in places]
    half = halves(documents)
    return [normalized(given[1 - half[d.id]][row]) for row, d in enumerate(documents)]
