"""The summary table: statistics of the evidence with 95 % intervals, per class and over all."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import cast

import numpy as np
import polars as pl

from assay.evidence import labels_and_predictions
from assay.probes import PROBES
from assay.probes.probe import Quantity
from assay.statistics.estimates import f1_influence, mean_estimate
from assay.statistics.intervals import (
    Interval,
    f1_difference,
    mean_intervals,
    median_interval,
    score_interval,
    scored_classes,
    seeds_interval,
    share_interval,
)

SIGNIFICANT = 0.05
FEW_ROWS = 2**20  # of a probe: they are read at once, which is faster
Read = Callable[..., pl.DataFrame]  # names of quantities -> their rows
VALUES = "values"  # of a mean whose interval is not computed yet
ALL = "all"
OVER_SEEDS = "mean_over_seeds"  # of one number per trained model
OVER_DOCUMENTS = "over_documents"  # of two groups of trained models, document by document
COMMON_F1 = "common_f1"  # of one group of trained models, with the same classes for all groups
SHARED, BY_SEED = "mean_shared", "mean_by_seed"
OF_THE_PROBE = (OVER_DOCUMENTS, COMMON_F1)  # computed from the rows of other quantities too
MEANS = ("mean", SHARED, BY_SEED)
CLASSIFICATION = ("accuracy", "f1", "macro_f1")  # of a quantity that holds a class index
SCHEMA = pl.Schema(
    {
        "probe": pl.String,
        "quantity": pl.String,
        "group": pl.String,
        "class": pl.String,  # `all` or a predicted class
        "statistic": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n": pl.Int64,
        "skipped": pl.Int64,  # instances without a value
    }
)


def summarize(
    evidence: pl.DataFrame | pl.LazyFrame,
    instances: pl.DataFrame | pl.LazyFrame,
    classes: Sequence[str],
    seed: int,
) -> pl.DataFrame:
    """One row per probe, quantity, group, class and statistic, with intervals over instances.

    Only the evidence of one probe is in memory at a time, of many rows that of one quantity.
    """
    table = evidence.lazy()
    described = instances.lazy().select("label", instance="id", predicted="prediction").collect()
    counts = dict(table.group_by("probe").len().collect().iter_rows())
    rows: list[dict[str, object]] = []
    for probe in PROBES:
        if probe in counts:
            own = table.filter(pl.col("probe") == probe).drop("probe", "method")
            few = own.collect().lazy() if counts[probe] <= FEW_ROWS else own
            read = partial(_read, few, described)
            found = _with_intervals(_probe_rows(read, probe, classes, seed), seed)
            rows += [{"probe": probe, **row} for row in found]
    return pl.DataFrame(rows, schema=SCHEMA)


def _read(evidence: pl.LazyFrame, described: pl.DataFrame, *quantities: str) -> pl.DataFrame:
    """The rows of some quantities of a probe, with the label and prediction of their documents."""
    own = evidence.filter(pl.col("quantity").is_in(quantities)).collect()
    return own.join(described, on="instance", how="left", maintain_order="left")


def _with_intervals(found: Iterator[dict[str, object]], seed: int) -> list[dict[str, object]]:
    """The rows of a probe with the intervals of their means, which share their draws."""
    rows = list(found)
    means = [row for row in rows if VALUES in row]
    columns = [cast(np.ndarray, row.pop(VALUES)) for row in means]
    for row, interval in zip(means, mean_intervals(columns, seed), strict=True):
        row |= _numbers(interval)
    return rows


def _probe_rows(
    read: Read, probe: str, classes: Sequence[str], seed: int
) -> Iterator[dict[str, object]]:
    for quantity in PROBES[probe].quantities:
        measured = read(quantity.name)
        for group, values in _groups(measured, read, quantity):
            for name in (ALL, *classes):
                chosen = values if name == ALL else values.filter(pl.col("predicted") == name)
                for statistic in _statistics(quantity, name, classes):
                    for part, rows in _parts(chosen, group, statistic, quantity, read):
                        yield {
                            "quantity": quantity.name,
                            "group": part,
                            "class": name,
                            "statistic": statistic,
                            **_statistic(rows, statistic, classes, seed),
                        }
        if not measured.is_empty():
            for row in _whole_rows(read, quantity, seed):
                yield {"quantity": quantity.name, "class": ALL, **row}


def _statistics(quantity: Quantity, name: str, classes: Sequence[str]) -> Iterator[str]:
    """The statistics of a row; by predicted class only those that do not compare with labels."""
    other = "macro_f1" if len(classes) == 2 else "f1"
    for statistic in quantity.statistics:
        if statistic in OF_THE_PROBE or (name != ALL and statistic in (SHARED, BY_SEED)):
            continue
        if (name == ALL and statistic != other) or statistic not in (*CLASSIFICATION, OVER_SEEDS):
            yield statistic


def _groups(
    measured: pl.DataFrame, read: Read, quantity: Quantity
) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """The values by what the probe varied and, where declared, by bins of another quantity."""
    for group in measured["group"].unique(maintain_order=True):
        own = measured.filter(pl.col("group").eq_missing(pl.lit(group, dtype=pl.String)))
        yield group, own
        if quantity.binned_by is not None:
            by = read(quantity.binned_by).select("instance", by="value")
            placed = own.join(by, on="instance")
            for name, part in _bins(placed, quantity):
                yield name if group is None else f"{group};{name}", part


def _parts(
    rows: pl.DataFrame, group: str | None, statistic: str, quantity: Quantity, read: Read
) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """The rows that a statistic is computed from: all, one part per seed, or the shared ones."""
    if statistic == BY_SEED:
        for seed in rows["seed"].unique().sort():
            name = f"seed={seed}"
            own = rows.filter(pl.col("seed") == seed)
            yield (name if group is None else f"{group};{name}"), own
    elif statistic == SHARED:
        others = read(*quantity.shared_with).drop_nulls("value")
        counts = others.group_by("instance").agg(found=pl.col("quantity").n_unique())
        both = counts.filter(pl.col("found") == len(quantity.shared_with))
        yield group, rows.join(both, on="instance", how="semi")
    else:
        yield group, rows


def _whole_rows(read: Read, quantity: Quantity, seed: int) -> Iterator[dict[str, object]]:
    """The statistics that compare trained models by their predictions."""
    if quantity.compares is None and COMMON_F1 not in quantity.statistics:
        return
    frame = read("label", "prediction")
    if quantity.compares is not None:
        compared = _compared(frame, quantity.compares, seed)
        yield {"group": None, "statistic": OVER_DOCUMENTS, **compared}
    if COMMON_F1 in quantity.statistics:
        for group, score in _common_f1(frame):
            yield {"group": group, "statistic": COMMON_F1, **score}


def _bins(placed: pl.DataFrame, quantity: Quantity) -> Iterator[tuple[str, pl.DataFrame]]:
    for low, high in zip(quantity.edges, quantity.edges[1:], strict=False):
        last = high == quantity.edges[-1]
        below = pl.col("by") <= high if last else pl.col("by") < high
        yield f"{quantity.binned_by}={low:g}-{high:g}", placed.filter((pl.col("by") >= low) & below)


def _statistic(
    rows: pl.DataFrame, statistic: str, classes: Sequence[str], seed: int
) -> dict[str, object]:
    """The numbers of a statistic; of a mean only the values: all means share their draws."""
    there = rows.filter(pl.col("value").is_not_null())
    counts = {"n": len(there), "skipped": len(rows) - len(there)}
    if statistic in MEANS:
        return {VALUES: there["value"].to_numpy(), **counts}
    if statistic in CLASSIFICATION:
        interval = _classified(there, statistic, classes, seed)
    else:
        interval = _interval(there["value"].to_numpy(), statistic, seed)
    return {**_numbers(interval), **counts}


def _numbers(interval: Interval) -> dict[str, float | None]:
    bounds = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {key: None if math.isnan(bound) else bound for key, bound in bounds.items()}


def _interval(values: np.ndarray, statistic: str, seed: int) -> Interval:
    match statistic:
        case "mean_over_seeds":
            return seeds_interval(values)
        case "median":
            return median_interval(values, seed)
        case "significant":
            return share_interval(int((values <= SIGNIFICANT).sum()), len(values))
        case "share":
            return share_interval(int(values.sum()), len(values))
        case "max":
            largest = float(values.max()) if len(values) else math.nan
            return Interval(largest, math.nan, math.nan, len(values))
        case "std":
            spread = float(values.std()) if len(values) else math.nan
            return Interval(spread, math.nan, math.nan, len(values))
    raise ValueError(f"no such statistic: {statistic}")


def _compared(
    frame: pl.DataFrame, groups: tuple[str, str], seed: int
) -> dict[str, float | int | None]:
    """The F1 of the first group's models minus that of the second's."""
    labels, models = labels_and_predictions(frame, *groups)
    first, second = (models[name] for name in groups)
    interval = f1_difference(labels, first, second, seed)
    return {**asdict(interval), "skipped": 0}


def _common_f1(frame: pl.DataFrame) -> Iterator[tuple[str, dict[str, float | int | None]]]:
    """The mean F1 of each group's models, over the classes that any model of the probe predicts."""
    predictions = frame.filter(pl.col("quantity") == "prediction")
    labels, models = labels_and_predictions(frame, *predictions["group"].unique())
    named = np.concatenate([labels, predictions["value"].to_numpy().astype(np.int64)])
    for group, predicted in sorted(models.items()):
        score = mean_estimate(f1_influence(labels, predicted, scored_classes(named)))
        low, high = score.interval()
        yield group, {"value": score.value, "low": low, "high": high, "n": score.n, "skipped": 0}


def _classified(rows: pl.DataFrame, statistic: str, classes: Sequence[str], seed: int) -> Interval:
    """A classification score of the predicted classes in these rows."""
    predicted = [classes[int(number)] for number in rows["value"]]
    labels = rows["label"].to_list()
    if statistic == "accuracy":
        right = sum(one == other for one, other in zip(predicted, labels, strict=True))
        return share_interval(right, len(predicted))
    return score_interval(labels, predicted, classes, statistic, seed)
