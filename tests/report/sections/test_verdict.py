"""Claims by notion, and the sentence that sums up each notion."""

from collections import Counter

import pytest

from assay.report.sections.verdict import DECLARED, by_notion, counts, guessing_sentence
from assay.runs.directory import ClaimFinding
from assay.runs.manifest import Fields, Manifest
from assay.verdict import CLAIMS, NOTIONS


def claim(name: str, finding: str, notion: str | None = None) -> ClaimFinding:
    return ClaimFinding(
        name, f"{name} says.", finding, 0.5, 0.4, 0.6, None, "", None, None, 9, notion
    )


def sentence_of(one: ClaimFinding) -> str:
    """What a group must say of a claim that was tested, in the words of its declaration."""
    declared = DECLARED[one.claim]
    wanted = {
        "supported": declared.may_be_said,
        "contradicted": declared.contrary,
        "undecided": f"whether {declared.question}",
    }
    return wanted[one.finding].format(word="item", words="items")


def test_claims_stand_under_their_notions() -> None:
    verdict = [claim(name, "supported") for name in DECLARED]
    groups = by_notion(verdict)
    assert [group.name for group in groups] == list(NOTIONS)
    declared = Counter(claim.notion for claim in CLAIMS)
    assert {group.name: len(group.claims) for group in groups} == declared
    assert all(group.sentence.startswith("It may be said that") for group in groups)


def test_the_recorded_notion_takes_precedence() -> None:
    (group,) = by_notion([claim("agrees", "undecided", "plausibility")])
    assert group.name == "plausibility"


@pytest.mark.parametrize(
    ("findings", "opening"),
    [
        (("contradicted", "supported"), "Do not show this heat map as the reason"),
        (("supported", "undecided"), "It may be said only in part"),
        (("supported", "not measured"), "It may be said only in part"),
        (("undecided", "not measured"), "It is not known whether"),
        (("not measured", "not applicable"), "Nothing was tested"),
        (("supported", "supported"), "every claim is supported"),
    ],
)
def test_one_sentence_says_what_may_be_said(findings: tuple[str, str], opening: str) -> None:
    (group,) = by_notion([claim("agrees", findings[0]), claim("stable", findings[1])])
    assert opening in group.sentence
    for one in group.tested:
        if opening != "every claim is supported":
            assert sentence_of(one) in group.sentence


def test_every_claim_is_named() -> None:
    verdict = [claim(name, "undecided") for name in DECLARED]
    for group in by_notion(verdict):
        assert all(sentence_of(one) in group.sentence for one in group.claims)


def test_findings_are_said_one_by_one_and_without_double_negations() -> None:
    verdict = [
        claim("agrees", "undecided"),
        claim("exclusive per instance", "contradicted"),
        claim("stable", "contradicted"),
        claim("sufficient", "supported"),
        claim("order is efficient", "undecided"),
    ]
    (group,) = by_notion(verdict, "word")
    assert group.sentence == (
        "Do not show this heat map as the reason for a prediction. Very different weights give the "
        "same answer. A model trained again attends to other words. But this may be said: The "
        "prediction stays if only the darkest words keep their weight. It is open whether the heat "
        "map ranks the words as other methods do; whether taking out the darkest words first "
        "changes the decision soon."
    )


def test_a_claim_of_another_version_is_said_as_recorded() -> None:
    (group,) = by_notion([claim("newer", "contradicted"), claim("newest", "undecided")])
    assert group.sentence == (
        "Do not say that these claims hold. Contradicted: newer says. It is open whether newest "
        "says."
    )


def manifest(**test: object) -> Manifest:
    values = {"test": test, "corpus": {"classes": ["down", "up"]}}
    return Manifest(Fields("run.json", values))


def test_a_model_that_guesses_is_named_first() -> None:
    sentence = guessing_sentence(manifest(guesses=True, balanced_accuracy=0.508))
    assert sentence is not None
    assert "50.8 %" in sentence
    assert "50.0 % of guessing among 2 classes" in sentence


def test_a_model_that_does_not_guess_is_not_mentioned() -> None:
    assert guessing_sentence(manifest(guesses=False, balanced_accuracy=0.8)) is None
    assert guessing_sentence(manifest()) is None


def test_the_count_names_every_finding_that_occurs_and_all_that_decide() -> None:
    verdict = [claim("agrees", "undecided"), claim("stable", "not measured")]
    assert counts(verdict) == {
        "supported": 0,
        "contradicted": 0,
        "undecided": 1,
        "not measured": 1,
    }
