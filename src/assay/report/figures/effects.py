"""How large is a claim's effect in each of several runs, and how sure is that?

No single run's to draw. The shape of a point is that of the finding's mark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

import altair as alt

from assay.report import words
from assay.report.figures.style import (
    ATTENTION,
    WIDTH,
    Figure,
    across,
    chart,
    layered,
    short,
)
from assay.report.numbers import number
from assay.report.record import Claim

STEP = 24  # the height of a line
POINT = 70
LABELS = 112  # pixels left of the scale: browsers differ in how wide they set a letter
LONGEST_LABEL = 13  # letters that fit there; the table above has the whole name
TENTHS = 10  # the scale ends at whole tenths
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
    rows = [_row(line.run, line.claim) for line in lines if line.claim is not None]
    ends = [float(row[end]) for row in rows for end in ("low", "high")]
    low, high = floor(min([0.0, *ends]) * TENTHS), ceil(max([0.0, *ends]) * TENTHS)
    domain = (low / TENTHS, max(high, low + 1) / TENTHS)
    upward = alt.Y("run:N", title=None).scale(domain=[_label(line.run) for line in lines])
    upward = upward.axis(minExtent=LABELS, maxExtent=LABELS, grid=True, ticks=False, domain=False)
    shape = alt.Shape("finding:N", legend=None)
    shape = shape.scale(domain=list(SHAPES), range=list(SHAPES.values()))
    base = chart(rows)
    points = base.mark_point(color=ATTENTION, filled=True, size=POINT, opacity=1)
    drawn = layered(
        chart([{"low": 0.0}]).mark_rule(strokeDash=[1, 2]).encode(x="low:Q"),
        base.mark_rule(color=ATTENTION, size=2).encode(
            x=across("low", None, domain), x2="high:Q", y=upward
        ),
        points.encode(x=across("effect", None, domain), y=upward, shape=shape),
    ).properties(width=WIDTH, height=STEP * len(lines))
    said = "; ".join(_say(line) for line in lines)
    return Figure("effects", "", drawn, f"{words.shown(says)} {said}.")


def _row(run: str, claim: Claim) -> Mapping[str, float | str]:
    effect = claim.effect or 0.0
    low, high = (effect if end is None else end for end in (claim.low, claim.high))
    return {
        "run": _label(run),
        "finding": claim.finding,
        "effect": short(effect),
        "low": short(low),
        "high": short(high),
    }


def _label(run: str) -> str:
    whole = words.in_figure(run)
    return whole if len(whole) <= LONGEST_LABEL else whole[: LONGEST_LABEL - 1] + "…"


def _say(line: Effect) -> str:
    claim, run = line.claim, words.in_figure(line.run)
    if claim is None:
        return f"{run}: not measured"
    bounds = "" if claim.low is None else f" [{number(claim.low)}, {number(claim.high)}]"
    return f"{run}: {claim.finding}, {number(claim.effect)}{bounds}"
