"""The section on plausibility: how well each score finds the items that people marked."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.report import text as words
from assay.report.sections.tables import EVERYTHING
from assay.runs.directory import RunRecord, SummaryRow

NAME = "rationale"
OWN, FLOOR = "attention", "random"
COLUMNS: Mapping[str, str] = {  # heading: quantity
    "AUC": "auc",
    "average precision": "average_precision",
    "precision at k": "precision",
}


@dataclass(frozen=True)
class ScoreLine:
    """One score, with a cell per column; None where it has no value."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class RationaleSection:
    columns: tuple[str, ...]
    lines: tuple[ScoreLine, ...]  # attention first, random numbers last
    gain: SummaryRow | None  # attention on the marked items, above their share
    share: SummaryRow | None


def rationale_section(record: RunRecord) -> RationaleSection:
    rows = {
        (row.quantity, row.group): row
        for row in record.summary
        if row.probe == NAME and row.predicted == EVERYTHING
    }
    names = scores_measured(record)
    lines = [
        ScoreLine(
            words.score(name), tuple(rows.get((quantity, name)) for quantity in COLUMNS.values())
        )
        for name in names
    ]
    return RationaleSection(
        tuple(COLUMNS), tuple(lines), rows.get(("mass_gain", OWN)), rows.get(("marked_share", None))
    )


def scores_measured(record: RunRecord) -> list[str]:
    """The scores with an AUC on at least one document; attention first, random numbers last."""
    found = [
        row.group
        for row in record.summary
        if (row.probe, row.quantity, row.predicted) == (NAME, "auc", EVERYTHING)
        and row.group is not None
        and row.value is not None
    ]
    return sorted(found, key=lambda name: (name != OWN, name == FLOOR))
