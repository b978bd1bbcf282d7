"""Quantities and rows that probes with several trained models share: quality and distance."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import torch

from assay.data.corpus import Corpus, Document
from assay.evidence import rows
from assay.probes.probe import Quantity
from assay.statistics import classification
from assay.statistics.divergence import jsd, tvd
from assay.training.specs import ModelOutputs, Predictions, TrainingBudget, TrainingSpec

F1 = Quantity(
    "f1",
    "F1 on the test documents: of the positive class, or the mean over three classes and more",
    ("mean_over_seeds",),
    unit="F1",
)
PREDICTION = Quantity("prediction", "the class each model predicts", ())
LABEL = Quantity("label", "the true class", ())
ACCURACY = Quantity(
    "accuracy", "share of test documents predicted correctly", ("mean_over_seeds",), unit="share"
)


def trained_again(budget: TrainingBudget, further: int) -> TrainingSpec:
    """The run's own network trained with other seeds; `further` 0 is the run's own seed."""
    return TrainingSpec(budget.seed + further, budget.seed + further)


def f1(predictions: Predictions, corpus: Corpus) -> float:
    """F1 of the second of two classes, or the mean over all classes."""
    answers = predictions.labels, predictions.predictions
    return classification.f1(*answers, 1) if corpus.binary else classification.macro_f1(*answers)


def accuracy(predictions: Predictions) -> float:
    return float((predictions.labels == predictions.predictions).mean())


def goodness(outputs: ModelOutputs, corpus: Corpus, group: str, seed: int) -> list[pl.DataFrame]:
    """F1, accuracy and predictions of a model on test."""
    test = outputs.test
    return [
        whole("f1", f1(test, corpus), group, seed),
        whole("accuracy", accuracy(test), group, seed),
        rows(test.ids, "prediction", test.predictions, group=group, seed=seed),
    ]


def labels(predictions: Predictions) -> pl.DataFrame:
    """The true classes, without which F1 cannot be resampled."""
    return rows(predictions.ids, "label", predictions.labels)


def whole(quantity: str, value: float, group: str | None, seed: int) -> pl.DataFrame:
    """A row for one number of a whole model."""
    return rows([None], quantity, np.array([value]), group=group, seed=seed)


def item_mask(documents: Sequence[Document]) -> np.ndarray:
    """(N, T): True where a document has an item, as the rows of `Predictions.attention`."""
    lengths = np.array([len(document.tokens) for document in documents])
    mask: np.ndarray = np.arange(lengths.max(initial=0)) < lengths[:, None]
    return mask


def attention_jsd(one: Predictions, other: Predictions) -> np.ndarray:
    """(N,): per document, between the attention of two models."""
    return _numpy(jsd(_tensor(one.attention), _tensor(other.attention)))


def prediction_tvd(one: Predictions, other: Predictions) -> np.ndarray:
    """(N,): per document, between the predictions of two models."""
    return _numpy(tvd(_tensor(one.probabilities), _tensor(other.probabilities)))


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values)


def _numpy(values: torch.Tensor) -> np.ndarray:
    array: np.ndarray = values.numpy()
    return array
