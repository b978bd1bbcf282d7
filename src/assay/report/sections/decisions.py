"""What decides each claim: its strip, and the rows of `summary.csv` that its formula reads.

A section of the evidence opens with the claims that its probe decides. Every number of a claim can
be found again: the formula names the rows, and the rows stand here with their values.
"""

from dataclasses import dataclass
from statistics import fmean

from assay.report import text as words
from assay.report.sections.first_screen import Strip, strips
from assay.report.sections.tables import EVERYTHING
from assay.report.sections.verdict import DECLARED, TESTED
from assay.runs.directory import ClaimFinding, RunRecord, SummaryRow
from assay.verdict.formula import TERM


@dataclass(frozen=True)
class FormulaInput:
    """One term of a formula, in words, with its value in the summary."""

    term: str
    meaning: str
    value: float


@dataclass(frozen=True)
class Decision:
    """A claim that was tested, as its section shows it."""

    claim: ClaimFinding
    strip: Strip | None
    effect_label: str
    inputs: tuple[FormulaInput, ...]


def decisions(run: RunRecord) -> dict[str, tuple[Decision, ...]]:
    """The tested claims by the probe that decides them; the empty name if none is recorded."""
    drawn = strips(run.verdict)
    found: dict[str, list[Decision]] = {}
    for claim in run.verdict:
        if claim.finding in TESTED:
            found.setdefault(claim.probe or "", []).append(_decision(claim, drawn, run))
    return {probe: tuple(claims) for probe, claims in found.items()}


def _decision(claim: ClaimFinding, drawn: dict[str, Strip], run: RunRecord) -> Decision:
    declared = DECLARED.get(claim.claim)
    label = "" if declared is None or claim.effect is None else declared.effect_label
    return Decision(claim, drawn.get(claim.claim), label, formula_inputs(claim, run.summary))


def formula_inputs(
    claim: ClaimFinding, summary: tuple[SummaryRow, ...]
) -> tuple[FormulaInput, ...]:
    """The terms of a claim's formula, each once, as far as the summary has their rows."""
    if claim.formula is None:
        return ()
    own = [row for row in summary if (row.probe, row.predicted) == (claim.probe, EVERYTHING)]
    found = {}
    for term in TERM.finditer(claim.formula):
        rows = [
            row
            for row in own
            if (row.statistic, row.quantity) == (term["statistic"], term["quantity"])
            and row.value is not None
            and (term["group"] == "*" or row.group == term["group"])
        ]
        values = [row.value for row in rows if row.value is not None]
        if values:
            found[term[0]] = FormulaInput(term[0], _meaning(rows[0], term["group"]), fmean(values))
    return tuple(found.values())


def _meaning(row: SummaryRow, group: str | None) -> str:
    statistic = words.statistic(row.statistic)
    varied = {None: "", "*": ", mean over all groups"}.get(
        group, f", {words.group(group or '', row.probe)}"
    )
    return f"{words.quantity(row.probe, row.quantity, row.meaning)}{varied} ({statistic})"
