"""Tests of the first screen: the three rows of sentences, and the strips of the claims."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from assay.report.page import render
from assay.report.sections.first_screen import (
    MARGIN,
    WIDTH,
    first_screen,
    strips,
    worded_effect,
)
from assay.runs.directory import ClaimFinding, read_run
from assay.verdict import CLAIMS
from assay.verdict.claim import Reason

BASE = ClaimFinding(
    claim="agrees",
    says="Attention orders the items as other importance measures do.",
    finding="supported",
    effect=0.7,
    low=0.65,
    high=0.75,
    yardstick=None,
    why="",
    probe="agreement",
    paper=None,
    n=100,
    supported_above=0.6,
    contradicted_below=0.4,
    unit="share of the way from shuffled to equal",
)


def test_every_finding_stands_in_its_row(shared_run: Path) -> None:
    verdict = (
        BASE,
        replace(BASE, claim="depends", finding="contradicted"),
        replace(
            BASE,
            claim="stable",
            finding="undecided",
            reason="interval too wide",
            would_settle="5 models",
        ),
        replace(BASE, claim="plausible", finding="not measured"),
    )
    screen = first_screen(replace(read_run(shared_run), verdict=verdict))
    assert [each.claim for each in screen.may] == ["agrees"]
    assert screen.may[0].sentence == "The heat map ranks the words as other methods do."
    assert screen.may_not[0].sentence.startswith("Do not say")
    assert screen.unknown[0].sentence == "Whether a model trained again attends to the same words."
    assert screen.unknown[0].note == "The interval is too wide; about 5 models would settle it."
    assert screen.untested == 1
    assert (
        screen.answer
        == "It may be said only in part that this heat map shows the reason for a prediction."
    )


@pytest.mark.parametrize(
    ("findings", "answer"),
    [
        (
            ("contradicted", "supported"),
            "Do not show this heat map as the reason for a prediction.",
        ),
        (("undecided", "not measured"), "It is not known whether this heat map shows"),
        (("not measured", "not measured"), "Nothing was tested, so do not say"),
        (("supported", "supported"), "It may be said that this heat map shows the reason"),
    ],
)
def test_the_question_of_the_page_is_answered(
    shared_run: Path, findings: tuple[str, str], answer: str
) -> None:
    """By the claims on faithfulness alone: the others say nothing about reasons."""
    names = ("agrees", "stable")
    verdict = [replace(BASE, claim=n, finding=f) for n, f in zip(names, findings, strict=True)]
    verdict += [replace(BASE, claim=n, finding="contradicted") for n in ("depends", "plausible")]
    found = first_screen(replace(read_run(shared_run), verdict=tuple(verdict))).answer
    assert found.startswith(answer)


@pytest.mark.parametrize("count", ["3 models", "462 documents"])
def test_what_a_test_needs_at_least_is_not_called_enough(shared_run: Path, count: str) -> None:
    reason = f"too few {count.split()[1]}"
    few = replace(BASE, finding="undecided", reason=reason, would_settle=count)
    (asked,) = first_screen(replace(read_run(shared_run), verdict=(few,))).unknown
    assert asked.note.endswith(f"; at least {count} are needed.")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_sentences_of_every_claim_fill_in(claim) -> None:
    for sentence in (claim.may_be_said, claim.may_not_be_said):
        said = sentence.format(word="sentence", words="sentences")
        assert said.endswith(".")
        assert "{" not in said
        assert "word" not in said  # items need not be words
    assert claim.may_not_be_said.startswith("Do not")
    assert claim.may_not_be_said.count(": ") == 1
    assert claim.contrary[0].isupper()
    assert claim.contrary.split()[0] not in ("It", "They", "This")  # it can stand alone
    assert claim.question[0].islower()
    assert not claim.question.endswith(".")


def test_an_effect_between_the_thresholds_is_told(shared_run: Path) -> None:
    between = replace(BASE, effect=0.5, finding="undecided", reason="between the thresholds")
    (question,) = first_screen(replace(read_run(shared_run), verdict=(between,))).unknown
    assert question.note == "The effect lies between the thresholds; more data cannot help."
    assert question.effect == "50 % of the way from chance to the same order"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_unit_has_words(claim) -> None:
    said = worded_effect(replace(BASE, unit=claim.unit))
    assert "TVD" not in said
    assert "JSD" not in said


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_of_an_undecided_claim_has_words(shared_run: Path, reason: str) -> None:
    open_claim = replace(BASE, finding="undecided", reason=reason)
    (question,) = first_screen(replace(read_run(shared_run), verdict=(open_claim,))).unknown
    assert question.note.endswith(".")
    assert not question.note.startswith(reason)


def test_a_strip_puts_thresholds_and_effect_in_their_order() -> None:
    strip = strips([BASE])["agrees"]
    assert strip.dot is not None
    assert MARGIN < strip.lower < strip.upper < strip.low < strip.dot < strip.high < WIDTH
    assert (strip.lower, strip.upper) == pytest.approx((65.2, 94.8))  # 0.4 and 0.6 on 0 to 1
    assert strip.label == (
        "effect 0.700, interval 0.650 to 0.750; contradicted below 0.4, supported above 0.6"
    )


def test_an_interval_beyond_the_strip_is_cut_with_arrows() -> None:
    strip = strips([replace(BASE, effect=-0.5, low=-2.0, high=1.5)])["agrees"]
    assert (strip.cut_low, strip.cut_high, strip.dot) == (True, True, None)
    assert (strip.low, strip.high) == (MARGIN, WIDTH - MARGIN)


def test_a_claim_without_effect_is_hatched_and_one_without_thresholds_has_no_strip() -> None:
    weak = replace(
        BASE, finding="undecided", effect=None, low=None, high=None, reason="reference too weak"
    )
    assert strips([weak])["agrees"].weak
    assert strips([weak])["agrees"].label.startswith("reference too weak")
    assert strips([replace(BASE, supported_above=None)]) == {}
    assert strips([replace(BASE, finding="not measured")]) == {}


def test_effects_are_given_with_their_unit_in_words() -> None:
    assert worded_effect(BASE) == "70 % of the way from chance to the same order"
    assert worded_effect(replace(BASE, unit="TVD", effect=0.0812)) == "8.1 points of probability"
    assert worded_effect(replace(BASE, unit="F1", effect=-0.016)) == "−1.6 points of F1"
    assert worded_effect(replace(BASE, unit="AUC", effect=0.63)) == "AUC 0.630"
    assert worded_effect(replace(BASE, unit="share of documents", effect=0.97)) == (
        "97 % of documents"
    )
    assert worded_effect(replace(BASE, effect=None)) == ""


def test_a_keyboard_reaches_the_documents_soon_when_every_claim_was_tested(
    shared_run: Path,
) -> None:
    """Links and summaries in front of them, on a wide screen, where the menu is hidden."""
    verdict = tuple(replace(BASE, claim=claim.name) for claim in CLAIMS)
    page = render(replace(read_run(shared_run), verdict=verdict))
    before = page.partition("<body>")[2].partition('<h2 id="documents">')[0]
    before = re.sub(r'<details class="menu">.*?</details>', "", before, flags=re.DOTALL)
    stops = re.findall(r'<a (?![^>]*tabindex="-1")|<summary|<button|tabindex="0"', before)
    assert len(CLAIMS) < len(stops) <= 15
