"""What does a trained model say of a split, and how is that kept?"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch.nn.utils.rnn import pad_sequence

from assay.batches import EncodedSplit, evaluation_batches
from assay.corpora.corpus import Document
from assay.lessons import Looked
from assay.models import Network
from assay.models.view import View
from assay.scores.leave_one_out import leave_one_out
from assay.training import EVALUATION_CELLS

LOOK_PAIRS = 150_000  # squared items per batch, where every item is deleted once


def look(model: Network, split: EncodedSplit, *, deletions: bool = False) -> pl.DataFrame:
    """A row per document: label, probabilities, attention and, if asked, leave-one-out."""
    device = next(model.parameters()).device
    cells, power = (LOOK_PAIRS, 2) if deletions else (EVALUATION_CELLS, 1)
    cuts = evaluation_batches(split.lengths, cells, power)
    seen = [_seen(View(model, split.batch(rows.tolist()).to(device)), deletions) for rows in cuts]
    return pl.concat(seen)[np.argsort(np.concatenate(cuts), kind="stable")]


def _seen(view: View, deletions: bool) -> pl.DataFrame:
    lengths = view.batch.lengths.tolist()
    columns = {"attention": view.weights.double()}
    if deletions:
        columns["leave_one_out"] = leave_one_out(view)
    lists = {
        name: pl.Series([row[:n] for row, n in zip(values.tolist(), lengths, strict=True)],
                        dtype=pl.List(pl.Float64))
        for name, values in columns.items()
    }  # fmt: skip
    return pl.DataFrame({"id": view.batch.ids, "label": view.batch.labels.tolist(),
                         "probabilities": view.probabilities.tolist(), **lists})  # fmt: skip


def read_look(path: Path) -> Looked:
    frame = pl.read_parquet(path)
    return Looked(
        tuple(frame["id"]),
        frame["label"].to_numpy(),
        np.array(frame["probabilities"].to_list()),
        padded(frame["attention"]),
    )


def padded(lists: pl.Series) -> np.ndarray:
    """(N, T), zero behind each list's end."""
    tensors = [torch.tensor(values, dtype=torch.float64) for values in lists.to_list()]
    matrix: np.ndarray = pad_sequence(tensors, batch_first=True).numpy()
    return matrix


def without_marked(documents: Sequence[Document]) -> list[Document]:
    """Documents without the items that are marked in them; what has no other item is left out."""
    return [
        replace(document, tokens=rest, rationale=None)
        for document in documents
        if document.rationale is not None
        and (rest := tuple(t for t, m in zip(document.tokens, document.rationale, strict=True)
                           if not m))
    ]  # fmt: skip
