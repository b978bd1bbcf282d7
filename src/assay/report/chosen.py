"""Which documents does the page hold when not all of them fit?

Every second one is drawn by lot, so that a reader who leafs through sees the usual; the others
come from both ends of every key that the list can be sorted by, so that the extremes are there.
"""

from collections.abc import Iterator
from itertools import chain, zip_longest

import numpy as np
import polars as pl

from assay.report import example
from assay.report.documents import described
from assay.report.record import RunRecord

SORTS = {  # column: what the list calls it
    "tau": "τ with leave-one-out",
    "jsd": "JSD of other weights",
    "shuffled": "TVD when shuffled",
    "confidence": "confidence",
    "length": "number of items",
}


def sortable(record: RunRecord) -> pl.DataFrame:
    """The documents, by their place, with every key of `SORTS`; null if not measured."""
    return (
        described(record)
        .with_row_index("place")
        .with_columns(
            shuffled=record.measured("permutation", "median_tvd")["value"],
            confidence=pl.col("probabilities").list.max(),
            length=pl.col("tokens").list.len(),
        )
    )


def order(record: RunRecord) -> list[int]:
    """The rows of `instances` in the order in which the page takes them."""
    table = sortable(record)
    seed = record.run.section("seeds").count("bootstrap") or 0
    lot = np.random.default_rng(seed).permutation(len(table)).tolist()
    turns = chain.from_iterable(zip_longest(lot, _extremes(table)))
    taken = dict.fromkeys([*_example(record), *(place for place in turns if place is not None)])
    return list(taken)


def _extremes(table: pl.DataFrame) -> Iterator[int]:
    """The lowest and the highest by each key, then the second lowest and highest, and so on."""
    ranked = [table.drop_nulls(key).sort(key, "id")["place"].to_list() for key in SORTS]
    ends = [side for places in ranked for side in (places, places[::-1])]
    for turn in zip_longest(*ends):
        yield from (place for place in turn if place is not None)


def _example(record: RunRecord) -> list[int]:
    """The document that a section of the page shows can be opened in the view."""
    row = example.typical_row(record)
    return [] if row is None else [record.instances["id"].index_of(row["id"]) or 0]
