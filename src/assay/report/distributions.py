"""How are a probe's values spread over the documents, class by class, in few points?"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.probes.permutation import WEIGHT_BINS as WEIGHT_EDGES
from assay.report.record import RunRecord

Values = NDArray[np.float64]

MOST_CLASSES = 5  # drawn apart; the rest are drawn together
TAU_EDGES = np.linspace(-1.0, 1.0, 41)
TVD_GRID = np.linspace(0.0, 1.0, 41)
TVD_SMOOTHING = 0.03  # standard deviation of the kernel that smooths a violin
WEIGHT_BINS = tuple(f"{low:g}–{high:g}" for low, high in pairwise(WEIGHT_EDGES))


@dataclass(frozen=True)
class Panel:
    """The documents of one predicted class (or of all the rarer ones together)."""

    title: str
    members: tuple[str, ...]

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("prediction").is_in(self.members), pl.col("value").is_not_null())


def panels(record: RunRecord) -> list[Panel]:
    """The predicted classes in the model's order; at most `MOST_CLASSES` apart."""
    counts = record.instances["prediction"].value_counts()
    often = dict(zip(counts["prediction"], counts["count"], strict=True))
    predicted = [name for name in record.classes if name in often]
    apart = set(sorted(predicted, key=lambda name: -often[name])[:MOST_CLASSES])
    rest = tuple(name for name in predicted if name not in apart)
    shown = [Panel(name, (name,)) for name in predicted if name in apart]
    return shown + ([Panel(f"{len(rest)} rarer classes", rest)] if rest else [])


def histogram(values: Values) -> Values:
    """The share of documents in each bin between `TAU_EDGES`."""
    counts, _ = np.histogram(np.clip(values, -1.0, 1.0), bins=TAU_EDGES)
    return counts.astype(np.float64) / len(values)


def smoothed(values: Values) -> Values:
    """The density of values in [0, 1] on `TVD_GRID`, scaled to a highest point of one.

    Mass that the kernel would push out of [0, 1] is reflected back: a violin that ends at zero
    must not look as if it faded before it.
    """
    mirrored = np.concatenate([values, -values, 2.0 - values])
    distance = (TVD_GRID[:, None] - mirrored[None, :]) / TVD_SMOOTHING
    density: Values = np.exp(-0.5 * distance**2).sum(axis=1)
    return density / float(density.max())


def weight_bin(largest: Values) -> NDArray[np.intp]:
    """Which of the four bins a document's largest weight falls in; an edge belongs above."""
    return np.clip(np.digitize(largest, WEIGHT_EDGES) - 1, 0, len(WEIGHT_BINS) - 1)


@dataclass(frozen=True)
class Bin:
    """Median TVDs of the documents of one class whose largest weight is in one bin."""

    number: int
    values: Values


def permutation_bins(record: RunRecord, panel: Panel) -> list[Bin]:
    """The documents of a panel by largest weight; empty bins left out."""
    change = record.measured("permutation", "median_tvd")
    largest = record.measured("permutation", "max_attention").select("id", largest="value")
    table = panel.of(change).join(largest.drop_nulls(), on="id", maintain_order="left", how="inner")
    where = weight_bin(table["largest"].to_numpy())
    values = table["value"].to_numpy()
    return [Bin(int(number), values[where == number]) for number in np.unique(where)]


def in_words(values: Values) -> str:
    """Median and quartiles, for those who do not see the figure."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"median {middle:.2f}, middle half {low:.2f} to {high:.2f}, n = {len(values)}"
