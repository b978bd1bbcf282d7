"""The sentences of a verdict: the numbers, the rule, and why a claim stayed undecided."""

import re
from collections.abc import Mapping
from typing import Any

from assay.verdict.case import Case
from assay.verdict.claim import FEWEST_DOCUMENTS, FEWEST_MODELS

NUMBER = re.compile(r"\d[\d,]*")


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
        name = case.binding.said
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
            return _between(case)
        case "interval too wide":
            return f"Undecided: the interval is too wide.{_settle(case, found['would_settle'])}"
        case "the model guesses":
            return (
                "Undecided: the model guesses. Its balanced accuracy is not above that of chance, "
                "so its attention explains nothing."
            )
        case "too few models":
            count = found["models"] or 1
            return f"Undecided: {count} models are too few; {FEWEST_MODELS} are needed."
        case "too few documents":
            needed = found["would_settle"]["documents"]
            takes = f", which takes about {roughly(f'{needed:,}')} in all"
            whole = "" if needed == FEWEST_DOCUMENTS else takes
            return (
                f"Undecided: {found['n']} documents are too few; {FEWEST_DOCUMENTS} are "
                f"needed{whole}."
            )
        case "search too weak":
            return f"Undecided: the search is too weak.{_barred(case)}"
        case "reference too weak":
            return "Undecided: no other method is reliable enough to judge attention."
        case None:
            return ""
    return f"Undecided: {found['reason']}.{_barred(case)}"


def _between(case: Case) -> str:
    """Where the effect lies, or which of several measures lie where."""
    low, high = case.claim.contradicted_below, case.claim.supported_above
    places: dict[str, list[str]] = {
        f"Above {high:g}": [],
        f"Between {low:g} and {high:g}": [],
        f"Below {low:g}": [],
    }
    above, between, below = places.values()
    for each in case.measures:
        value = each.estimate.value
        (above if value > high else below if value < low else between).append(each.said)
    if len(between) == len(case.measures):
        subject = "the effect lies" if len(between) == 1 else "all measures lie"
        return (
            f"Undecided: {subject} between the thresholds, neither above {high:g}, as the claim "
            f"requires, nor below {low:g}, which would contradict it."
        )
    if len(above) == len(case.measures):
        return f"Undecided, although the effect lies above {high:g}.{_barred(case)}"
    found = " ".join(f"{place}: {', '.join(names)}." for place, names in places.items() if names)
    return f"Undecided: the measures do not all lie on one side. {found}"


def _barred(case: Case) -> str:
    barred = case.reading.support_barred
    return "" if barred is None else f" {barred.says}"


def _settle(case: Case, settle: Mapping[str, int] | None) -> str:
    if case.reading.fixed_sample:
        return (
            f" It is measured on a sample of {case.n} documents, because each takes long; more "
            "documents would not make the sample larger."
        )
    if settle is None:
        return " No affordable number of documents or models would settle it."
    amounts = " and ".join(f"{count:,} {unit}" for unit, count in settle.items())
    return f" About {roughly(amounts)} would settle it, if the effect stays where it is."


def roughly(amounts: str) -> str:
    """The numbers of a text in two digits: a plan is not exact to the document."""
    return NUMBER.sub(lambda found: f"{float(f'{_plain(found[0]):.2g}'):,.0f}", amounts)


def _plain(number: str) -> int:
    return int(number.replace(",", ""))


def percent(value: float) -> str:
    """A share as the page writes it: "62 %"."""
    return f"{100 * value:.0f} %"


def points(value: float) -> str:
    """A total variation distance as a reader says it, with its name and number."""
    return f"{round(100 * value, 1) + 0:.1f} points of probability (TVD {short(value)})"


def short(value: float) -> str:
    """Two decimals, or three for a number below 0.1; no minus sign before a zero."""
    digits = 2 if abs(value) >= 0.0995 or value == 0 else 3
    return f"{round(value, digits) + 0:.{digits}f}"
