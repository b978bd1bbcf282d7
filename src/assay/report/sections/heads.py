"""The section on heads: how much the prediction depends on each head of each layer."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.sections.tables import EVERYTHING
from assay.report.text import number, shown
from assay.runs.directory import RunRecord, SummaryRow

PROBE = "heads"
LEAST_CHANGE = 0.01  # TVD: a head that moves the prediction by less explains nothing


@dataclass(frozen=True)
class HeadLine:
    """One layer, with a cell per head; None where the layer has no such head."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class HeadsSection:
    """The effect of uniform weights by head, and what follows for the heat map."""

    columns: tuple[str, ...]
    lines: tuple[HeadLine, ...]
    sentence: str


def heads_section(record: RunRecord) -> HeadsSection | None:
    """A line per layer and a column per head; None where heads were not measured."""
    rows = [
        row
        for row in record.summary
        if (row.probe, row.quantity, row.predicted) == (PROBE, "head_tvd", EVERYTHING)
        and row.group is not None
        and row.value is not None
    ]
    if not rows:
        return None
    cells = {_place(row): row for row in rows}
    layers, heads = (list(dict.fromkeys(place[axis] for place in cells)) for axis in (0, 1))
    lines = tuple(
        HeadLine(layer, tuple(cells.get((layer, head)) for head in heads)) for layer in layers
    )
    return HeadsSection(tuple(heads), lines, _sentence(rows))


def _place(row: SummaryRow) -> tuple[str, str]:
    """The layer and the head of a group such as "layer 0, head 2"."""
    layer, _, head = (row.group or "").rpartition(", ")
    return layer or "shown layer", head


def _sentence(rows: Sequence[SummaryRow]) -> str:
    best = max(rows, key=lambda row: row.value or 0.0)
    idle = sum(row.high is not None and row.high < LEAST_CHANGE for row in rows)
    name = shown(best.group or "")
    return (
        f"The prediction depends most on {name}: equal weights there move it by "
        f"{number(best.value)} on average. {idle} of {len(rows)} heads move it by less than "
        f"{LEAST_CHANGE:g}, with the whole interval: their heat maps would explain nothing."
    )
