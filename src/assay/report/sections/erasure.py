"""Tables of the two erasure probes, in the form of Serrano & Smith's."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.report.sections.tables import EVERYTHING
from assay.report.text import GROUPS
from assay.runs.directory import RunRecord, SummaryRow

ONE, ORDER = "erase_one", "erase_order"
COMPARED = ("random_expected", "searched", "lower_bound")  # for claims; no orders of their own
ORDERS = {name: said for name, said in GROUPS[ORDER].items() if name not in COMPARED}
RANKINGS = {name: ORDERS[name] for name in ("attention", "gradient", "attention_gradient")}
CELLS = ("flip_both", "flip_top_only", "flip_random_only", "flip_neither")
MEASURES: Mapping[str, tuple[str, str]] = {  # heading: quantity and statistic
    "never changes": ("never_flips", "share"),
    "fraction, where all change": ("fraction_common", "median"),
    "fraction, never = 1": ("fraction_never_one", "median"),
    "mass": ("mass_to_flip", "median"),
    "excess items": ("excess_items", "mean"),
}
CURVES: Mapping[str, tuple[str, str]] = {
    "weight comprehensiveness": ("comprehensiveness", "median"),
    "weight sufficiency": ("sufficiency", "median"),
    "deletion AUC": ("deletion_auc", "median"),
    "insertion AUC": ("insertion_auc", "median"),
}
RACES: Mapping[str, tuple[str, str]] = {
    "fewer than attention": ("fewer_than_attention", "share"),
    "more than attention": ("more_than_attention", "share"),
    "fewer than gradient": ("fewer_than_gradient", "share"),
    "more than gradient": ("more_than_gradient", "share"),
}
Rows = dict[tuple[str, str | None, str], SummaryRow]  # quantity, group, statistic


@dataclass(frozen=True)
class FlipTable:
    """Which items change the decision: the four cells, and the expectation over other items."""

    ranking: str
    cells: tuple[SummaryRow, ...]
    expected: SummaryRow | None


@dataclass(frozen=True)
class OrderLine:
    """One order, with a cell per column; None where it has no value."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class OrderGrid:
    columns: tuple[str, ...]
    lines: tuple[OrderLine, ...]


@dataclass(frozen=True)
class ErasureSection:
    flips: tuple[FlipTable, ...]
    possible: SummaryRow | None  # some single item changes the decision
    needed: OrderGrid
    curves: OrderGrid
    races: OrderGrid


def erasure_section(record: RunRecord) -> ErasureSection:
    rows: Rows = {
        (row.quantity, row.group, row.statistic): row
        for row in record.summary
        if row.probe in (ONE, ORDER) and row.predicted == EVERYTHING
    }
    return ErasureSection(
        flips=tuple(flip_tables(rows)),
        possible=rows.get(("flip_any", None, "share")),
        needed=grid(rows, MEASURES),
        curves=grid(rows, CURVES),
        races=grid(rows, RACES),
    )


def flip_tables(rows: Rows) -> list[FlipTable]:
    found = []
    for group, name in RANKINGS.items():
        cells = [row for cell in CELLS if (row := rows.get((cell, group, "share"))) is not None]
        if len(cells) == len(CELLS):
            expected = rows.get(("flip_random_expected", group, "mean"))
            found.append(FlipTable(name, tuple(cells), expected))
    return found


def grid(rows: Rows, columns: Mapping[str, tuple[str, str]]) -> OrderGrid:
    """The orders that have at least one of the columns."""
    lines = [
        OrderLine(
            name, tuple(rows.get((quantity, order, how)) for quantity, how in columns.values())
        )
        for order, name in ORDERS.items()
    ]
    return OrderGrid(tuple(columns), tuple(line for line in lines if any(line.cells)))
