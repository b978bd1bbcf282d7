"""Thresholds proposed from the calibration families; the test families are never read here.

An upper threshold must lie below what the rule can still show at dose 1, and above the effects of
dose 1/2, which are no support. A lower threshold must lie above what the rule can still exclude at
dose 0, and below the effects of dose 1/4. Where several measures are joined, all of them must
support a claim or contradict it: the weakest counts at dose 1, the strongest at dose 0.

Doses of effects in F1 or TVD have no natural scale. Their thresholds come from the smallest effect
of interest; what is proposed here only says which thresholds 500 documents can decide.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.controls.graded.cases import GradedAnswer
from assay.controls.graded.families import PAIRS
from assay.controls.graded.rates import LEAST_DECIDED, OperatingCurve, operating_curves
from assay.verdict import CLAIMS

# The effect of shuffled weights, or of models that do not differ, where it is not 0. A family may
# fall below it at dose 0, but shuffled weights must be contradicted, too.
SHUFFLED = {"plausible": 0.5}
MEASURED = ("supported", "undecided", "contradicted")


@dataclass(frozen=True)
class Proposal:
    """Thresholds for one claim, and the numbers they follow from."""

    claim: str
    curve: OperatingCurve
    decidable_above: float  # a lower threshold from here on decides enough cases at dose 0
    decidable_below: float  # an upper threshold up to here decides enough cases at dose 1
    lower: float
    upper: float
    lower_now: float
    upper_now: float


def propose(answers: Iterable[GradedAnswer]) -> list[Proposal]:
    """One proposal per claim that was measured on its calibration family."""
    own = [
        one
        for one in answers
        if one.role == "calibration"
        and one.finding in MEASURED
        and one.family == PAIRS[one.claim].calibration
    ]
    curves = {curve.claim: curve for curve in operating_curves(own, "calibration")}
    declared = {claim.name: claim for claim in CLAIMS}
    return [
        _proposal(
            curves[claim],
            [one for one in own if one.claim == claim],
            declared[claim].contradicted_below,
            declared[claim].supported_above,
        )
        for claim in PAIRS
        if curves[claim].doses
    ]


def _proposal(
    curve: OperatingCurve, answers: Sequence[GradedAnswer], lower_now: float, upper_now: float
) -> Proposal:
    at_0 = [one for one in answers if one.dose == 0 and one.high is not None]
    lows = [one.low for one in answers if one.dose == 1 and one.low is not None]
    widths = [(one.high or 0.0) - (one.effect or 0.0) for one in at_0]
    least = _largest(
        _quantile([one.high or 0.0 for one in at_0], LEAST_DECIDED),
        SHUFFLED.get(curve.claim, 0.0) + _quantile(widths, LEAST_DECIDED),
    )
    most = _quantile(lows, 1 - LEAST_DECIDED)
    strongest = {dose: _extremes(answers, dose, max) for dose in (0.0, 0.25, 0.5)}
    weakest = _extremes(answers, 1.0, min)
    between_low = (strongest[0.0] + strongest[0.25]) / 2
    between_high = (strongest[0.5] + weakest) / 2
    return Proposal(
        curve.claim,
        curve,
        decidable_above=least,
        decidable_below=most,
        lower=_largest(least, between_low),
        upper=_smallest(most, between_high),
        lower_now=lower_now,
        upper_now=upper_now,
    )


def _extremes(
    answers: Sequence[GradedAnswer], dose: float, choose: Callable[[list[float]], float]
) -> float:
    """The mean over the cases of a dose of the strongest or weakest measure."""
    own = [one for one in answers if one.dose == dose and one.effect is not None]
    return _mean([choose([*one.measures.values()] or [one.effect or 0.0]) for one in own])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _quantile(values: Sequence[float], level: float) -> float:
    return float(np.quantile(values, level)) if values else float("nan")


def _largest(*values: float) -> float:
    return float(np.nanmax(values))


def _smallest(*values: float) -> float:
    return float(np.nanmin(values))
