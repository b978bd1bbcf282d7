"""Which measures of importance agree with which? Every pair's mean tau, as a square."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from assay.report import words
from assay.report.record import SummaryRow

PROBE = "agreement"
EVERYTHING = "all"
FEWEST = 4  # measures; three pairs stand in the table already


@dataclass(frozen=True)
class Line:
    """One measure against those named in the columns; None on and below the diagonal."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class Matrix:
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def matrix(summary: Iterable[SummaryRow]) -> Matrix | None:
    """The upper triangle; None where only the paper's three were measured."""
    declared = words.probe(PROBE)
    means = {
        row.quantity: row
        for row in summary
        if row.probe == PROBE and row.statistic == "mean" and row.predicted == EVERYTHING and row.n
    }
    scores = declared.scores if declared is not None else ()
    pairs = {(a, b): means.get(f"tau_{a}_{b}") for a, b in combinations(scores, 2)}
    there = [name for name in scores if any(row and name in pair for pair, row in pairs.items())]
    if len(there) < FEWEST:
        return None
    lines = [
        Line(words.plain(one), tuple(pairs.get((one, other)) for other in there[1:]))
        for one in there[:-1]
    ]
    return Matrix(tuple(words.plain(name) for name in there[1:]), tuple(lines))
