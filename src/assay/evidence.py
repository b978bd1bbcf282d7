"""The evidence table: one long table of everything measured, from which all else is computed."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

SCHEMA = pl.Schema(
    {
        "instance": pl.String,  # null for quantities of the whole model
        "probe": pl.String,
        "quantity": pl.String,
        "group": pl.String,  # what the probe varied; null if nothing
        "method": pl.String,
        "seed": pl.Int64,  # the model's seed
        "value": pl.Float64,  # null where the quantity does not exist for the instance
    }
)

# Names and constants of the evidence that both the probes and the report need. They stand here so
# that a report can be drawn without importing a probe.
ADVERSARY_EPS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # Jain & Wallace: 0.01 and 0.05
SHOWN_EPS = 0.01  # the eps whose alternative weights are kept for the heat maps
FAR_JSD = math.log(2) / 2  # from half of the largest JSD on, attention counts as far away
WEIGHT_BINS = (0.0, 0.25, 0.5, 0.75, 1.0)  # edges of the bins of a document's largest weight
APART_ALL = "all"  # group of the attention that stands apart from the items, whatever it lies on
# Errors of leave-one-out where it stops reading early: the quantities, and the largest error that
# the documentation promises (of a TVD, and of a tau of attention with leave-one-out).
FADING_ERROR, FADING_TAU_ERROR = "loo_fading_error", "loo_fading_tau_error"
FADING_BOUNDS = {FADING_ERROR: 1e-5, FADING_TAU_ERROR: 0.005}


def rows(
    instances: Sequence[str | None],
    quantity: str,
    values: np.ndarray,
    *,
    group: str | None = None,
    method: str | None = None,
    seed: int | None = None,
) -> pl.DataFrame:
    """Rows of one quantity for many instances, without the probe's name. NaN becomes null.

    `seed` is given only where the values belong to another model than the audited one.
    """
    return _frame(instances, {(quantity, group): values}, method, seed)


def stacked(
    instances: Sequence[str],
    columns: Mapping[tuple[str, str | None], np.ndarray],
    method: str | None = None,
) -> pl.DataFrame:
    """Rows of many quantities and groups in one frame; `columns` maps (quantity, group) to values.

    Building a frame costs more than the hundred values in it, so there is one and not many.
    """
    return _frame(instances, columns, method, None)


def _frame(
    instances: Sequence[str | None],
    columns: Mapping[tuple[str, str | None], np.ndarray],
    method: str | None,
    seed: int | None,
) -> pl.DataFrame:
    """Every text becomes a value of polars once, and is then repeated there and not in Python."""
    each, kinds = len(instances), len(columns)
    instance, kind = np.tile(np.arange(each), kinds), np.repeat(np.arange(kinds), each)
    names, groups = zip(*columns, strict=True)
    values = np.concatenate([np.asarray(part, dtype=np.float64) for part in columns.values()])
    return pl.DataFrame(
        {
            "instance": _repeat(instances, instance),
            "quantity": _repeat(names, kind),
            "group": _repeat(groups, kind),
            "method": _repeat([method], kind),
            "seed": pl.Series([seed], dtype=pl.Int64).new_from_index(0, len(kind)),
            "value": pl.Series(values, nan_to_null=True),
        }
    )


def _repeat(texts: Sequence[str | None], places: np.ndarray) -> pl.Series:
    """The text at each place; a single text is at all of them."""
    column = pl.Series(texts, dtype=pl.String)
    if len(column) == 1:
        return column.new_from_index(0, len(places))
    return column if len(column) == len(places) else column.gather(places)


def sign(frames: Sequence[pl.DataFrame], probe: str, seed: int) -> pl.DataFrame:
    """The rows of one probe with its name and seed, in the columns of the evidence table."""
    if not frames:
        return empty()
    own = pl.col("seed").fill_null(seed)
    signed = pl.concat(frames).with_columns(probe=pl.lit(probe), seed=own)
    return signed.select(SCHEMA.names()).cast(SCHEMA)


def labels_and_predictions(
    frame: pl.DataFrame, *groups: str
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
    """The labels (N,) of a probe's documents, and per group the predictions (S, N) of its models.

    Seeds are those that all groups have. A group without models is absent.
    """
    labels = frame.filter(quantity="label").sort("instance")["value"]
    predictions = frame.filter(pl.col("group").is_in(groups), quantity="prediction")
    present = predictions["group"].n_unique()
    shared = pl.col("group").n_unique().over("seed") == present
    table = predictions.filter(shared).sort("seed", "instance").partition_by("group", as_dict=True)
    models = {
        str(name): own["value"].to_numpy().astype(np.int64).reshape(own["seed"].n_unique(), -1)
        for (name,), own in table.items()
    }
    return labels.to_numpy().astype(np.int64), models


def empty() -> pl.DataFrame:
    """An evidence table without rows."""
    return pl.DataFrame(schema=SCHEMA)
