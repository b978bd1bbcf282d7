"""Predictions and attention of a trained model on a whole split, as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Document
from assay.data.files import read_parquet
from assay.models.classifier import Network
from assay.models.protocol import Model
from assay.models.view import View
from assay.training.loop import EVALUATION_CELLS
from assay.training.specs import Predictions

SCORED_PAIRS = 150_000  # squared items per batch where scores are computed: they grow that way
DESCRIBED = ("id", "label", "probabilities", "attention")  # columns; all others are scores
Scores = Mapping[str, Callable[[View], Tensor]]  # column -> (B, T) per batch


def predict_split(
    model: Model,
    split: EncodedSplit,
    scores: Scores | None = None,
    *,
    device: torch.device | str | None = None,
) -> pl.DataFrame:
    """One row per document: label, probabilities, attention and the scores asked for.

    `device` is where the model is; one of assay's own networks is asked.
    """
    if device is None:
        assert isinstance(model, Network)
        device = next(model.parameters()).device
    cells, power = (SCORED_PAIRS, 2) if scores else (EVALUATION_CELLS, 1)
    cuts = evaluation_batches(split.lengths, cells, power)
    views = (View(model, split.batch(rows.tolist()).to(device)) for rows in cuts)
    tables = [_predict_batch(view, scores or {}) for view in views]
    return pl.concat(tables)[np.argsort(np.concatenate(cuts), kind="stable")]


def _predict_batch(view: View, scores: Scores) -> pl.DataFrame:
    lengths = view.batch.lengths.tolist()
    columns = {"attention": view.weights.double()}
    columns |= {name: score(view) for name, score in scores.items()}
    lists = {
        name: pl.Series(
            [row[:n] for row, n in zip(values.tolist(), lengths, strict=True)],
            dtype=pl.List(pl.Float64),
        )
        for name, values in columns.items()
    }
    described = {
        "id": view.batch.ids,
        "label": view.batch.labels.tolist(),
        "probabilities": view.probabilities.tolist(),
    }
    return pl.DataFrame({**described, **lists})


def read_predictions(path: Path) -> Predictions:
    """The predictions that `predict_split` wrote as Parquet."""
    frame = read_parquet(path)
    scores = [name for name in frame.columns if name not in DESCRIBED]
    return Predictions(
        tuple(frame["id"]),
        frame["label"].to_numpy(),
        np.array(frame["probabilities"].to_list()),
        pad_lists(frame["attention"]),
        {name: pad_lists(frame[name]) for name in scores},
    )


def pad_lists(lists: pl.Series) -> np.ndarray:
    """Lists as one matrix (N, T), with zeros after the end of each list."""
    tensors = [torch.tensor(values, dtype=torch.float64) for values in lists.to_list()]
    matrix: np.ndarray = pad_sequence(tensors, batch_first=True).numpy()
    return matrix


def without_marked_items(documents: Sequence[Document]) -> list[Document]:
    """Documents without the items that are marked in them; what has no other item is left out."""
    return [
        replace(document, tokens=rest, rationale=None)
        for document in documents
        if document.rationale is not None
        and (
            rest := tuple(
                t for t, m in zip(document.tokens, document.rationale, strict=True) if not m
            )
        )
    ]
