"""The pronoun and sst_wiki tasks of Pruthi et al. 2020, in which the reason for the label is known.

`pronoun`: does a sentence of Wikipedia speak of a man or a woman? Every sentence holds a gendered
pronoun, which alone determines the label, and the rationale marks it. A model that hides its reason
must not attend to it.

`sst_wiki`: is a film sentence negative or positive, if a sentence of Wikipedia follows it? The
label belongs to the sentence of the Stanford Sentiment Treebank, and the rationale marks the words
of that sentence. A model that hides its reason must attend to the sentence of Wikipedia only.

Both files hold lines of a label, a tab and words separated by blanks.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import read_lines
from assay.data.locate import data_path, folder_with, require_file
from assay.data.splits import SPLITS
from assay.errors import UserError

PAPER = "Pruthi et al. 2020"
REPOSITORY = "github.com/danishpruthi/deceptive-attention"


def read_labeled_lines(
    path: Path, names: Mapping[str, str]
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield (line number, class, lower-cased words); `names` maps each label to its class."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            label, tab, text = line.partition("\t")
            if not tab or label not in names:
                raise UserError(
                    f"{path}, line {number}: '{line[:40]}' does not begin with "
                    f"{' or '.join(names)} and a tab: use the published file."
                )
            yield number, names[label], tuple(text.lower().split())


GENDERED = frozenset(("he", "him", "his", "himself", "she", "her", "hers", "herself"))
PRONOUN_LABELS = {"M": "man", "F": "woman"}


def read_pronoun(request: Request) -> Iterator[Raw]:
    """Yield the sentences of the three files, with the pronouns as rationale."""
    for split in SPLITS:
        path = require_file(data_path(request), f"{split}.txt")
        for number, label, tokens in read_labeled_lines(path, PRONOUN_LABELS):
            marked = tuple(token in GENDERED for token in tokens)
            yield Raw(f"{split}-{number}", tokens, label, split, rationale=marked)


PRONOUN = Source(
    name="pronoun",
    title=f"Sentences about a man or a woman, recognizable by a pronoun ({PAPER})",
    task="classification",
    size="9,017 train, 1,127 dev, 1,127 test",
    licence="sentences of Wikipedia, CC BY-SA; the selection has no stated license",
    reads="train.txt, dev.txt and test.txt: M or F, a tab, the sentence; plain or gzip",
    get=f"Get {REPOSITORY} and put its folder src/classification_tasks/data/pronoun into "
    "DATA/deceptive_attention.",
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
    """Yield the texts of the three files, with the words of the film sentence as rationale."""
    folder = data_path(request)
    for split, text, block in zip(SPLITS, TEXTS, BLOCKS, strict=True):
        marks = require_file(folder, block)
        lines = list(read_lines(marks))
        for number, label, tokens in read_labeled_lines(
            require_file(folder, text), SST_WIKI_LABELS
        ):
            line = lines[number - 1] if number <= len(lines) else ""
            marked = _marks(line, len(tokens), marks, number)
            yield Raw(f"{split}-{number}", tokens, label, split, rationale=marked)


def _marks(line: str, length: int, path: Path, number: int) -> tuple[bool, ...]:
    marks = line.split()
    if len(marks) != length or not set(marks) <= {"0", "1"}:
        raise UserError(
            f"{path}, line {number}: '{line[:40]}' does not have a 0 or 1 for each of the "
            f"{length} words of its text: use both files as published."
        )
    return tuple(mark == "1" for mark in marks)


SST_WIKI = Source(
    name="sst_wiki",
    title=f"Film sentences, each followed by an unrelated sentence of Wikipedia ({PAPER})",
    task="classification",
    size="6,920 train, 872 dev, 1,821 test",
    licence="SST: research use with citation; sentences of Wikipedia, CC BY-SA",
    reads="train.txt, dev.txt and test.txt: 0 or 1, a tab, the text; and the files .txt.block: 1 "
    "for every word of the film sentence, otherwise 0; plain or gzip",
    get=f"Get {REPOSITORY} and put its folder src/classification_tasks/data/sst-wiki into "
    "DATA/deceptive_attention.",
    read=read_sst_wiki,
    locate=folder_with(*TEXTS, *BLOCKS, folders=("deceptive_attention/sst-wiki", "sst-wiki")),
    classes=("negative", "positive"),
)
