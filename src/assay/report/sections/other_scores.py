"""Which explanation instead? The other scores, compared with attention on this model.

By erasure on the input: comprehensiveness and sufficiency (AOPC) enter alike, over all kinds of
erasure, and the mean is normalized so that 0 is a random order and 1 the best order found. By the
marked items, where there are any: the AUC. Every score is compared with attention on the documents
that both have. One score is chosen among several, so the intervals of the differences are
simultaneous (Bonferroni).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.report import text as words
from assay.report.sections.tables import EVERYTHING
from assay.report.sections.verdict import notion_of
from assay.runs.directory import RunRecord, SummaryRow
from assay.statistics.estimates import LEVEL, Estimate, mean_estimate, ratio_estimate

ERASURE, MARKS = "input_erasure", "rationale"
OWN, FLOOR, BEST, SINGLE = "attention", "random", "best", "single_erasure"
SIGNS = {"input_aopc_comprehensiveness": 1.0, "input_aopc_sufficiency": -1.0}
BY = ";by="  # before the kind of erasure in a group
ORDERS = {OWN: "attention", FLOOR: "random order", BEST: "best order found"}
PLAUSIBILITY = "plausibility"  # says nothing about what moves the prediction
FEWEST = 10  # documents: fewer cannot tell scores apart
Floats = NDArray[np.float64]
Values = Mapping[str, Floats]  # score -> one number per document, NaN where there is none
Estimator = Callable[[Floats], Estimate]  # leaves out documents without a number


@dataclass(frozen=True)
class Measured:
    """A number with its interval, as tables print it."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class ScoreLine:
    """One score, and how far it is above attention; attention itself has no difference."""

    name: str
    own: Measured
    difference: Measured | None


@dataclass(frozen=True)
class Ranking:
    """The scores from best to worst by one criterion."""

    lines: tuple[ScoreLine, ...]
    alike: tuple[str, ...]  # those that cannot be told from the best, attention included

    @property
    def attention(self) -> ScoreLine:
        return next(line for line in self.lines if line.difference is None)

    @property
    def best(self) -> ScoreLine | None:
        """The best score, if it is better than attention beyond doubt."""
        first = self.lines[0].difference
        return self.lines[0] if first and first.low is not None and first.low > 0 else None


@dataclass(frozen=True)
class OrderLine:
    """The AOPC of one order: comprehensiveness and sufficiency by each kind of erasure."""

    name: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class OtherScores:
    """What the page and the card say; a criterion that was not measured is None."""

    erasure: Ranking | None
    marks: Ranking | None
    against: tuple[str, ...]  # the contradicted claims
    kinds: tuple[str, ...]  # of erasure
    orders: tuple[OrderLine, ...]  # attention and the two it is compared with

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer, one sentence per criterion; none if the verdict is not against attention."""
        if not self.against:
            return ()
        found = []
        if self.erasure is not None:
            found.append(_said(self.erasure, "when the items it ranks first are erased", ERASED))
        if self.marks is not None:
            found.append(_said(self.marks, "at finding the items that are marked", "AUC {}"))
        return tuple(found)


ERASED = "{} of the way from a random order to the best order found"


def other_scores(record: RunRecord) -> OtherScores:
    """Both rankings, from the evidence of the run."""
    against = [
        claim.claim
        for claim in record.verdict
        if claim.finding == "contradicted" and notion_of(claim) != PLAUSIBILITY
    ]
    marked = record.rows(probe=MARKS, quantity="auc")
    rankings = erasure_ranking(erased_rows(record)), marks_ranking(marked)
    kinds, orders = order_lines(record.summary)
    return OtherScores(*rankings, tuple(against), kinds, orders)


def order_lines(summary: Sequence[SummaryRow]) -> tuple[tuple[str, ...], tuple[OrderLine, ...]]:
    """The kinds of erasure that were measured, and the AOPC of attention, random and best order."""
    rows = {
        (row.quantity, row.group): row
        for row in summary
        if row.probe == ERASURE and row.predicted == EVERYTHING
    }
    groups = [group or "" for _, group in rows]
    kinds = tuple(dict.fromkeys(group.partition(BY)[2] for group in groups))
    lines = [
        OrderLine(name, tuple(rows.get((q, f"{order}{BY}{kind}")) for kind in kinds for q in SIGNS))
        for order, name in ORDERS.items()
    ]
    return kinds, tuple(lines)


def erased_rows(record: RunRecord) -> pl.DataFrame:
    """The rows of the evidence that `erasure_ranking` reads."""
    return record.rows(pl.col("quantity").is_in([*SIGNS]), probe=ERASURE)


def erasure_ranking(evidence: pl.DataFrame) -> Ranking | None:
    """The scores by erasure on the input; None where it says nothing."""
    totals = erasure_totals(evidence)
    if OWN not in totals or BEST not in totals:
        return None
    gains = {name: values - totals[FLOOR] for name, values in totals.items() if name != FLOOR}
    room = gains.pop(BEST)
    gains.pop(SINGLE, None)
    known = ~np.isnan(room)
    if known.sum() < FEWEST or not room[known].mean() > 0:
        return None  # no order moves the prediction more than a random one

    def estimate(values: Floats) -> Estimate:
        there = ~np.isnan(values)
        return ratio_estimate(values[there], room[there])

    return rank(gains, estimate)


def erasure_totals(evidence: pl.DataFrame) -> dict[str, Floats]:
    """Per order and document half of comprehensiveness minus sufficiency, mean over the kinds."""
    rows = evidence.filter(pl.col("probe") == ERASURE, pl.col("quantity").is_in([*SIGNS]))
    if rows.is_empty():
        return {}
    sign = pl.col("quantity").replace_strict(SIGNS, return_dtype=pl.Float64)
    order = pl.col("group").str.split(";").list.first()
    signed = rows.with_columns(order=order, signed=sign * pl.col("value"))
    # A mean with a missing part would compare different things.
    mean = pl.when(pl.col("signed").null_count() == 0).then(pl.col("signed").mean())
    table = signed.group_by("instance", "order").agg(total=mean)
    return _columns(table, "order", "total")


def marks_ranking(evidence: pl.DataFrame) -> Ranking | None:
    """The scores by the AUC of the marked items; None where no items are marked."""
    rows = evidence.filter(pl.col("probe") == MARKS, pl.col("quantity") == "auc")
    values = _columns(rows, "group", "value")
    values.pop(FLOOR, None)
    if OWN not in values or (~np.isnan(values[OWN])).sum() < FEWEST:
        return None
    return rank(values, lambda own: mean_estimate(own[~np.isnan(own)]))


def _columns(rows: pl.DataFrame, names: str, values: str) -> dict[str, Floats]:
    wide = rows.pivot(names, index="instance", values=values).sort("instance").drop("instance")
    return {name: wide[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in wide.columns}


def rank(values: Values, estimate: Estimator) -> Ranking:
    """Order the scores, compare each with attention, and find those as good as the best."""
    known = {name: own for name, own in values.items() if _shared(own, values[OWN]) >= FEWEST}
    level = 1 - (1 - LEVEL) / max(1, len(known) - 1)
    own = {name: estimate(column) for name, column in known.items()}
    ordered = sorted(known, key=lambda name: -own[name].value)
    lines = tuple(
        ScoreLine(
            words.score(name),
            _measured(own[name]),
            None if name == OWN else _measured(estimate(known[name] - known[OWN]), level),
        )
        for name in ordered
    )
    gaps = {name: estimate(known[ordered[0]] - known[name]) for name in ordered[1:]}
    alike = [name for name, gap in gaps.items() if not gap.interval(level)[0] > 0]
    return Ranking(lines, tuple(words.score(name) for name in alike))


def _shared(one: Floats, other: Floats) -> int:
    return int((~np.isnan(one) & ~np.isnan(other)).sum())


def _measured(found: Estimate, level: float = LEVEL) -> Measured:
    low, high = found.interval(level)
    return Measured(found.value, low, high, found.n)


def _said(ranking: Ranking, at: str, unit: str) -> str:
    best, own = ranking.best, ranking.attention
    count = len(ranking.lines) - 1
    if best is None or best.difference is None:
        shown = unit.format(_worded(own.own))
        return f"No other score of {count} did better than attention {at}: it reaches {shown}."
    alike = [name for name in ranking.alike if name != own.name]
    others = f" {_listed(alike)} cannot be told from it." if alike else ""
    return (
        f"Of {count} other scores, {best.name} did best {at}: it reaches "
        f"{unit.format(_worded(best.own))}, attention {_worded(own.own)}. The difference is "
        f"{_worded(best.difference)}, over {best.difference.n} documents.{others}"
    )


def _worded(measured: Measured) -> str:
    value, low, high = map(words.number, (measured.value, measured.low, measured.high))
    return f"{value} [{low}, {high}]"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    said = f"{', '.join(others)} and {last}" if others else last
    return said[:1].upper() + said[1:]
