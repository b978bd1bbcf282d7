"""The section on agreement: the matrix of all pairs of scores, and the check of leave-one-out.

The check reports how far leave-one-out of long documents, which stops reading early, is off the
exact values, and warns where it is off by more than is promised.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from assay.evidence import FADING_BOUNDS, FADING_ERROR, FADING_TAU_ERROR
from assay.report import text as words
from assay.runs.directory import SummaryRow

PROBE = "agreement"
EVERYTHING = "all"
FEWEST = 4  # scores; with three, all pairs stand in the table already


@dataclass(frozen=True)
class MatrixLine:
    """One score with those named in the columns; None on and below the diagonal."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class AgreementMatrix:
    columns: tuple[str, ...]
    lines: tuple[MatrixLine, ...]


def matrix(summary: Iterable[SummaryRow], scores: Sequence[str]) -> AgreementMatrix | None:
    """The mean tau of every pair of the probe's scores, as an upper triangle.

    None where only the paper's three scores were measured.
    """
    means = {
        row.quantity: row
        for row in summary
        if row.probe == PROBE and row.statistic == "mean" and row.predicted == EVERYTHING and row.n
    }
    pairs = {(a, b): means.get(f"tau_{a}_{b}") for a, b in combinations(scores, 2)}
    measured = [name for name in scores if any(row and name in pair for pair, row in pairs.items())]
    if len(measured) < FEWEST:
        return None
    lines = [
        MatrixLine(words.score(one), tuple(pairs.get((one, other)) for other in measured[1:]))
        for one in measured[:-1]
    ]
    return AgreementMatrix(tuple(words.score(name) for name in measured[1:]), tuple(lines))


OPTION = "--exact-below"


@dataclass(frozen=True)
class FadingCheck:
    """The largest errors of leave-one-out over the documents that were computed both ways."""

    n: int
    tvd: float
    tau: float | None  # None where no checked document has a tau

    @property
    def is_exceeded(self) -> bool:
        bounds = FADING_BOUNDS
        return self.tvd > bounds[FADING_ERROR] or (self.tau or 0) > bounds[FADING_TAU_ERROR]

    @property
    def result(self) -> str:
        documents = "1 long document" if self.n == 1 else f"{self.n} long documents"
        tau = "" if self.tau is None else f", and its τ with attention by at most {self.tau:.1g}"
        return (
            "Leave-one-out of long documents stops reading where the effect of a deletion has "
            f"faded. Compared with the exact values on {documents}, it was off by at most "
            f"{self.tvd:.1g} (TVD){tau}."
        )

    @property
    def warning(self) -> str | None:
        """The cure where the error is larger than promised."""
        if not self.is_exceeded:
            return None
        tvd, tau = FADING_BOUNDS[FADING_ERROR], FADING_BOUNDS[FADING_TAU_ERROR]
        return (
            f"That is more than the promised {tvd:g} (TVD) and {tau:g} (τ): this model forgets too "
            f"slowly. The checked documents keep their exact values. For exact values everywhere, "
            f"repeat the run with {OPTION} above the number of items of the longest document, "
            f"which takes longer."
        )


def fading_check(summary: Iterable[SummaryRow]) -> FadingCheck | None:
    """The check; None where no document was long enough, or the model's encoder does not fade."""
    largest = {
        row.quantity: (row.value, row.n)
        for row in summary
        if (row.predicted, row.statistic) == (EVERYTHING, "max")
    }
    tvd, n = largest.get(FADING_ERROR, (None, None))
    if tvd is None or not n:
        return None
    return FadingCheck(n, tvd, largest.get(FADING_TAU_ERROR, (None, 0))[0])


def fading_lines(summary: Iterable[SummaryRow]) -> list[str]:
    """The same as lines for a terminal."""
    check = fading_check(summary)
    if check is None:
        return []
    return [check.result] + ([] if check.warning is None else [f"WARNING: {check.warning}"])
