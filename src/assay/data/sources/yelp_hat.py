"""Is a Yelp review negative or positive, and which words did its readers highlight?

The human attention maps of Sen et al. 2020: each review was read by up to four people, who
highlighted words while they judged it. A word counts as marked where more than half of them
highlighted it; its punctuation does not. The files name no splits: we cut them.
"""

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from assay.data.corpus import Raw, Request, Source
from assay.data.files import read_csv_rows
from assay.data.locate import data_path
from assay.data.text import words
from assay.errors import UserError

CLASSES = ("negative", "positive")
COLUMNS = ("Input.label", "Input.text", "Answer.html_output")
PATTERN = "ham_part*.csv*"
FOLDERS = ("", "yelp_hat", "raw_data")
MAJORITY = 0.5
Map = tuple[bool, ...]


class _Highlights(HTMLParser):
    """The words of a map, each a span, and whether its class says that it was highlighted."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.spans: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "span":
            self.spans.append(("", dict(attrs).get("class") == "active"))

    def handle_data(self, data: str) -> None:
        """A browser's extension may have wrapped the word: its text is all the same."""
        if self.spans:
            word, active = self.spans[-1]
            self.spans[-1] = (word + data.strip(), active)


def read(request: Request) -> Iterator[Raw]:
    for path in sorted(data_path(request).glob(PATTERN)):
        stem = path.name.partition(".")[0]
        for number, ((label, text), maps) in enumerate(_readings(path).items(), 1):
            tokens, marked = _marked(text.split(), maps)
            yield Raw(f"{stem}-{number}", tokens, CLASSES[int(label)], rationale=marked)


def _readings(path: Path) -> dict[tuple[str, str], list[Map]]:
    """(label, text) -> one map per reader."""
    found: dict[tuple[str, str], list[Map]] = {}
    for number, (label, text, html) in enumerate(read_csv_rows(path, COLUMNS), 1):
        where = f"{path}, row {number}"
        if label not in ("0", "1"):
            raise UserError(f"{where}: the label '{label[:40]}' is neither 0 nor 1: mend it.")
        spans = [(word, active) for word, active in _Highlights(html).spans if word]
        if [word for word, _ in spans] != text.split():
            raise UserError(
                f"{where}: the map '{html[:60]}' does not have the words of the text "
                f"'{text[:40]}': take the file as it is published."
            )
        found.setdefault((label, text), []).append(tuple(active for _, active in spans))
    return found


def _marked(spelt: Sequence[str], maps: Sequence[Map]) -> tuple[tuple[str, ...], Map]:
    """Tokens, and which of them most readers highlighted with the word they stand in."""
    highlighted = np.mean(maps, axis=0) > MAJORITY
    parts = [(token, bool(h)) for word, h in zip(spelt, highlighted, strict=True)
             for token in words(word)]  # fmt: skip
    return tuple(token for token, _ in parts), tuple(h and t[-1].isalnum() for t, h in parts)


def locate(data: Path) -> Path | None:
    own = data.parent if data.is_file() and data.match(PATTERN) else data
    candidates = (own / folder for folder in FOLDERS)
    return next((folder for folder in candidates if any(folder.glob(PATTERN))), None)


SOURCE = Source(
    name="yelp_hat",
    title="Yelp reviews with the words their readers highlighted (Sen et al. 2020)",
    task="classification",
    size="1,545 reviews with 4,853 maps, in four of seven parts",
    licence="none stated; texts under Yelp's terms: academic, non-commercial use",
    reads="every ham_part*.csv with Input.label, Input.text and Answer.html_output; plain or gzip",
    get="Fetch raw_data of github.com/cansusen/Human-Attention-for-Text-Classification; put it "
    "into DATA/yelp_hat.",
    read=read,
    locate=locate,
    classes=CLASSES,
    min_df=2,
    group_near_duplicates=True,
)
