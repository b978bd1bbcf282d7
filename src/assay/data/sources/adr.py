"""Does a text report an adverse drug reaction?

The tweets of the paper are given out on request only: a CSV `text,label` (perhaps with
`exp_split`). The open ADE corpus stands in: sentences of case reports, split by article, the
drug and the effect of each positive sentence kept as its rationale.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import csv_header, find_file, read_csv_rows, read_lines
from assay.data.locate import first_of, data_path, folder_with, require_file
from assay.data.text import words, words_with_spans
from assay.errors import UserError

CLASSES = ("no reaction", "reaction")
TWEETS = ("adr.csv", "adr_dataset.csv", "tweet_dataset.csv")
NEGATIVE, POSITIVE = "ADE-NEG.txt", "DRUG-AE.rel"
_NEGATIVE_LINE = re.compile(r"(\d+) NEG\b\s*(.*)")
RELATION_FIELDS = 8


def read(request: Request) -> Iterator[Raw]:
    data = data_path(request)
    return _tweets(data) if data.is_file() else _case_reports(data, request)


def _tweets(path: Path) -> Iterator[Raw]:
    has_split = "exp_split" in csv_header(path)
    columns = ("text", "label", "exp_split") if has_split else ("text", "label")
    for number, row in enumerate(read_csv_rows(path, columns), 1):
        text, label = row[0], row[1]
        if label not in ("0", "1"):
            raise UserError(
                f"{path}, row {number}: the label '{label}' is neither 0 nor 1: mend it."
            )
        yield Raw(f"row-{number}", words(text), CLASSES[int(label)], row[2] if has_split else None)


def _case_reports(folder: Path, request: Request) -> Iterator[Raw]:
    marked = _relations(require_file(folder, POSITIVE))
    negative = require_file(folder, NEGATIVE)
    for number, ((article, sentence), spans) in enumerate(marked.items(), 1):
        tokens, rationale = _mark(sentence, spans)
        yield Raw(f"ade-{number}", tokens, CLASSES[1], rationale=rationale, group=article)
    seen = {sentence for _, sentence in marked}
    for number, line in enumerate(read_lines(negative), 1):
        found = _NEGATIVE_LINE.fullmatch(line.strip())
        if found is None:
            raise UserError(
                f"{negative}, line {number}: '{line[:40]}' is not `PMID NEG sentence`: "
                f"take the original {NEGATIVE}."
            )
        article, sentence = found.groups()
        if sentence in seen:
            request.dropped["the same sentence again"] += 1
            continue
        seen.add(sentence)
        yield Raw(f"neg-{number}", words(sentence), CLASSES[0], group=article)


def _relations(path: Path) -> dict[tuple[str, str], set[str]]:
    """(article, sentence) -> the effects and drugs that are annotated in it."""
    articles: dict[str, str] = {}
    marked: dict[tuple[str, str], set[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("|")
        if len(fields) != RELATION_FIELDS:
            raise UserError(
                f"{path}, line {number}: {len(fields)} fields between bars where "
                f"{RELATION_FIELDS} belong: take the original {POSITIVE}."
            )
        article = articles.setdefault(fields[1], fields[0])
        marked.setdefault((article, fields[1]), set()).update((fields[2], fields[5]))
    return marked


def _mark(sentence: str, spans: set[str]) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """Words, and whether each lies in an annotated drug or effect."""
    places = [
        found.span()
        for span in spans
        for found in re.finditer(rf"(?<!\w){re.escape(span.lower())}(?!\w)", sentence.lower())
    ]
    found = words_with_spans(sentence)
    inside = tuple(any(b < end and begin < e for b, e in places) for _, begin, end in found)
    return tuple(word for word, _, _ in found), inside


def _csv(data: Path) -> Path | None:
    return data if data.is_file() else find_file(data, *TWEETS) or find_file(data / "adr", *TWEETS)


SOURCE = Source(
    name="adr",
    title="Adverse drug reactions: tweets, or case reports (Gurulingappa et al. 2012)",
    task="classification",
    size="20,896 sentences of case reports",
    licence="none stated; cite Gurulingappa et al. 2012",
    reads="ADE-NEG.txt and DRUG-AE.rel, or your CSV text,label[,exp_split] (label 0 or 1)",
    get="Get ADE-Corpus-V2 (github.com/trunghlt/AdverseDrugReaction) into DATA/ade_corpus_v2, or "
    "put your CSV into DATA/adr/adr.csv.",
    read=read,
    locate=first_of(
        folder_with(NEGATIVE, POSITIVE, folders=("ade_corpus_v2", "adr", "ADE-Corpus-V2")), _csv
    ),
    classes=CLASSES,
    min_df=2,
    longer_than=5,
    shorter_than=100,
)
