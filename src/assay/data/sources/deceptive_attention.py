"""How are the tasks of Pruthi et al. 2020 written down: label, tab, words between blanks?

Is a sentence about a man or a woman? The pronoun tells, and nothing else must.

The task of Pruthi et al. 2020 in which the cause of the label is known: every sentence of
Wikipedia holds a gendered pronoun, and the rationale marks it. A model that hides its reason
must not attend there.

Is a film sentence negative or positive, when a sentence of Wikipedia stands behind it?

The task of Pruthi et al. 2020 in which the place of the reason is known: the label is that of the
sentence from the Stanford Sentiment Treebank, and the rationale marks its words. A model that
hides its reason must attend to the sentence from Wikipedia alone.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import read_lines
from assay.data.locate import data_path, folder_with, require_file
from assay.data.splits import SPLITS
from assay.errors import UserError

CITED = "Pruthi et al. 2020"
FETCH = "Fetch src/classification_tasks/data of github.com/danishpruthi/deceptive-attention; put "


def tabbed_lines(
    path: Path, names: Mapping[str, str]
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """(line number, class, words in lower case); `names` has the class of each label."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            label, tab, text = line.partition("\t")
            if not tab or label not in names:
                raise UserError(
                    f"{path}, line {number}: '{line[:40]}' does not begin with "
                    f"{' or '.join(names)} and a tab: take the file as it is published."
                )
            yield number, names[label], tuple(text.lower().split())


GENDERED = frozenset(("he", "him", "his", "himself", "she", "her", "hers", "herself"))
PRONOUN_LABELS = {"M": "man", "F": "woman"}


def read_pronoun(request: Request) -> Iterator[Raw]:
    for split in SPLITS:
        path = require_file(data_path(request), f"{split}.txt")
        for number, label, tokens in tabbed_lines(path, PRONOUN_LABELS):
            marked = tuple(token in GENDERED for token in tokens)
            yield Raw(f"{split}-{number}", tokens, label, split, rationale=marked)


PRONOUN = Source(
    name="pronoun",
    title=f"man or woman, told by a pronoun that attention is to avoid ({CITED})",
    task="classification",
    size="9,017 / 1,127 / 1,127",
    licence="sentences of Wikipedia, CC BY-SA; the selection has no stated licence",
    reads="train.txt, dev.txt and test.txt: M or F, a tab, the sentence; plain or gzip",
    get=f"{FETCH}pronoun into DATA/deceptive_attention.",
    read=read_pronoun,
    locate=folder_with(
        "train.txt", "dev.txt", "test.txt", folders=("deceptive_attention/pronoun", "pronoun")
    ),
    classes=("man", "woman"),
)
SST_WIKI_LABELS = {"0": "negative", "1": "positive"}
TEXTS = tuple(f"{split}.txt" for split in SPLITS)
BLOCKS = tuple(f"{split}.txt.block" for split in SPLITS)


def read_sst_wiki(request: Request) -> Iterator[Raw]:
    folder = data_path(request)
    for split, text, block in zip(SPLITS, TEXTS, BLOCKS, strict=True):
        marks = require_file(folder, block)
        lines = list(read_lines(marks))
        for number, label, tokens in tabbed_lines(require_file(folder, text), SST_WIKI_LABELS):
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


SST_WIKI = Source(
    name="sst_wiki",
    title=f"film sentences, each before one of Wikipedia that attention is to keep to ({CITED})",
    task="classification",
    size="6,920 / 872 / 1,821",
    licence="SST: research use with citation; sentences of Wikipedia, CC BY-SA",
    reads="train.txt, dev.txt and test.txt: 0 or 1, a tab, the text; and beside each its .block: "
    "1 for every word of the film sentence, else 0; plain or gzip",
    get=f"{FETCH}sst-wiki into DATA/deceptive_attention.",
    read=read_sst_wiki,
    locate=folder_with(*TEXTS, *BLOCKS, folders=("deceptive_attention/sst-wiki", "sst-wiki")),
    classes=("negative", "positive"),
)
