"""The verdict by notion: what each meaning of "explanation" allows to be said about a heat map.

The claims are grouped as the debate groups them. Each group gets a few plain sentences, which
follow from the findings alone. There is no score over the groups.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.report.text import percent
from assay.runs.directory import ClaimFinding, RunRecord
from assay.runs.manifest import Manifest
from assay.verdict import CLAIMS, NOTIONS, Claim, Notion

OTHER = "other"  # the notion of a claim that this version does not know and that names none
DECLARED: Mapping[str, Claim] = {claim.name: claim for claim in CLAIMS}
TESTED = ("supported", "contradicted", "undecided")
FAITHFULNESS = "faithfulness"  # the notion that the page's title asks about


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


def item_word(run: RunRecord) -> str:
    """What one item of a document is called."""
    return "sentence" if "words" in run.instances.columns else "word"


def by_notion(verdict: Sequence[ClaimFinding], word: str = "item") -> list[NotionGroup]:
    """The notions that have a claim, in the order of the debate; unknown ones last."""
    found: dict[str, list[ClaimFinding]] = {name: [] for name in NOTIONS}
    for claim in verdict:
        found.setdefault(notion_of(claim), []).append(claim)
    return [_group(name, claims, word) for name, claims in found.items() if claims]


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


def _group(name: str, claims: list[ClaimFinding], word: str) -> NotionGroup:
    return NotionGroup(name, _notion(name).asks, " ".join(_sentences(claims, word)), tuple(claims))


def _notion(name: str) -> Notion:
    other = Notion("Other claims.", "these claims hold", "Do not say that these claims hold.")
    return NOTIONS.get(name, other)


def answer(claims: Sequence[ClaimFinding]) -> str:
    """What follows for one notion: whether a heat map may be shown as what it asks about."""
    notion = _notion(notion_of(claims[0]))
    found = {claim.finding for claim in claims}
    if found.isdisjoint(TESTED):
        return f"Nothing was tested, so do not say that {notion.would_mean}."
    if "contradicted" in found:
        return notion.refrain
    if found == {"supported"}:
        return f"It may be said that {notion.would_mean}: every claim is supported."
    if "supported" in found:
        return f"It may be said only in part that {notion.would_mean}."
    return f"It is not known whether {notion.would_mean}."


def page_answer(verdict: Sequence[ClaimFinding]) -> str:
    """The answer to the question of the page, by the claims on faithfulness; empty without any."""
    faithful = [claim for claim in verdict if notion_of(claim) == FAITHFULNESS]
    return answer(faithful) if faithful else ""


def _sentences(claims: list[ClaimFinding], word: str) -> Iterator[str]:
    """The answer, then every claim: what speaks against it, what may be said, what is open."""
    found = {finding: [c for c in claims if c.finding == finding] for finding in TESTED}
    yield answer(claims)
    if len(found["supported"]) == len(claims):
        return
    yield from (said(claim, word) for claim in found["contradicted"])
    if found["supported"]:
        yield "But this may be said:" if found["contradicted"] else "This may be said:"
        yield from (said(claim, word) for claim in found["supported"])
    if found["undecided"]:
        questions = [f"whether {question(claim, word)}" for claim in found["undecided"]]
        yield f"It is open {'; '.join(questions)}."


def said(claim: ClaimFinding, word: str) -> str:
    """The finding of a decided claim as a sentence of its own."""
    declared = DECLARED.get(claim.claim)
    if declared is None:
        sentence = (claim.says or claim.claim).rstrip(".")
        return f"{'Contradicted: ' if claim.finding == 'contradicted' else ''}{sentence}."
    sentence = declared.may_be_said if claim.finding == "supported" else declared.contrary
    return sentence.format(word=word, words=f"{word}s")


def question(claim: ClaimFinding, word: str) -> str:
    """What is open, as it stands after "whether"; of an unknown claim, what the run recorded."""
    declared = DECLARED.get(claim.claim)
    if declared is not None:
        return declared.question.format(word=word, words=f"{word}s")
    sentence = (claim.says or claim.claim).rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def as_told(claim: ClaimFinding, word: str) -> str:
    """A claim and its finding as one sentence that can stand alone, on the screen or in a line."""
    declared = DECLARED.get(claim.claim)
    if claim.finding not in ("supported", "contradicted"):
        opening = "Not known" if claim.finding == "undecided" else "Not tested"
        return f"{opening}: whether {question(claim, word)}."
    if declared is None:
        return said(claim, word)
    sentence = declared.may_be_said if claim.finding == "supported" else declared.may_not_be_said
    return sentence.format(word=word, words=f"{word}s")
