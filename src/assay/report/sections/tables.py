"""Tables of the summary: all rows for the page, and the principal ones for a paper.

The page and `summary.csv` hold every quantity. Tables that are read away from the page (LaTeX, the
comparison of runs) hold the principal quantities, over all documents, without bins and with one
bound on the change of the prediction.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from assay.evidence import SHOWN_EPS
from assay.report import text as words
from assay.runs.directory import SummaryRow

EVERYTHING = "all"
LONGEST_LABEL = 70  # characters of a quantity's name beside its numbers
MOST_CLASSES = 12  # rows of classes in one table; the rest stay in summary.csv
Subject = tuple[str, str | None]


@dataclass(frozen=True)
class TableRow:
    """The statistics over one set of documents; `n` and `skipped` count them."""

    predicted: str
    n: int | None
    skipped: int | None
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class TablePart:
    """One quantity, in one of its groups if the probe varied something."""

    quantity: str
    group: str | None
    rows: tuple[TableRow, ...]
    classes_left_out: int

    @property
    def caption(self) -> str:
        return f"{self.quantity}: {self.group}" if self.group else self.quantity


@dataclass(frozen=True)
class TableBlock:
    """The parts of one quantity: lines by group below its name, or one line with its name."""

    heading: str | None
    lines: tuple[tuple[str, TablePart], ...]  # what the line over all documents is called


@dataclass(frozen=True)
class SummaryTable:
    """Quantities of one probe that are summarized by the same statistics."""

    statistics: tuple[str, ...]
    parts: tuple[TablePart, ...]

    @property
    def caption(self) -> str:
        """The first part: with its group, because tables of one quantity need different names."""
        first, *others = self.parts
        return f"{first.caption}, and {len(others)} more" if others else first.caption

    @property
    def blocks(self) -> tuple[TableBlock, ...]:
        """The parts by quantity, in their order. Names that all fit need no lines of their own."""
        if all(map(_stands_alone, self.parts)):
            return tuple(TableBlock(None, ((part.caption, part),)) for part in self.parts)
        return tuple(
            TableBlock(quantity, tuple((part.group or "all documents", part) for part in parts))
            for quantity, parts in groupby(self.parts, key=lambda part: part.quantity)
        )

    @property
    def by_class(self) -> bool:
        """Whether rows of single classes can be folded behind those over all documents."""
        return {row.predicted == EVERYTHING for part in self.parts for row in part.rows} == {
            True,
            False,
        }


def _stands_alone(part: TablePart) -> bool:
    """Whether the name of a part fits beside its numbers."""
    over_all = bool(part.rows) and part.rows[0].predicted == EVERYTHING
    return over_all and part.group is None and len(part.quantity) <= LONGEST_LABEL


def tables(summary: Iterable[SummaryRow]) -> dict[str, list[SummaryTable]]:
    """Tables by probe, in the order of the summary."""
    found: dict[str, dict[Subject, list[SummaryRow]]] = {}
    for row in filter(_is_shown, summary):
        found.setdefault(row.probe, {}).setdefault(subject_of(row), []).append(row)
    return {probe: list(_tables(probe, subjects)) for probe, subjects in found.items()}


def _is_shown(row: SummaryRow) -> bool:
    """Rows except those of a class that was never predicted, and those that the matrix shows."""
    has_documents = row.predicted == EVERYTHING or row.n != 0 or row.skipped != 0
    return has_documents and not row.detail


def subject_of(row: SummaryRow) -> Subject:
    """Quantity and group; the p of a tau belongs to the tau's row."""
    name = row.quantity
    return (f"tau_{name.removeprefix('p_')}" if name.startswith("p_") else name), row.group


def meaning_of(quantity: str, rows: Iterable[SummaryRow]) -> str | None:
    """The declared meaning of a quantity; None if no row of it has one."""
    return next((row.meaning for row in rows if row.quantity == quantity and row.meaning), None)


def _tables(probe: str, subjects: dict[Subject, list[SummaryRow]]) -> Iterable[SummaryTable]:
    for names, alike in groupby(subjects.items(), key=lambda pair: _statistics(pair[1])):
        yield SummaryTable(
            statistics=tuple(words.statistic(name) for name in names),
            parts=tuple(_part(probe, subject, rows, names) for subject, rows in alike),
        )


def _statistics(rows: list[SummaryRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.statistic for row in rows))


def _part(
    probe: str, subject: Subject, rows: list[SummaryRow], names: tuple[str, ...]
) -> TablePart:
    quantity, group = subject
    shown, left_out = _most_predicted(rows)
    return TablePart(
        words.quantity(probe, quantity, meaning_of(quantity, rows)),
        words.group(group, probe) if group else None,
        tuple(_rows(shown, names)),
        left_out,
    )


def _most_predicted(rows: list[SummaryRow]) -> tuple[list[SummaryRow], int]:
    """The rows over all documents and of the largest classes, and the number of other classes."""
    sizes: dict[str, int] = {}
    for row in rows:
        if row.predicted != EVERYTHING:
            sizes[row.predicted] = max(sizes.get(row.predicted, 0), row.n or 0)
    kept = {EVERYTHING, *sorted(sizes, key=lambda name: -sizes[name])[:MOST_CLASSES]}
    return [row for row in rows if row.predicted in kept], max(0, len(sizes) - MOST_CLASSES)


def _rows(rows: list[SummaryRow], names: tuple[str, ...]) -> Iterable[TableRow]:
    """Statistics stand side by side only if they were computed over the same documents."""
    order = {key: place for place, key in enumerate(dict.fromkeys(map(_documents, rows)))}
    in_order = sorted(rows, key=lambda row: order[_documents(row)])
    for key, members in groupby(in_order, key=_documents):
        cells = {row.statistic: row for row in members}
        yield TableRow(*key, cells=tuple(cells.get(name) for name in names))


def _documents(row: SummaryRow) -> tuple[str, int | None, int | None]:
    return row.predicted, row.n, row.skipped


# A probe that is not listed here has all its quantities printed, up to MOST_ROWS.
PRINCIPAL: Mapping[str, tuple[str, ...]] = {
    "permutation": ("median_tvd",),
    "adversary": ("max_jsd", "max_jsd_upper", "adversary_tvd"),
    "erase_one": ("flip_top", "flip_random_expected", "flip_any"),
    "erase_order": ("fraction_to_flip", "never_flips"),
    "input_erasure": ("input_aopc_comprehensiveness", "input_aopc_sufficiency"),
    "substitute": ("tvd", "jsd", "flip"),
    "uniform": ("f1", "f1_difference"),
    "seeds": ("median_jsd", "median_tvd", "shuffled_jsd"),
    "guide": ("f1",),
    "imitation": ("mean_jsd", "mean_tvd", "f1"),
    "deception": ("f1", "mean_mass"),
}
SAME_PREDICTION = f"eps={SHOWN_EPS:g}"  # Jain & Wallace's
ERASED = ("attention;by=deletion", "random;by=deletion", "best;by=deletion")  # of all orders
OMITTED = ("max_attention=", "as_released")  # bins, and what only repeats a paper's own program
WITHOUT_INTERVAL = "std"
MOST_ROWS = 20  # of one probe, before rows by class


def principal(summary: Iterable[SummaryRow]) -> dict[str, list[SummaryRow]]:
    """The rows that a paper would print, over all documents, by probe."""
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
    if row.value is None or row.statistic == WITHOUT_INTERVAL or row.detail:
        return False
    group = row.group or ""
    if any(part in group for part in OMITTED):
        return False
    if group.startswith("eps=") and group != SAME_PREDICTION:
        return False
    if row.probe == "input_erasure" and group not in ERASED:
        return False
    return row.quantity in PRINCIPAL.get(row.probe, (row.quantity,))
