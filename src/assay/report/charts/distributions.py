"""Distributions of a probe's values over the documents, by class and by largest weight."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.evidence import WEIGHT_BINS
from assay.report.text import in_figure
from assay.runs.directory import RunRecord

Values = NDArray[np.float64]
MOST_CLASSES = 5  # with a panel each; the rest share one
SMOOTHING = 0.03  # of the scale: standard deviation of the kernel that smooths a violin
BIN_NAMES = tuple(f"{low:g}–{high:g}" for low, high in pairwise(WEIGHT_BINS))
HALF = 0.5  # a scale that is fitted to its values ends at a multiple of this


@dataclass(frozen=True)
class AxisScale:
    """The range of a quantity, and the number of steps into which a figure divides it."""

    low: float
    high: float
    steps: int = 40
    name: str = ""  # of the quantity, in tooltips

    @property
    def edges(self) -> Values:
        return np.linspace(self.low, self.high, self.steps + 1)


TAU = AxisScale(-1.0, 1.0)
TVD = AxisScale(0.0, 1.0, name="TVD")
JSD = AxisScale(0.0, log(2), 35, "JSD")


def around_zero(values: Values) -> AxisScale:
    """The symmetric scale around zero that holds all values."""
    largest = float(np.abs(values).max(initial=HALF))
    end = HALF * ceil(largest / HALF)
    return AxisScale(-end, end)


@dataclass(frozen=True)
class Panel:
    """The documents of one predicted class, or of all the rarer ones together."""

    title: str
    members: tuple[str, ...]

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("prediction").is_in(self.members), pl.col("value").is_not_null())

    def values(self, table: pl.DataFrame) -> Values:
        return self.of(table)["value"].to_numpy()


def panels(record: RunRecord) -> list[Panel]:
    """The predicted classes in the model's order, the `MOST_CLASSES` largest with a panel each."""
    counts = record.instances["prediction"].value_counts()
    sizes = dict(zip(counts["prediction"], counts["count"], strict=True))
    predicted = [name for name in record.classes if name in sizes]
    largest = set(sorted(predicted, key=lambda name: -sizes[name])[:MOST_CLASSES])
    rest = tuple(name for name in predicted if name not in largest)
    shown = [Panel(name, (name,)) for name in predicted if name in largest]
    return shown + ([Panel(f"{len(rest)} rarer classes", rest)] if rest else [])


def histogram(values: Values, scale: AxisScale) -> Values:
    """The share of documents in each step of the scale."""
    counts, _ = np.histogram(np.clip(values, scale.low, scale.high), bins=scale.edges)
    return counts.astype(np.float64) / len(values)


def smoothed(values: Values, scale: AxisScale) -> Values:
    """The density on the edges of the scale's steps, scaled to a maximum of one.

    Mass that the kernel would push out of the scale is reflected back: a violin that ends at zero
    must not look as if it faded out before.
    """
    mirrored = np.concatenate([values, 2 * scale.low - values, 2 * scale.high - values])
    width = SMOOTHING * (scale.high - scale.low)
    distance = (scale.edges[:, None] - mirrored[None, :]) / width
    density: Values = np.exp(-0.5 * distance**2).sum(axis=1)
    return density / float(density.max())


def weight_bin(largest: Values) -> NDArray[np.intp]:
    """The bin of a document's largest weight; an edge belongs to the bin above."""
    return np.clip(np.digitize(largest, WEIGHT_BINS) - 1, 0, len(BIN_NAMES) - 1)


@dataclass(frozen=True)
class Bin:
    """The values of the documents of one class whose largest weight is in one bin."""

    number: int
    values: Values


def by_largest_weight(table: pl.DataFrame, largest: pl.DataFrame, panel: Panel) -> list[Bin]:
    """The documents of a panel by largest weight, without empty bins."""
    weights = largest.select("id", largest="value").drop_nulls()
    placed = panel.of(table).join(weights, on="id", maintain_order="left", how="inner")
    where = weight_bin(placed["largest"].to_numpy())
    values = placed["value"].to_numpy()
    return [Bin(int(number), values[where == number]) for number in np.unique(where)]


def in_words(values: Values) -> str:
    """Median and quartiles, for readers who do not see the figure."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"median {middle:.2f}, middle half {low:.2f} to {high:.2f}, n = {len(values)}"


def by_class(opening: str, spreads: Iterable[tuple[Panel, Values]]) -> str:
    """The numbers of a histogram in words, class by class."""
    parts = [f"predicted {in_figure(panel.title)}: {in_words(values)}" for panel, values in spreads]
    return f"{opening} {'; '.join(parts)}."


def by_weight(opening: str, bins: Iterable[Bin]) -> str:
    """The numbers of violins in words, by range of the largest weight."""
    parts = [f"largest weight {BIN_NAMES[part.number]}: {in_words(part.values)}" for part in bins]
    return f"{opening} {'; '.join(parts)}."
