"""How large is a claim's effect in each of several runs, and how sure is that?

No single run's to draw. The shape of a point is that of the finding's mark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.report import words
from assay.report.figures.lines import Line, by_name, line_chart, tenths
from assay.report.figures.style import WIDTH, Figure
from assay.report.numbers import number
from assay.report.record import Claim

STEP = 24  # the height of a line
POINT = 70  # larger than elsewhere: its shape is read
LABELS = 112  # pixels left of the scale: browsers differ in how wide they set a letter
LONGEST_LABEL = 13  # letters that fit there; the table above has the whole name
SHAPES: Mapping[str, str] = {
    "supported": "circle",
    "contradicted": "square",
    "undecided": "diamond",
}


@dataclass(frozen=True)
class Effect:
    """A run, and what it found; None where it did not measure the claim."""

    run: str
    claim: Claim | None


def effect_forest(says: str, lines: Sequence[Effect]) -> Figure:
    """A line per run on one scale, which shows zero; a run without an effect keeps its place."""
    found = [_line(line, line.claim) for line in lines if line.claim is not None]
    upward = by_name(LABELS, LABELS)
    upward = upward.scale(domain=[_label(line.run) for line in lines])
    domain = tenths([0.0, *(end for line in found for end in line.ends)])
    drawn = line_chart(found, upward, domain, dotted=0.0, point=POINT)
    said = "; ".join(_say(line) for line in lines)
    drawn = drawn.properties(width=WIDTH, height=STEP * len(lines))
    return Figure("effects", "", drawn, f"{words.shown(says)} {said}.")


def _line(line: Effect, claim: Claim) -> Line:
    shape, say = SHAPES.get(claim.finding, "circle"), _say(line)
    return Line(_label(line.run), claim.effect or 0.0, claim.low, claim.high, say, shape=shape)


def _label(run: str) -> str:
    whole = words.in_figure(run)
    return whole if len(whole) <= LONGEST_LABEL else whole[: LONGEST_LABEL - 1] + "…"


def _say(line: Effect) -> str:
    claim, run = line.claim, words.in_figure(line.run)
    if claim is None:
        return f"{run}: not measured"
    bounds = "" if claim.low is None else f" [{number(claim.low)}, {number(claim.high)}]"
    return f"{run}: {claim.finding}, {number(claim.effect)}{bounds}"
