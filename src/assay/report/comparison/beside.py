"""How do the runs' claims and summaries stand beside each other, row by row?"""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report import words
from assay.report.comparison.sides import Side
from assay.report.notions import TESTED, notion_of
from assay.report.principal import principal
from assay.report.record import Claim, SummaryRow
from assay.report.tables import subject_of
from assay.report.words import NOTIONS


@dataclass(frozen=True)
class ClaimRow:
    """One claim in every run; None where a run's verdict does not know it."""

    claim: str
    says: str
    counts: str | None  # what its effect counts
    cells: tuple[Claim | None, ...]

    @property
    def tested(self) -> bool:
        """In at least one run."""
        return any(cell is not None and cell.finding in TESTED for cell in self.cells)


@dataclass(frozen=True)
class SummaryLine:
    group: str
    statistic: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class Quantity:
    caption: str
    lines: tuple[SummaryLine, ...]


Key = tuple[str, str | None]  # quantity, group


def claims(sides: Sequence[Side]) -> dict[str, list[ClaimRow]]:
    """By notion, in the order of the debate; also those that no run tested."""
    by_run = [{claim.claim: claim for claim in side.verdict} for side in sides]
    found: dict[str, list[ClaimRow]] = {name: [] for name in NOTIONS}
    for name in dict.fromkeys(name for verdict in by_run for name in verdict):
        cells = tuple(verdict.get(name) for verdict in by_run)
        first = next(cell for cell in cells if cell is not None)
        row = ClaimRow(name, first.says or name, words.EFFECTS.get(name), cells)
        found.setdefault(notion_of(first), []).append(row)
    return {notion: rows for notion, rows in found.items() if rows}


def summaries(sides: Sequence[Side]) -> dict[str, list[Quantity]]:
    """By probe: the first statistic of what a paper would print; the rest is in summary.csv."""
    by_run = [principal(side.summary) for side in sides]
    probes = dict.fromkeys(probe for each in by_run for probe in each)
    return {probe: _quantities(probe, [each.get(probe, []) for each in by_run]) for probe in probes}


def _quantities(probe: str, by_run: list[list[SummaryRow]]) -> list[Quantity]:
    first = [_first_statistics(rows) for rows in by_run]
    lines: dict[str, list[SummaryLine]] = {}
    for quantity, group in dict.fromkeys(key for each in first for key in each):
        cells = tuple(each.get((quantity, group)) for each in first)
        statistic = next(cell.statistic for cell in cells if cell is not None)
        said = "all" if group is None else words.group(group)
        same = tuple(cell if cell and cell.statistic == statistic else None for cell in cells)
        lines.setdefault(quantity, []).append(SummaryLine(said, words.statistic(statistic), same))
    return [Quantity(words.quantity(name, probe), tuple(own)) for name, own in lines.items()]


def _first_statistics(rows: list[SummaryRow]) -> dict[Key, SummaryRow]:
    """A subject's first row; the p of a tau is not its first."""
    found: dict[Key, SummaryRow] = {}
    for row in rows:
        found.setdefault(subject_of(row), row)
    return found
