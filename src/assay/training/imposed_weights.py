"""Weights that are imposed on a model instead of learned attention, document by document.

Each kind of weights is made for train, dev and test alike, so a model is tested under the same
kind of weights that it was trained with.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from assay.data.corpus import Corpus, Document
from assay.data.files import read_parquet
from assay.statistics.keyed_random import document_keys, permutations
from assay.training.specs import SPLITS, ImposedWeights, ModelSpec

Weights = list[Tensor]  # per document; each sums to one


def imposed_weights(
    imposed: ImposedWeights, corpus: Corpus, folders: Mapping[ModelSpec, Path], seed: int
) -> dict[str, Weights]:
    """Weights by split; `folders` hold the predictions of the models they are made from."""
    documents = {name: getattr(corpus, name) for name in SPLITS}
    if imposed.kind == "tf-idf":
        rarity = inverse_frequencies(corpus.train)
        return {name: [tf_idf(d, rarity) for d in split] for name, split in documents.items()}
    if imposed.kind in ("own half", "other half"):
        models = [folders[model] for model in imposed.of]
        seen = imposed.kind == "own half"
        return {
            name: _from_halves(split, models, name, seen and name == "train")
            for name, split in documents.items()
        }
    column = "leave_one_out" if imposed.kind == "leave_one_out" else "attention"
    lists = {name: _column(folders[imposed.of[0]], name, column) for name in SPLITS}
    if imposed.kind == "permuted":
        return {name: _permuted(split, lists[name], seed) for name, split in documents.items()}
    return {name: [normalized(values) for values in split] for name, split in lists.items()}


def halves(documents: Sequence[Document]) -> dict[str, int]:
    """Assign each document id to half 0 or 1, equal in size and classes, by a hash of the id."""
    order = sorted(documents, key=lambda d: (d.label, hashlib.sha256(d.id.encode()).digest()))
    return {document.id: place % 2 for place, document in enumerate(order)}


def of_half(documents: Sequence[Document], half: int | None) -> tuple[Document, ...]:
    """The documents that are assigned to a half; all if it is None."""
    if half is None:
        return tuple(documents)
    assigned = halves(documents)
    return tuple(document for document in documents if assigned[document.id] == half)


def inverse_frequencies(documents: Sequence[Document]) -> dict[str, float]:
    """Smoothed inverse document frequencies by word, as scikit-learn computes them."""
    counts = Counter(word for document in documents for word in set(document.tokens))
    rarities = np.log((1 + len(documents)) / (1 + np.array(list(counts.values())))) + 1
    return dict(zip(counts, rarities.tolist(), strict=True))


def tf_idf(document: Document, rarity: Mapping[str, float]) -> Tensor:
    """The TF-IDF weight of every item; an unseen word is as rare as the rarest training word."""
    rarest = max(rarity.values())
    counts = Counter(document.tokens)
    return normalized([counts[word] * rarity.get(word, rarest) for word in document.tokens])


def normalized(values: Sequence[float]) -> Tensor:
    """Values divided by their sum; uniform weights where the sum is zero."""
    weights = torch.tensor(values, dtype=torch.float64)
    total = weights.sum()
    return (weights / total if total > 0 else torch.full_like(weights, 1 / len(weights))).float()


def _column(folder: Path, split: str, column: str) -> list[list[float]]:
    lists: list[list[float]] = read_parquet(folder / f"{split}.parquet")[column].to_list()
    return lists


def _permuted(documents: Sequence[Document], lists: list[list[float]], seed: int) -> Weights:
    keys = document_keys([document.id for document in documents], seed, "guide")
    shuffled = []
    for row, weights in enumerate(lists):
        order = permutations(keys[row : row + 1], np.ones((1, len(weights)), dtype=bool), 1)[0, 0]
        shuffled.append(normalized([weights[place] for place in order]))
    return shuffled


def _from_halves(
    documents: Sequence[Document], folders: list[Path], split: str, own: bool
) -> Weights:
    """Attention of the model that was trained on the document's own half, or on the other half.

    Documents of dev and test are in neither model's training. They too are assigned to halves by
    their ids, so each gets the weights of one model, as the training documents do. The assignment
    is the same whichever half is asked for: two guides of the same models differ on train alone.
    """
    lists = [_column(folder, split, "attention") for folder in folders]
    half = halves(documents)
    model = {name: number if own else 1 - number for name, number in half.items()}
    return [normalized(lists[model[d.id]][row]) for row, d in enumerate(documents)]
