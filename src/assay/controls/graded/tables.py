"""The tables and the figure of the graded controls, for the terminal and for the page."""

from collections.abc import Iterator, Sequence

from assay.controls.answers import padded_table
from assay.controls.graded.calibration import Proposal, propose
from assay.controls.graded.cases import GradedAnswer
from assay.controls.graded.families import DOSES, ONE_MODEL, ROLES, families_of
from assay.controls.graded.rates import (
    FINDINGS,
    AtDose,
    Count,
    OperatingCurve,
    operating_curve,
    operating_curves,
)
from assay.report.charts.operating import OperatingPanel, operating_figure
from assay.report.charts.style import Figure

FIGURE = "operating-curves"
RATE_COLUMNS = (
    "claim",
    "test family",
    "supported at dose 0",
    "contradicted at dose 1",
    "decided at 0 or 1",
    "effect rises",
    "",
)


def graded_lines(answers: Sequence[GradedAnswer]) -> Iterator[str]:
    """All tables: effects and thresholds of the calibration families, then the error rates."""
    calibration = operating_curves(answers, "calibration")
    if any(curve.doses for curve in calibration):
        yield from effect_lines(calibration)
        yield ""
        yield from proposal_lines(propose(answers))
        yield ""
    yield from family_lines(answers)
    yield ""
    test = operating_curves(answers, "test")
    if any(curve.doses for curve in test):
        for lines in (effect_lines, finding_lines, rate_lines):
            yield from lines(test)
            yield ""


def rate_lines(curves: Sequence[OperatingCurve]) -> Iterator[str]:
    """The error rates of every claim, and whether they are as low as wanted."""
    rows = [
        (
            curve.claim,
            curve.family,
            _share(curve.wrong_at_0),
            _share(curve.wrong_at_1),
            _share(curve.decided),
            "yes" if curve.rises else "no",
            _judgment(curve),
        )
        for curve in curves
        if curve.doses
    ]
    yield from padded_table(RATE_COLUMNS, rows)


def _judgment(curve: OperatingCurve) -> str:
    if curve.has_few_cases:
        return "fails" if any(curve.wrong()) else "too few cases"
    return "fails" if any(curve.faults()) else ""


def finding_lines(curves: Sequence[OperatingCurve]) -> Iterator[str]:
    """Supported / undecided / contradicted cases at every dose."""
    rows = [
        (curve.claim, *(_findings(curve.at(dose)) for dose in DOSES))
        for curve in curves
        if curve.doses
    ]
    yield from padded_table(("claim", *_dose_columns()), rows)


def effect_lines(curves: Sequence[OperatingCurve]) -> Iterator[str]:
    """The mean effect at every dose, with the 5th and the 95th percentile."""
    rows = [
        (curve.claim, curve.family, *(_effects(curve.at(dose)) for dose in DOSES))
        for curve in curves
        if curve.doses
    ]
    yield from padded_table(("claim", "family", *_dose_columns()), rows)


def family_lines(answers: Sequence[GradedAnswer]) -> Iterator[str]:
    """What falls with the dose of a family, claim by claim: the mean effects at every dose."""
    curves = [
        operating_curve(answers, claim, family.name, role)
        for role in ROLES
        for family in families_of(role)
        for claim in ONE_MODEL
    ]
    rows = [
        (curve.family, curve.role, curve.claim, *(_mean(curve.at(dose)) for dose in DOSES))
        for curve in curves
        if any(one.effects for one in curve.doses)
    ]
    yield from padded_table(("family", "role", "claim", *_dose_columns()), rows)


def proposal_lines(proposals: Sequence[Proposal]) -> Iterator[str]:
    """The thresholds that the calibration families propose, beside the present ones."""
    rows = [
        (
            one.claim,
            f"{one.decidable_above:.3f}",
            f"{one.decidable_below:.3f}",
            f"{one.lower:.3f}",
            f"{one.upper:.3f}",
            f"{one.lower_now:g}",
            f"{one.upper_now:g}",
        )
        for one in proposals
    ]
    head = (
        "claim",
        "dose 0 decidable from",
        "dose 1 decidable up to",
        "proposed lower",
        "proposed upper",
        "lower",
        "upper",
    )
    yield from padded_table(head, rows)


def fault_lines(curves: Sequence[OperatingCurve]) -> Iterator[str]:
    """One line per claim that fails, with what it fails."""
    for curve in curves:
        faults = list(curve.faults()) if curve.doses else []
        if faults:
            yield f"- **{curve.claim}** ({curve.family}): {'; '.join(faults)}."


def curve_figure(curves: Sequence[OperatingCurve]) -> Figure:
    """The operating curves of all claims."""
    panels = [
        OperatingPanel(
            curve.claim,
            f"{curve.family}, {curve.at(0.0).n} cases at dose 0",
            {
                one.dose: {finding: one.share(finding) for finding in FINDINGS}
                for one in curve.doses
            },
        )
        for curve in curves
        if curve.doses
    ]
    return operating_figure(FIGURE, panels)


def _dose_columns() -> list[str]:
    return [f"dose {dose:g}" for dose in DOSES]


def _share(count: Count) -> str:
    cases, of = count
    return f"{cases} of {of} ({cases / of:.0%})" if of else "-"


def _findings(at: AtDose) -> str:
    return " / ".join(str(at.findings.get(finding, 0)) for finding in FINDINGS) if at.n else "-"


def _mean(at: AtDose) -> str:
    return f"{at.mean:.2f}" if at.effects else "-"


def _effects(at: AtDose) -> str:
    if not at.effects:
        return "-"
    low, high = at.spread
    return f"{at.mean:.3f} [{low:.3f}, {high:.3f}]"
