"""Requirements on the verdict, for continuous integration: which findings a team accepts.

A requirement names a claim and a finding, `supported`, or a finding that must not be, such as
`not contradicted`. A claim that was not measured meets no requirement: a check that passes because
nothing was looked at would be worse than none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import UserError, nearest
from assay.runs.directory import ClaimFinding
from assay.verdict import CLAIMS

TESTED = ("supported", "contradicted", "undecided")
NOT = "not "
WANTED = (*TESTED, *(NOT + finding for finding in TESTED))
EXAMPLE = "'top weight matters=not contradicted'"


@dataclass(frozen=True)
class Requirement:
    """The finding that one claim must have, or must not have."""

    claim: str
    wanted: str  # a finding of `TESTED`, or "not " and one of them

    def met_by(self, finding: str) -> bool:
        """Whether a claim with this finding meets the requirement."""
        if finding not in TESTED:
            return False
        if self.wanted.startswith(NOT):
            return finding != self.wanted.removeprefix(NOT)
        return finding == self.wanted


@dataclass(frozen=True)
class Failure:
    """A requirement that is not met, with what was found."""

    requirement: Requirement
    found: ClaimFinding

    def __str__(self) -> str:
        claim, found = self.requirement.claim, self.found
        effect = f" Effect {_effect(found)}." if found.effect is not None else ""
        return (
            f"{claim}: {found.finding}, required: {self.requirement.wanted}.{effect} {found.why}"
        ).strip()


def parse_requirements(given: Iterable[str]) -> list[Requirement]:
    """Requirements as written on the command line, CLAIM=FINDING each."""
    claims: dict[str, str] = {}
    for text in given:
        name, equals, wanted = text.rpartition("=")
        claim = name.strip()
        if not equals:
            raise UserError(f"--require '{text}' is no CLAIM=FINDING: write for example {EXAMPLE}.")
        if claim in claims:
            raise UserError(
                f"two findings are required of '{claim}' ('{claims[claim]}' and '{wanted}'): pass "
                "--require once for each claim."
            )
        claims[claim] = wanted
    return requirements(claims)


def requirements(claims: Mapping[str, str]) -> list[Requirement]:
    """Requirements by claim; unknown claims and findings are refused, all at once."""
    known = [claim.name for claim in CLAIMS]
    found = {claim.strip(): " ".join(wanted.split()) for claim, wanted in claims.items()}
    faults = [
        f"there is no claim '{name}': {nearest(name, known)}."
        for name in found
        if name not in known
    ]
    faults += [
        f"'{wanted}' cannot be required of '{name}': {nearest(wanted, WANTED)}."
        for name, wanted in found.items()
        if wanted not in WANTED
    ]
    if faults:
        raise UserError("\n       ".join(faults))
    if not found:
        raise UserError("no claim is required: name at least one, for example " + EXAMPLE + ".")
    return [Requirement(name, wanted) for name, wanted in found.items()]


def probes_for(required: Sequence[Requirement]) -> tuple[str, ...]:
    """The probes that the claims of the requirements are read from."""
    names = {each.claim for each in required}
    read = [(c.probe, *c.also_reads) for c in CLAIMS if c.name in names]
    return tuple(dict.fromkeys(probe for probes in read for probe in probes))


def refuse_unmeasured(
    required: Sequence[Requirement], probes: Iterable[str], *, trainer: bool
) -> None:
    """Raise an error if the probe of a required claim is not asked: nothing could meet it."""
    asked, claims = set(probes), {claim.name: claim for claim in CLAIMS}
    faults = [
        f"--require '{each.claim}={each.wanted}' needs the probe {claims[each.claim].probe}: "
        + (
            "it trains further models, so add --trainer."
            if claims[each.claim].several_models and not trainer
            else "add it to --probes."
        )
        for each in required
        if claims[each.claim].probe not in asked
    ]
    if faults:
        raise UserError("\n       ".join(faults))


def failures(required: Sequence[Requirement], verdict: Sequence[ClaimFinding]) -> list[Failure]:
    """The requirements that are not met, in their order."""
    found = {claim.claim: claim for claim in verdict}
    return [
        Failure(each, found[each.claim])
        for each in required
        if not each.met_by(found[each.claim].finding)
    ]


def _effect(found: ClaimFinding) -> str:
    bounds = "" if found.low is None else f" [{found.low:.3g}, {found.high:.3g}]"
    unit = f" ({found.unit})" if found.unit else ""
    return f"{found.effect:.3g}{bounds}{unit}"
