"""Rows of evidence as arrays: documents by quantities, by groups, or by models."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from assay.evidence import labels_and_predictions
from assay.statistics.estimates import f1_influence
from assay.statistics.intervals import scored_classes

Table = np.ndarray


def by_document(
    evidence: pl.DataFrame, names: Sequence[str], by: Literal["quantity", "group"] = "quantity"
) -> Table | None:
    """(N, names): the documents that have all the quantities (or groups).

    None if one of them is absent from the evidence.
    """
    frame = evidence.filter(pl.col(by).is_in(names), pl.col("instance").is_not_null())
    if frame[by].n_unique() < len(names):
        return None
    wide = frame.pivot(by, index="instance", values="value").select(names)
    return wide.drop_nulls().to_numpy()


def by_model(
    evidence: pl.DataFrame, by: Literal["seed", "group"] = "seed"
) -> tuple[list[str], list[str], Table]:
    """The documents that every model has, the models, and the values (N, S) of one quantity."""
    frame = evidence.filter(pl.col("instance").is_not_null(), pl.col("value").is_not_null())
    if frame.is_empty():
        return [], [], np.zeros((0, 0))
    models = sorted(frame[by].unique().to_list())
    wide = frame.pivot(by, index="instance", values="value").drop_nulls()
    names = [str(one) for one in models]
    return wide["instance"].to_list(), names, wide.select(names).to_numpy()


def values_of(evidence: pl.DataFrame, quantity: str, group: str | None = None) -> Table:
    """The values of one quantity that exist; of one group if it is given."""
    own = evidence.filter(pl.col("quantity") == quantity).drop_nulls("value")
    return (own if group is None else own.filter(pl.col("group") == group))["value"].to_numpy()


def f1_tables(evidence: pl.DataFrame, groups: Sequence[str]) -> dict[str, Table] | None:
    """Per group the influence (N, S) of each document on the F1 of each model.

    All groups have the same seeds and the same F1, that of the classes that any model of the probe
    predicts. None if a group has no models.
    """
    labels, models = labels_and_predictions(evidence, *groups)
    if set(groups) - set(models) or not len(labels):
        return None
    named = evidence.filter(pl.col("quantity").is_in(("label", "prediction")))["value"].drop_nulls()
    classes = scored_classes(named.to_numpy().astype(np.int64))
    return {name: f1_influence(labels, models[name], classes) for name in groups}
