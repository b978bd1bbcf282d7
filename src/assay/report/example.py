"""Which one document shows what the furthest weights look like?

Neither the worst case nor the best: of the correctly predicted documents short enough for a
figure, the one whose largest JSD is the median (the lower one of two).
"""

from typing import Any

import polars as pl

from assay.report.adversary import NAME
from assay.report.documents import FEWEST_ITEMS, Document, described, document
from assay.report.record import RunRecord

MOST_IN_FIGURE = 40  # items


def typical(record: RunRecord) -> Document | None:
    """None where no document has furthest weights or the right length."""
    row = typical_row(record)
    return None if row is None else document(row, record.classes)


def typical_row(record: RunRecord) -> dict[str, Any] | None:
    if NAME not in record.instances.columns:
        return None
    fitting = described(record).filter(
        pl.col(NAME).is_not_null(),
        pl.col("jsd").is_not_null(),
        pl.col("tokens").list.len().is_between(FEWEST_ITEMS, MOST_IN_FIGURE),
        pl.col("prediction") == pl.col("label"),
    )
    if fitting.is_empty():
        return None
    return fitting.sort("jsd", "id").row((len(fitting) - 1) // 2, named=True)
