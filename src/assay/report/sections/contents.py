"""The table of contents: the rail on wide screens and the menu on phones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.report import text as words
from assay.report.sections.decisions import Decision

TITLES: Mapping[str, str] = {  # what a section is about, in a few words; a probe's name is none
    "agreement": "Other methods",
    "permutation": "Shuffled weights",
    "states": "States of the items",
    "adversary": "Furthest weights",
    "erase_one": "Without one item",
    "erase_order": "Erased in order",
    "input_erasure": "Erased from the text",
    "substitute": "Weights from a table",
    "uniform": "Equal weights",
    "seeds": "Trained again",
    "guide": "A simpler model",
    "imitation": "Look-alike models",
    "deception": "Trained to hide",
    "roar": "Without the top items",
    "fresh": "The top items alone",
    "sanity": "Learning taken away",
    "masked_training": "Masked training",
    "rationale": "What people mark",
    "identifiable": "Same output",
    "sinks": "Special tokens",
    "heads": "Head by head",
}


@dataclass(frozen=True)
class Entry:
    """A section of the evidence, with the findings of the claims that it decides."""

    anchor: str
    title: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """One part of the page; the evidence has an entry per section."""

    anchor: str
    title: str
    entries: tuple[Entry, ...] = ()


def contents(
    sections: Sequence[str],
    decided: Mapping[str, Sequence[Decision]],
    *,
    with_words: bool = False,
) -> list[Part]:
    """The parts of the page in their order."""
    entries = tuple(
        Entry(key, section_title(key), tuple(each.claim.finding for each in decided.get(key, ())))
        for key in sections
    )
    return [
        Part("summary", "Verdict"),
        Part("documents", "Documents"),
        *([Part("words", "Words")] if with_words else []),
        Part("evidence", "Evidence", entries),
        Part("made", "How it was made"),
    ]


def section_title(probe: str) -> str:
    """The short title of a probe's section; the name of a probe that is not ours."""
    return TITLES.get(probe, words.plain(probe))
