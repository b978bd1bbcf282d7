"""The verdict by notion: what each meaning of "explanation" allows to be said about a heat map.

The claims are grouped as the debate groups them. Each group gets one plain sentence, which follows
from the findings alone. There is no score over the groups.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.report.text import percent
from assay.runs.directory import ClaimFinding
from assay.runs.manifest import Manifest
from assay.verdict import CLAIMS, NOTIONS, Claim, Notion

OTHER = "other"  # the notion of a claim that this version does not know and that names none
DECLARED: Mapping[str, Claim] = {claim.name: claim for claim in CLAIMS}
TESTED = ("supported", "contradicted", "undecided")


@dataclass(frozen=True)
class NotionGroup:
    """The claims under one notion, and what they allow to be said."""

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


def counts(verdict: Sequence[ClaimFinding]) -> dict[str, int]:
    """How many claims have each finding; those that were tested always stand there."""
    found = Counter(claim.finding for claim in verdict)
    return {name: found[name] for name in (*TESTED, *sorted(found.keys() - set(TESTED)))}


def by_notion(verdict: Sequence[ClaimFinding]) -> list[NotionGroup]:
    """The notions that have a claim, in the order of the debate; unknown ones last."""
    found: dict[str, list[ClaimFinding]] = {name: [] for name in NOTIONS}
    for claim in verdict:
        found.setdefault(notion_of(claim), []).append(claim)
    return [_group(name, claims) for name, claims in found.items() if claims]


def guessing_sentence(manifest: Manifest) -> str | None:
    """What the first line must say of a model that does no better than guessing; else None."""
    test = manifest.test
    if not test.values.get("guesses"):
        return None
    reached, classes = test.number("balanced_accuracy"), len(manifest.classes)
    compared = "" if reached is None else f", {percent(reached)},"
    return (
        f"The model guesses: its balanced accuracy{compared} does not exceed the "
        f"{percent(1 / max(classes, 1))} of guessing among {classes} classes. A heat map of such a "
        "model has no prediction to explain."
    )


def notion_of(claim: ClaimFinding) -> str:
    """The notion that the verdict records; older verdicts have none, so it is looked up by name."""
    declared = DECLARED.get(claim.claim)
    return claim.notion or (OTHER if declared is None else declared.notion)


def _group(name: str, claims: list[ClaimFinding]) -> NotionGroup:
    notion = NOTIONS.get(name, Notion("Other claims.", "these claims hold"))
    return NotionGroup(name, notion.asks, _sentence(notion, claims), tuple(claims))


def _sentence(notion: Notion, claims: list[ClaimFinding]) -> str:
    """What may be said, what may not, and what is open, with every claim named."""
    found = {finding: [c for c in claims if c.finding == finding] for finding in TESTED}
    if not any(found.values()):
        return f"Nothing was tested, so do not say that {notion.would_mean}."
    if found["contradicted"]:
        opening = f"Do not say that {notion.would_mean}"
    elif len(found["supported"]) == len(claims):
        return f"It may be said that {notion.would_mean}: every claim is supported."
    elif found["supported"]:
        opening = f"It may be said only in part that {notion.would_mean}"
    else:
        opening = f"It is not known whether {notion.would_mean}"
    return f"{opening}. {_reasons(found)}"


def _reasons(found: dict[str, list[ClaimFinding]]) -> str:
    """The findings that decide, the gravest first, a sentence each."""
    verbs = {
        "contradicted": ("contradict that", "that"),
        "supported": ("support that", "that"),
        "undecided": ("leave open whether", "whether"),
    }
    parts = [
        f"{verb} {f', and {conjunction} '.join(map(_clause, found[finding]))}."
        for finding, (verb, conjunction) in verbs.items()
        if found[finding]
    ]
    return " They ".join([f"The tests {parts[0]}", *parts[1:]])


def _clause(claim: ClaimFinding) -> str:
    """The claim as it stands after "that": as declared, else its own sentence in lower case."""
    declared = DECLARED.get(claim.claim)
    if declared is not None:
        return declared.clause
    sentence = (claim.says or claim.claim).rstrip(".")
    return sentence[:1].lower() + sentence[1:]
