"""Texts that report an adverse drug reaction, or none.

The paper's tweets are available on request only, as a CSV with the columns `text` and `label`, and
possibly `exp_split`. The open ADE corpus replaces them: sentences of case reports, split by
article. The drug and the effect in each positive sentence are its rationale.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import find_file, read_lines
from assay.data.locate import data_path, first_of, folder_with, require_file
from assay.data.rows import csv_header, read_csv_rows
from assay.data.text import words, words_with_spans
from assay.errors import UserError

CLASSES = ("no reaction", "reaction")
TWEETS = ("adr.csv", "adr_dataset.csv", "tweet_dataset.csv")
NEGATIVE, POSITIVE = "ADE-NEG.txt", "DRUG-AE.rel"
_NEGATIVE_LINE = re.compile(r"(\d+) NEG\b\s*(.*)")
RELATION_FIELDS = 8


def read(request: Request) -> Iterator[Raw]:
    """Yield the tweets if the data is a file, otherwise the sentences of the ADE corpus."""
    data = data_path(request)
    return _tweets(data) if data.is_file() else _case_reports(data, request)


def _tweets(path: Path) -> Iterator[Raw]:
    has_split = "exp_split" in csv_header(path)
    columns = ("text", "label", "exp_split") if has_split else ("text", "label")
    for number, row in enumerate(read_csv_rows(path, columns), 1):
        text, label = row[0], row[1]
        if label not in ("0", "1"):
            raise UserError(
                f"{path}, row {number}: the label '{label}' is neither 0 nor 1: correct it."
            )
        yield Raw(f"row-{number}", words(text), CLASSES[int(label)], row[2] if has_split else None)


def _case_reports(folder: Path, request: Request) -> Iterator[Raw]:
    annotated = _relations(require_file(folder, POSITIVE))
    negative = require_file(folder, NEGATIVE)
    for number, ((article, sentence), phrases) in enumerate(annotated.items(), 1):
        tokens, rationale = _mark(sentence, phrases)
        yield Raw(f"ade-{number}", tokens, CLASSES[1], rationale=rationale, group=article)
    seen = {sentence for _, sentence in annotated}
    for number, line in enumerate(read_lines(negative), 1):
        match = _NEGATIVE_LINE.fullmatch(line.strip())
        if match is None:
            raise UserError(
                f"{negative}, line {number}: '{line[:40]}' is not `PMID NEG sentence`: "
                f"use the original {NEGATIVE}."
            )
        article, sentence = match.groups()
        if sentence in seen:
            request.dropped["the same sentence again"] += 1
            continue
        seen.add(sentence)
        yield Raw(f"neg-{number}", words(sentence), CLASSES[0], group=article)


def _relations(path: Path) -> dict[tuple[str, str], set[str]]:
    """(article, sentence) -> the effects and drugs annotated in it."""
    articles: dict[str, str] = {}
    annotated: dict[tuple[str, str], set[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("|")
        if len(fields) != RELATION_FIELDS:
            raise UserError(
                f"{path}, line {number}: {len(fields)} fields separated by |, but "
                f"{RELATION_FIELDS} are expected: use the original {POSITIVE}."
            )
        article = articles.setdefault(fields[1], fields[0])
        annotated.setdefault((article, fields[1]), set()).update((fields[2], fields[5]))
    return annotated


def _mark(sentence: str, phrases: set[str]) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """Words, and whether each is part of an annotated drug or effect."""
    spans = [
        match.span()
        for phrase in phrases
        for match in re.finditer(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", sentence.lower())
    ]
    found = words_with_spans(sentence)
    inside = tuple(any(b < end and start < e for b, e in spans) for _, start, end in found)
    return tuple(word for word, _, _ in found), inside


def _locate_csv(data: Path) -> Path | None:
    return data if data.is_file() else find_file(data, *TWEETS) or find_file(data / "adr", *TWEETS)


SOURCE = Source(
    name="adr",
    title="Adverse drug reactions in tweets or in case reports (Gurulingappa et al. 2012)",
    task="classification",
    size="20,896 sentences of case reports",
    licence="none stated; cite Gurulingappa et al. 2012",
    reads="ADE-NEG.txt and DRUG-AE.rel, or your CSV text,label[,exp_split] (label 0 or 1)",
    get="Get ADE-Corpus-V2 (github.com/trunghlt/AdverseDrugReaction) and put it into "
    "DATA/ade_corpus_v2, or put your CSV into DATA/adr/adr.csv.",
    read=read,
    locate=first_of(
        folder_with(NEGATIVE, POSITIVE, folders=("ade_corpus_v2", "adr", "ADE-Corpus-V2")),
        _locate_csv,
    ),
    classes=CLASSES,
    min_df=2,
    longer_than=5,
    shorter_than=100,
)
