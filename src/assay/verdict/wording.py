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
        f"supported above {short(claim.supported_above)}, "
        f"contradicted below {short(claim.contradicted_below)}"
    )
    if found["effect"] is None:
        return ""
    joined = ""
    if len(case.measures) > 1:
        every = "any of them" if case.reading.any_contradicts else "all of them"
        joined = (
            f" Supported if all {len(case.measures)} measures are, contradicted if {every} are."
        )
    bounds = "no interval"
    if found["low"] is not None:
        level = f"{found['level']:.2%}".replace(".00%", "%")
        bounds = f"{level} interval {short(found['low'])} to {short(found['high'])}"
    named = f"{case.binding.name}: " if len(case.measures) > 1 else "Effect "
    return f"{named}{short(found['effect'])} ({bounds}; {rule}).{joined}"


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
        case "search too weak" if case.reading.support_barred:
            return f"Undecided: the search is too weak. {case.reading.support_barred}"
        case None:
            return ""
    return f"Undecided: {found['reason']}."


def _settle(settle: Mapping[str, int] | None) -> str:
    if settle is None:
        return " No number of further documents or models alone would settle it."
    (unit, count), *_ = settle.items()
    return f" About {count:,} {unit} would settle it, if the effect stays where it is."


def short(value: float) -> str:
    """Two decimals, or three for a number below 0.1; no minus sign before a zero."""
    digits = 2 if abs(value) >= 0.0995 or value == 0 else 3
    return f"{round(value, digits) + 0:.{digits}f}"
