"""The table of contents: the rail on wide screens and the menu on phones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.report import text as words
from assay.report.sections.decisions import Decision


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
        Entry(key, words.plain(key), tuple(each.claim.finding for each in decided.get(key, ())))
        for key in sections
    )
    return [
        Part("summary", "Verdict"),
        Part("documents", "Documents"),
        *([Part("words", "Words")] if with_words else []),
        Part("evidence", "Evidence", entries),
        Part("made", "How it was made"),
    ]
