"""What does each meaning of "explanation" allow to be said of this model's heat map?

The claims are grouped as the debate groups them. Each group gets one plain sentence; it is
derived from the findings alone, and there is no score over the groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.report.text import CLAUSES, NOTIONS, Notion
from assay.runs.directory import ClaimFinding
from assay.verdict import CLAIMS

MOST_NAMED = 2  # claims of one finding that a sentence spells out
OTHER = "other"  # a claim that this version does not know, and that names no notion
DECLARED: Mapping[str, str] = {claim.name: claim.notion for claim in CLAIMS}
TESTED = ("supported", "contradicted", "undecided")


@dataclass(frozen=True)
class Group:
    """The claims under one notion, with what they allow."""

    name: str
    asks: str
    sentence: str
    claims: tuple[ClaimFinding, ...]

    @property
    def tested(self) -> tuple[ClaimFinding, ...]:
        return tuple(claim for claim in self.claims if claim.finding in TESTED)

    @property
    def untested(self) -> tuple[ClaimFinding, ...]:
        return tuple(claim for claim in self.claims if claim.finding not in TESTED)


def grouped(verdict: Sequence[ClaimFinding]) -> list[Group]:
    """The notions that have a claim, in the order of the debate; unknown ones last."""
    found: dict[str, list[ClaimFinding]] = {name: [] for name in NOTIONS}
    for claim in verdict:
        found.setdefault(notion_of(claim), []).append(claim)
    return [_group(name, claims) for name, claims in found.items() if claims]


def notion_of(claim: ClaimFinding) -> str:
    """As the verdict says it; older ones did not, and their claims are known by name."""
    return claim.notion or DECLARED.get(claim.claim, OTHER)


def _group(name: str, claims: list[ClaimFinding]) -> Group:
    notion = NOTIONS.get(name, Notion("Other claims.", "it is so"))
    return Group(name, notion.asks, _sentence(notion, claims), tuple(claims))


def _sentence(notion: Notion, claims: list[ClaimFinding]) -> str:
    """What may be said, what may not, and what is open, in this order."""
    by = {finding: [c for c in claims if c.finding == finding] for finding in TESTED}
    if not any(by.values()):
        return f"Nothing was tested, so it may not be said that {notion.would_mean}."
    if by["contradicted"]:
        opening = f"It may not be said that {notion.would_mean}"
    elif len(by["supported"]) == len(claims):
        return f"It may be said that {notion.would_mean}: every claim held."
    elif by["supported"]:
        opening = f"That {notion.would_mean} may be said only in part"
    else:
        opening = f"It is open whether {notion.would_mean}"
    return f"{opening}: {_reasons(by)}."


def _reasons(by: dict[str, list[ClaimFinding]]) -> str:
    """The findings that decided, the gravest first; the first names who speaks."""
    spoken = {
        "contradicted": ("speak against the claim that", "that"),
        "supported": ("support that", "that"),
        "undecided": ("leave open whether", "whether"),
    }
    parts = [
        f"{verb} {_listed(by[finding], joint)}"
        for finding, (verb, joint) in spoken.items()
        if by[finding]
    ]
    return "; they ".join([f"the tests {parts[0]}", *parts[1:]])


def _listed(claims: list[ClaimFinding], joint: str) -> str:
    """The first clauses; the lines under the sentence name the others."""
    clauses = [_clause(claim) for claim in claims[:MOST_NAMED]]
    more = len(claims) - len(clauses)
    return f" and {joint} ".join(clauses) + (f" (and {more} more)" if more else "")


def _clause(claim: ClaimFinding) -> str:
    """The claim as it stands after "that": our words, else its own sentence fitted in."""
    said = (claim.says or claim.claim).rstrip(".")
    return CLAUSES.get(claim.claim) or said[:1].lower() + said[1:]
