"""How are a probe's values spread over the documents, class by class, in few points?"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.probes.permutation import WEIGHT_BINS as WEIGHT_EDGES
from assay.runs.directory import RunRecord

Values = NDArray[np.float64]
MOST_CLASSES = 5  # drawn apart; the rest are drawn together
SMOOTHING = 0.03  # of the scale: standard deviation of the kernel that smooths a violin
WEIGHT_BINS = tuple(f"{low:g}–{high:g}" for low, high in pairwise(WEIGHT_EDGES))
HALF = 0.5  # a scale that is fitted to its values ends at a whole multiple of this


@dataclass(frozen=True)
class AxisScale:
    """Where a quantity can lie, and in how many steps a figure cuts that."""

    low: float
    high: float
    steps: int = 40

    @property
    def edges(self) -> Values:
        return np.linspace(self.low, self.high, self.steps + 1)


TAU = AxisScale(-1.0, 1.0)
TVD = AxisScale(0.0, 1.0)
JSD = AxisScale(0.0, log(2), 35)


def around_zero(values: Values) -> AxisScale:
    """The scale that holds all values, as wide to the left as to the right."""
    farthest = float(np.abs(values).max(initial=HALF))
    reach = HALF * ceil(farthest / HALF)
    return AxisScale(-reach, reach)


@dataclass(frozen=True)
class Panel:
    """The documents of one predicted class (or of all the rarer ones together)."""

    title: str
    members: tuple[str, ...]

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("prediction").is_in(self.members), pl.col("value").is_not_null())

    def values(self, table: pl.DataFrame) -> Values:
        return self.of(table)["value"].to_numpy()


def panels(record: RunRecord) -> list[Panel]:
    """The predicted classes in the model's order; at most `MOST_CLASSES` apart."""
    counts = record.instances["prediction"].value_counts()
    often = dict(zip(counts["prediction"], counts["count"], strict=True))
    predicted = [name for name in record.classes if name in often]
    apart = set(sorted(predicted, key=lambda name: -often[name])[:MOST_CLASSES])
    rest = tuple(name for name in predicted if name not in apart)
    shown = [Panel(name, (name,)) for name in predicted if name in apart]
    return shown + ([Panel(f"{len(rest)} rarer classes", rest)] if rest else [])


def histogram(values: Values, scale: AxisScale) -> Values:
    """The share of documents in each step of the scale."""
    counts, _ = np.histogram(np.clip(values, scale.low, scale.high), bins=scale.edges)
    return counts.astype(np.float64) / len(values)


def smoothed(values: Values, scale: AxisScale) -> Values:
    """The density on the edges of the scale's steps, scaled to a highest point of one.

    Mass that the kernel would push out of the scale is reflected back: a violin that ends at
    zero must not look as if it faded before it.
    """
    mirrored = np.concatenate([values, 2 * scale.low - values, 2 * scale.high - values])
    width = SMOOTHING * (scale.high - scale.low)
    distance = (scale.edges[:, None] - mirrored[None, :]) / width
    density: Values = np.exp(-0.5 * distance**2).sum(axis=1)
    return density / float(density.max())


def weight_bin(largest: Values) -> NDArray[np.intp]:
    """Which of the four bins a document's largest weight falls in; an edge belongs above."""
    return np.clip(np.digitize(largest, WEIGHT_EDGES) - 1, 0, len(WEIGHT_BINS) - 1)


@dataclass(frozen=True)
class Bin:
    """The values of the documents of one class whose largest weight is in one bin."""

    number: int
    values: Values


def by_largest_weight(table: pl.DataFrame, largest: pl.DataFrame, panel: Panel) -> list[Bin]:
    """The documents of a panel by largest weight; empty bins left out."""
    weights = largest.select("id", largest="value").drop_nulls()
    placed = panel.of(table).join(weights, on="id", maintain_order="left", how="inner")
    where = weight_bin(placed["largest"].to_numpy())
    values = placed["value"].to_numpy()
    return [Bin(int(number), values[where == number]) for number in np.unique(where)]


def in_words(values: Values) -> str:
    """Median and quartiles, for those who do not see the figure."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"median {middle:.2f}, middle half {low:.2f} to {high:.2f}, n = {len(values)}"
