"""Is a film sentence negative or positive, when a sentence of Wikipedia stands behind it?

The task of Pruthi et al. 2020 in which the place of the reason is known: the label is that of the
sentence from the Stanford Sentiment Treebank, and the rationale marks its words. A model that
hides its reason must attend to the sentence from Wikipedia alone.
"""

from collections.abc import Iterator
from pathlib import Path

from assay.corpora.needed import folder_of, needed_file
from assay.corpora.places import folder_with
from assay.corpora.source import Raw, Request, Source
from assay.corpora.splits import SPLITS
from assay.corpora.tabbed import CITED, FETCH, tabbed_lines
from assay.errors import UserError
from assay.files import read_lines

NAMES = {"0": "negative", "1": "positive"}
TEXTS = tuple(f"{split}.txt" for split in SPLITS)
BLOCKS = tuple(f"{split}.txt.block" for split in SPLITS)


def read(request: Request) -> Iterator[Raw]:
    folder = folder_of(request)
    for split, text, block in zip(SPLITS, TEXTS, BLOCKS, strict=True):
        marks = needed_file(folder, block)
        lines = list(read_lines(marks))
        for number, label, tokens in tabbed_lines(needed_file(folder, text), NAMES):
            line = lines[number - 1] if number <= len(lines) else ""
            marked = _marks(line, len(tokens), marks, number)
            yield Raw(f"{split}-{number}", tokens, label, split, rationale=marked)


def _marks(line: str, length: int, path: Path, number: int) -> tuple[bool, ...]:
    marks = line.split()
    if len(marks) != length or not set(marks) <= {"0", "1"}:
        raise UserError(
            f"{path}, line {number}: '{line[:40]}' does not have a 0 or 1 for each of the "
            f"{length} words of its text: take both files as they are published."
        )
    return tuple(mark == "1" for mark in marks)


SOURCE = Source(
    name="sst_wiki",
    title=f"film sentences, each before one of Wikipedia that attention is to keep to ({CITED})",
    task="classification",
    size="6,920 / 872 / 1,821",
    licence="SST: research use with citation; sentences of Wikipedia, CC BY-SA",
    reads="train.txt, dev.txt and test.txt: 0 or 1, a tab, the text; and beside each its .block: "
    "1 for every word of the film sentence, else 0; plain or gzip",
    get=f"{FETCH}sst-wiki into DATA/deceptive_attention.",
    read=read,
    locate=folder_with(*TEXTS, *BLOCKS, folders=("deceptive_attention/sst-wiki", "sst-wiki")),
    classes=("negative", "positive"),
)
