"""Which measures of importance agree with which? Every pair's mean tau, as a square.

How far off is leave-one-out of long documents, and did that stay within what is promised?
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from assay.probes.agreement import FADING_BOUNDS, FADING_ERROR, FADING_TAU_ERROR
from assay.report import text as words
from assay.runs.directory import SummaryRow

PROBE = "agreement"
EVERYTHING = "all"
FEWEST = 4  # measures; three pairs stand in the table already


@dataclass(frozen=True)
class MatrixLine:
    """One measure against those named in the columns; None on and below the diagonal."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class AgreementMatrix:
    columns: tuple[str, ...]
    lines: tuple[MatrixLine, ...]


def matrix(summary: Iterable[SummaryRow]) -> AgreementMatrix | None:
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
        MatrixLine(words.plain(one), tuple(pairs.get((one, other)) for other in there[1:]))
        for one in there[:-1]
    ]
    return AgreementMatrix(tuple(words.plain(name) for name in there[1:]), tuple(lines))


CURE = "--exact-below"


@dataclass(frozen=True)
class Check:
    """The largest errors over the documents that were computed both ways."""

    n: int
    tvd: float
    tau: float | None  # None where no checked document has a tau

    @property
    def broken(self) -> bool:
        bounds = FADING_BOUNDS
        return self.tvd > bounds[FADING_ERROR] or (self.tau or 0) > bounds[FADING_TAU_ERROR]

    @property
    def found(self) -> str:
        documents = "1 long document" if self.n == 1 else f"{self.n} long documents"
        tau = "" if self.tau is None else f", and its τ with attention by at most {self.tau:.1g}"
        return (
            "Leave-one-out of long documents stops reading where the effect of a deletion has "
            f"faded. Held against the exact values on {documents}, it was off by at most "
            f"{self.tvd:.1g} (TVD){tau}."
        )

    @property
    def warning(self) -> str | None:
        """What to do where it is off by more than is promised."""
        if not self.broken:
            return None
        tvd, tau = FADING_BOUNDS[FADING_ERROR], FADING_BOUNDS[FADING_TAU_ERROR]
        return (
            f"That is more than the promised {tvd:g} (TVD) and {tau:g} (τ): this model forgets "
            f"too slowly. The checked documents have their exact values; for all, run again with "
            f"{CURE} above the longest document's number of items, which takes longer."
        )


def fading_check(summary: Iterable[SummaryRow]) -> Check | None:
    """None where no document was long enough, or the model has nothing that fades."""
    return _check({row.quantity: (row.value, row.n) for row in summary
                   if (row.predicted, row.statistic) == ("all", "max")})  # fmt: skip


def fading_lines(summary: Iterable[Mapping[str, Any]]) -> list[str]:
    """The same for a terminal, from the rows of summary.json."""
    check = _check({row["quantity"]: (row["value"], row["n"]) for row in summary
                    if (row["class"], row["statistic"]) == ("all", "max")})  # fmt: skip
    if check is None:
        return []
    return [check.found] + ([] if check.warning is None else [f"WARNING: {check.warning}"])


def _check(largest: Mapping[str, tuple[float | None, int | None]]) -> Check | None:
    tvd, n = largest.get(FADING_ERROR, (None, None))
    if tvd is None or not n:
        return None
    return Check(n, tvd, largest.get(FADING_TAU_ERROR, (None, 0))[0])
