"""Yelp-HAT: Yelp reviews, positive or negative, with the words that people highlighted.

The human attention maps of Sen et al. 2020. Up to four people read each review and highlighted
words while they judged it. A word is marked if more than half of them highlighted it; its
punctuation is not marked. The files name no splits, so assay makes them.
"""

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from assay.data.corpus import Raw, Request, Source
from assay.data.locate import data_path
from assay.data.rows import read_csv_rows
from assay.data.text import words
from assay.errors import UserError

CLASSES = ("negative", "positive")
COLUMNS = ("Input.label", "Input.text", "Answer.html_output")
PATTERN = "ham_part*.csv*"
FOLDERS = ("", "yelp_hat", "raw_data")
MAJORITY = 0.5
Marks = tuple[bool, ...]


class _Highlights(HTMLParser):
    """Parser of an attention map: the word of each span, and whether it is highlighted."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.spans: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "span":
            self.spans.append(("", dict(attrs).get("class") == "active"))

    def handle_data(self, data: str) -> None:
        """Add text to the current word, also inside tags that a browser extension inserted."""
        if self.spans:
            word, active = self.spans[-1]
            self.spans[-1] = (word + data.strip(), active)


def read(request: Request) -> Iterator[Raw]:
    """Yield the reviews of all parts, with the highlighted words as rationale."""
    for path in sorted(data_path(request).glob(PATTERN)):
        stem = path.name.partition(".")[0]
        for number, ((label, text), maps) in enumerate(_maps_by_review(path).items(), 1):
            tokens, rationale = _majority(text.split(), maps)
            yield Raw(f"{stem}-{number}", tokens, CLASSES[int(label)], rationale=rationale)


def _maps_by_review(path: Path) -> dict[tuple[str, str], list[Marks]]:
    """(label, text) -> the highlights of each reader."""
    found: dict[tuple[str, str], list[Marks]] = {}
    for number, (label, text, html) in enumerate(read_csv_rows(path, COLUMNS), 1):
        where = f"{path}, row {number}"
        if label not in ("0", "1"):
            raise UserError(f"{where}: the label '{label[:40]}' is neither 0 nor 1: correct it.")
        spans = _spans(html)
        if [word for word, _ in spans] != text.split():
            raise UserError(
                f"{where}: the map '{html[:60]}' does not have the words of the text "
                f"'{text[:40]}': use the published file."
            )
        found.setdefault((label, text), []).append(tuple(active for _, active in spans))
    return found


def _spans(html: str) -> list[tuple[str, bool]]:
    """The words of a map, each with whether it is highlighted; none if the map is not HTML."""
    try:
        return [(word, active) for word, active in _Highlights(html).spans if word]
    except AssertionError:  # how the parser of the standard library reports broken declarations
        return []


def _majority(review: Sequence[str], maps: Sequence[Marks]) -> tuple[tuple[str, ...], Marks]:
    """Tokens, and whether most readers highlighted the word that each is part of."""
    highlighted = np.mean(maps, axis=0) > MAJORITY
    parts = [
        (token, bool(chosen))
        for word, chosen in zip(review, highlighted, strict=True)
        for token in words(word)
    ]
    tokens = tuple(token for token, _ in parts)
    return tokens, tuple(chosen and token[-1].isalnum() for token, chosen in parts)


def locate(data: Path) -> Path | None:
    """Find the folder with the parts."""
    own = data.parent if data.is_file() and data.match(PATTERN) else data
    candidates = (own / folder for folder in FOLDERS)
    return next((folder for folder in candidates if any(folder.glob(PATTERN))), None)


SOURCE = Source(
    name="yelp_hat",
    title="Yelp reviews with the words that people highlighted (Sen et al. 2020)",
    task="classification",
    size="1,545 reviews with 4,853 attention maps, in four of the seven parts",
    licence="none stated; texts under Yelp's terms: academic, non-commercial use",
    reads="every ham_part*.csv with Input.label, Input.text and Answer.html_output; plain or gzip",
    get="Get github.com/cansusen/Human-Attention-for-Text-Classification and put the files of its "
    "folder raw_data into DATA/yelp_hat.",
    read=read,
    locate=locate,
    classes=CLASSES,
    min_df=2,
    group_near_duplicates=True,
)
