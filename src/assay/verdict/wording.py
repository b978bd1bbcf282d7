"""The sentences of a verdict: the numbers, the rule, and why a claim stayed undecided."""

from collections.abc import Mapping
from typing import Any

from assay.verdict.case import Case
from assay.verdict.claim import FEWEST_DOCUMENTS, FEWEST_MODELS


def explain(case: Case, found: Mapping[str, Any]) -> str:
    """What was measured, the interval with its thresholds, and the reason if undecided."""
    parts = [case.reading.says, _interval(case, found), _reason(case, found)]
    return " ".join(part for part in parts if part)


def _interval(case: Case, found: Mapping[str, Any]) -> str:
    claim = case.claim
    rule = (
        f"supported above {claim.supported_above:g}, "
        f"contradicted below {claim.contradicted_below:g}"
    )
    if found["effect"] is None:
        return ""
    bounds = "no interval"
    if found["low"] is not None:
        level = f"{100 * found['level']:.4g} %"
        bounds = f"{level} interval {short(found['low'])} to {short(found['high'])}"
    named, joined = "Effect", ""
    if len(case.measures) > 1:
        name = case.binding.name
        named = f"{name[:1].upper()}{name[1:]}:"
        joined = f" {_joined(case)}"
    return f"{named} {short(found['effect'])} ({bounds}; {rule}).{joined}"


def _joined(case: Case) -> str:
    count = "both" if len(case.measures) == 2 else f"all {len(case.measures)}"
    contradicts = "one of them is" if case.reading.any_contradicts else f"{count} are"
    return f"The claim is supported if {count} measures are, contradicted if {contradicts}."


def _reason(case: Case, found: Mapping[str, Any]) -> str:
    match found["reason"]:
        case "between the thresholds":
            return "Undecided: the effect lies between the thresholds."
        case "interval too wide":
            return f"Undecided: the interval is too wide.{_settle(found['would_settle'])}"
        case "the model guesses":
            return (
                "Undecided: the model guesses. Its balanced accuracy is not above that of chance, "
                "so its attention explains nothing."
            )
        case "too few models":
            count = found["models"] or 1
            return f"Undecided: {count} models are too few; {FEWEST_MODELS} are needed."
        case "too few documents":
            return f"Undecided: {found['n']} documents are too few; {FEWEST_DOCUMENTS} are needed."
        case "search too weak":
            return f"Undecided: the search is too weak.{_barred(case)}"
        case "reference too weak":
            return "Undecided: no reference is strong enough."
        case None:
            return ""
    return f"Undecided: {found['reason']}.{_barred(case)}"


def _barred(case: Case) -> str:
    barred = case.reading.support_barred
    return "" if barred is None else f" {barred.says}"


def _settle(settle: Mapping[str, int] | None) -> str:
    if settle is None:
        return " No affordable number of documents or models would settle it."
    amounts = " and ".join(f"{count:,} {unit}" for unit, count in settle.items())
    return f" About {amounts} would settle it, if the effect stays where it is."


def short(value: float) -> str:
    """Two decimals, or three for a number below 0.1; no minus sign before a zero."""
    digits = 2 if abs(value) >= 0.0995 or value == 0 else 3
    return f"{round(value, digits) + 0:.{digits}f}"
