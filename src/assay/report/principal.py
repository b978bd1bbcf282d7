"""Which of a run's many summaries would a paper print?

The page and `summary.csv` hold them all. Tables that are read away from the page hold the
quantities named here, over all documents, without bins and with one bound on the change of
the prediction.
"""

from collections.abc import Iterable, Mapping

from assay.report import words
from assay.report.record import SummaryRow
from assay.report.tables import EVERYTHING

# A probe that is not named here brings all its quantities, up to MOST_ROWS.
PRINCIPAL: Mapping[str, tuple[str, ...]] = {
    "permutation": ("median_tvd",),
    "adversary": ("max_jsd", "max_jsd_upper", "adversary_tvd"),
    "erase_one": ("flip_top", "flip_random_expected", "flip_any"),
    "erase_order": ("fraction_to_flip", "never_flips"),
    "substitute": ("tvd", "jsd", "flip"),
    "uniform": ("f1", "f1_difference"),
    "seeds": ("median_jsd", "median_tvd", "shuffled_jsd"),
    "guide": ("f1",),
    "imitation": ("mean_jsd", "mean_tvd", "f1"),
    "deception": ("f1", "mean_mass"),
}
SAME_PREDICTION = "eps=0.01"  # Jain & Wallace's
ASIDE = ("max_attention=", "as_released")  # bins, and what only repeats a paper's own program
WITHOUT_INTERVAL = "std"
MOST_ROWS = 20  # of one probe, before rows by class


def principal(summary: Iterable[SummaryRow]) -> dict[str, list[SummaryRow]]:
    """By probe, over all documents, in the summary's order."""
    found: dict[str, list[SummaryRow]] = {}
    for row in summary:
        if row.predicted == EVERYTHING and _is_principal(row):
            found.setdefault(row.probe, []).append(row)
    return {probe: rows[:MOST_ROWS] for probe, rows in found.items()}


def by_class(summary: Iterable[SummaryRow], whole: SummaryRow) -> list[SummaryRow]:
    """The same statistic over the documents of each predicted class."""
    return [
        row
        for row in summary
        if (row.probe, row.quantity, row.group) == (whole.probe, whole.quantity, whole.group)
        and row.statistic == whole.statistic
        and row.predicted != EVERYTHING
        and row.value is not None
    ]


def _is_principal(row: SummaryRow) -> bool:
    if row.value is None or row.statistic == WITHOUT_INTERVAL or words.is_detail(row.quantity):
        return False
    group = row.group or ""
    if any(part in group for part in ASIDE):
        return False
    if group.startswith("eps=") and group != SAME_PREDICTION:
        return False
    return row.quantity in PRINCIPAL.get(row.probe, (row.quantity,))
