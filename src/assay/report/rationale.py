"""How well does each score find the items that people marked, score beside score?"""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.report import words
from assay.report.record import RunRecord, SummaryRow
from assay.report.tables import EVERYTHING

NAME = "rationale"
OWN, FLOOR = "attention", "random"
COLUMNS: Mapping[str, str] = {  # heading: quantity
    "AUC": "auc",
    "average precision": "average_precision",
    "precision at k": "precision",
}


@dataclass(frozen=True)
class Line:
    """One score, and a cell per column; None where it has none."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class Marks:
    columns: tuple[str, ...]
    lines: tuple[Line, ...]  # attention first, random numbers last
    gain: SummaryRow | None  # attention on the marked items, above their share
    share: SummaryRow | None


def account(record: RunRecord) -> Marks:
    rows = {
        (row.quantity, row.group): row
        for row in record.summary
        if row.probe == NAME and row.predicted == EVERYTHING
    }
    names = scores_measured(record)
    lines = [
        Line(words.score(name), tuple(rows.get((quantity, name)) for quantity in COLUMNS.values()))
        for name in names
    ]
    return Marks(
        tuple(COLUMNS), tuple(lines), rows.get(("mass_gain", OWN)), rows.get(("marked_share", None))
    )


def scores_measured(record: RunRecord) -> list[str]:
    """Those with an AUC of at least one document, as declared; random numbers close the list."""
    found = [
        row.group
        for row in record.summary
        if (row.probe, row.quantity, row.predicted) == (NAME, "auc", EVERYTHING)
        and row.group is not None
        and row.value is not None
    ]
    return sorted(found, key=lambda name: (name != OWN, name == FLOOR))
