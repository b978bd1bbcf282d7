"""The section on words: which the model over-reads and under-reads, in sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.text import in_figure
from assay.report.vocabulary import (
    FEWEST_DOCUMENTS,
    WordUse,
    is_measured,
    occurrences,
    over_read,
    under_read,
    word_uses,
)
from assay.runs.directory import RunRecord

NAME = "words"


@dataclass(frozen=True)
class NamedWord:
    """A word with its two shares, as the page lists it."""

    word: str
    documents: int
    attention: float
    effect: float


@dataclass(frozen=True)
class WordsSection:
    over: tuple[NamedWord, ...]
    under: tuple[NamedWord, ...]
    fewest: int = FEWEST_DOCUMENTS


def words_section(run: RunRecord) -> WordsSection | None:
    """The words at both ends; None where there is nothing to compare."""
    if not is_measured(run):
        return None
    uses = word_uses(occurrences(run))
    return WordsSection(_named(over_read(uses)), _named(under_read(uses))) if uses else None


def _named(uses: Sequence[WordUse]) -> tuple[NamedWord, ...]:
    return tuple(
        NamedWord(in_figure(use.word), use.documents, use.attention, use.effect) for use in uses
    )
