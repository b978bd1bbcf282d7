"""The one way in which all claims are decided.

Each measure of a claim is tested twice: is the true effect above the upper threshold, is it below
the lower one. Joined measures take their largest p-value on each side. The p-value of a claim is
twice the smaller of its two sides, and Holm's procedure goes over all claims that are tested in a
run. The interval of a claim has the level at which Holm compared it, so that the finding can be
read from it: supported if the whole interval lies above the upper threshold, contradicted if it
lies below the lower one.

Holm's procedure compares the p-values in ascending order: the smallest of m with alpha / m, the
next with alpha / (m - 1), and so on until the first that is too large. The chance of any false
rejection is then at most alpha, whatever the dependence between the tests.

A claim is not tested if the model guesses, if there are too few documents or models, or if its
evidence leaves nothing to decide. It is then undecided, and the reason is named.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from assay.statistics.estimates import LEVEL
from assay.verdict.case import Case, would_settle
from assay.verdict.claim import Finding, Measure, Reason
from assay.verdict.wording import explain

ALPHA = 0.05


class Comparison(NamedTuple):
    """What one p-value was compared with, and whether it was small enough."""

    alpha: float
    rejected: bool


UNTESTED = Comparison(1 - LEVEL, False)


def decide(cases: Sequence[Case], guesses: bool) -> list[dict[str, Any]]:
    """The decided part of each claim's entry, in the given order."""
    reasons = [case.untested(guesses) for case in cases]
    tested = [place for place, reason in enumerate(reasons) if reason is None]
    compared = dict(zip(tested, holm([cases[place].p for place in tested]), strict=True))
    return [
        _entry(case, reason, compared.get(place, UNTESTED))
        for place, (case, reason) in enumerate(zip(cases, reasons, strict=True))
    ]


def holm(p_values: Sequence[float], alpha: float = ALPHA) -> list[Comparison]:
    """One comparison per p-value, in the given order.

    After the first failure nothing is compared any more. The remaining tests are reported at the
    level of the failing step, because all of them would have had to pass it.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    found: dict[int, Comparison] = {}
    failed: float | None = None
    for step, place in enumerate(order):
        compared = alpha / (len(order) - step) if failed is None else failed
        rejected = failed is None and p_values[place] <= compared
        if not rejected:
            failed = compared
        found[place] = Comparison(compared, rejected)
    return [found[place] for place in range(len(p_values))]


def _entry(case: Case, untested: Reason | None, compared: Comparison) -> dict[str, Any]:
    reading = case.reading
    if not reading.applicable:
        return {**empty_decision("not applicable", reading.says), "n": case.n}
    reason, finding = untested, _finding(case, compared)
    if untested is None and finding == "undecided":
        reason = _reason(case, compared)
    settle = would_settle(case, reason, compared.alpha)
    found = empty_decision(finding, "") | {
        "reason": reason,
        "n": case.n,
        "models": case.models,
        "supported_above": case.claim.supported_above,
        "contradicted_below": case.claim.contradicted_below,
        "unit": case.claim.unit,
        "would_settle": settle,
        "beside": [each._asdict() for each in reading.beside],
    }
    if case.measures:
        found |= _numbers(case, compared)
        found["p"] = case.p if untested is None else None
    found["why"] = explain(case, found)
    return found


def _finding(case: Case, compared: Comparison) -> Finding:
    if not compared.rejected:
        return "undecided"
    if case.leaning == "above" and not case.reading.support_barred:
        return "supported"
    return "contradicted"


def _reason(case: Case, compared: Comparison) -> Reason:
    """Why a tested claim stayed undecided.

    An interval is too wide if its effect lies outside the thresholds, or if it covers both of them:
    it then leaves everything open.
    """
    barred = case.reading.support_barred
    if barred is not None and 2 * case.p_side("above") <= compared.alpha:
        return barred.reason
    if case.side is not None or case.leaves_all_open(case.level(compared.alpha)):
        return "interval too wide"
    return "between the thresholds"


def _numbers(case: Case, compared: Comparison) -> dict[str, Any]:
    binding, level = case.binding, case.level(compared.alpha)
    low, high = binding.estimate.interval(level)
    low95, high95 = binding.estimate.interval()
    several = case.measures if len(case.measures) > 1 else ()
    return {
        "effect": _number(binding.estimate.value),
        "low": _number(low),
        "high": _number(high),
        "level": level,
        "low95": _number(low95),
        "high95": _number(high95),
        "formula": binding.formula,
        "tested_effect": _number(case.last_to_pass.estimate.value),
        "smallest_decidable": _number(case.claim.supported_above + binding.estimate.value - low),
        "measures": [_measure(case, each, level) for each in several],
    }


def _measure(case: Case, measure: Measure, level: float) -> dict[str, Any]:
    estimate = measure.estimate
    bounds = (*estimate.interval(level), *estimate.interval())
    low, high, low95, high95 = map(_number, bounds)
    return {
        "name": measure.name,
        "says": measure.said,
        "effect": estimate.value,
        "low": low,
        "high": high,
        "low95": low95,
        "high95": high95,
        "p_above": estimate.p_above(case.claim.supported_above),
        "p_below": estimate.p_below(case.claim.contradicted_below),
        "n": estimate.n,
        "formula": measure.formula,
    }


def _number(value: float) -> float | None:
    return value if value == value else None  # NaN has no place in JSON


def empty_decision(finding: Finding, why: str) -> dict[str, Any]:
    """All fields of a decision, with nothing measured."""
    numbers = ("effect", "low", "high", "level", "low95", "high95", "tested_effect")
    return {
        "finding": finding,
        "reason": None,
        **dict.fromkeys(numbers),
        "n": 0,
        "models": None,
        "p": None,
        "supported_above": None,
        "contradicted_below": None,
        "unit": None,
        "formula": None,
        "smallest_decidable": None,
        "would_settle": None,
        "measures": [],
        "beside": [],
        "why": why,
    }
