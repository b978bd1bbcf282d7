"""The first screen: what may be said of the heat map, what may not, and what is not known.

Each row lists sentences that follow from the findings alone. Beside them stands one typical
document under its own and under other weights with the same prediction. Every claim below has a
strip: the thresholds as zones, the effect as a dot with its interval. Right is always for the
claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.sections.verdict import DECLARED
from assay.report.text import number
from assay.runs.directory import ClaimFinding, RunRecord

WIDTH, MARGIN = 160, 6  # pixels of a strip, and what stays free at its ends
SHARE_OF = "share of "  # units that read as a percentage


@dataclass(frozen=True)
class Statement:
    """One sentence of a row, the claim that it follows from, and what there is to add."""

    claim: str
    sentence: str
    note: str = ""


@dataclass(frozen=True)
class FirstScreen:
    """The three rows of the box."""

    may: tuple[Statement, ...]
    may_not: tuple[Statement, ...]
    unknown: tuple[Statement, ...]
    untested: int


@dataclass(frozen=True)
class Strip:
    """A claim's thresholds, effect and interval, in pixels from the left."""

    lower: float  # contradicted to the left of it
    upper: float  # supported to the right of it
    low: float
    high: float
    dot: float | None  # None: the effect lies outside of what is drawn
    cut_low: bool  # the interval goes on to the left
    cut_high: bool
    weak: bool  # there is nothing to compare with: drawn hatched
    label: str  # the same in words


def first_screen(run: RunRecord) -> FirstScreen:
    """The sentences of the three rows."""
    word = "sentence" if "words" in run.instances.columns else "word"
    found = {finding: [c for c in run.verdict if c.finding == finding] for finding in _TESTED}
    return FirstScreen(
        may=tuple(_statement(claim, word) for claim in found["supported"]),
        may_not=tuple(_statement(claim, word) for claim in found["contradicted"]),
        unknown=tuple(_open_question(claim) for claim in found["undecided"]),
        untested=len(run.verdict) - sum(map(len, found.values())),
    )


def strips(verdict: Sequence[ClaimFinding]) -> dict[str, Strip]:
    """The strip of every claim that has thresholds."""
    drawn = {claim.claim: _strip(claim) for claim in verdict}
    return {name: strip for name, strip in drawn.items() if strip is not None}


def worded_effect(claim: ClaimFinding) -> str:
    """The effect with its unit in words: "45 % of the way from shuffled to equal"."""
    if claim.effect is None:
        return ""
    unit = claim.unit or ""
    if unit.startswith(SHARE_OF):
        return f"{100 * claim.effect:.0f} % of {unit.removeprefix(SHARE_OF)}"
    return f"{number(claim.effect)} {unit}".rstrip()


_TESTED = ("supported", "contradicted", "undecided")


def _statement(claim: ClaimFinding, word: str) -> Statement:
    declared = DECLARED.get(claim.claim)
    if declared is None:
        return Statement(claim.claim, claim.says or claim.claim)
    said = declared.may_be_said if claim.finding == "supported" else declared.may_not_be_said
    return Statement(claim.claim, said.format(word=word, words=f"{word}s"))


def _open_question(claim: ClaimFinding) -> Statement:
    declared = DECLARED.get(claim.claim)
    clause = (claim.says or claim.claim) if declared is None else declared.clause
    reason = claim.reason or ""
    if reason == "between the thresholds":
        reason = f"in between: {worded_effect(claim)}, which passes neither threshold"
    settle = f"; about {claim.would_settle} would settle it" if claim.would_settle else ""
    return Statement(claim.claim, f"Whether {clause}.", f"{reason}{settle}")


def _strip(claim: ClaimFinding) -> Strip | None:
    lower, upper = claim.contradicted_below, claim.supported_above
    if lower is None or upper is None or claim.finding not in _TESTED:
        return None
    # As far beyond the thresholds as twice the zone between them; 0 to 1 for most claims.
    start, end = lower - 2 * (upper - lower), upper + 2 * (upper - lower)

    def place(value: float) -> float:
        share = (min(max(value, start), end) - start) / (end - start)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    rule = f"contradicted below {lower:g}, supported above {upper:g}"
    if claim.effect is None:
        reason = claim.reason or "no effect"
        return Strip(
            place(lower), place(upper), 0, 0, None, False, False, True, f"{reason}; {rule}"
        )
    low = claim.effect if claim.low is None else claim.low
    high = claim.effect if claim.high is None else claim.high
    bounds = "" if claim.low is None else f", interval {number(low)} to {number(high)}"
    return Strip(
        lower=place(lower),
        upper=place(upper),
        low=place(low),
        high=place(high),
        dot=place(claim.effect) if start <= claim.effect <= end else None,
        cut_low=low < start,
        cut_high=high > end,
        weak=claim.reason == "reference too weak",
        label=f"effect {number(claim.effect)}{bounds}; {rule}",
    )
