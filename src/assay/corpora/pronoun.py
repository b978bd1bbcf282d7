"""Is a sentence about a man or a woman? The pronoun tells, and nothing else must.

The task of Pruthi et al. 2020 in which the cause of the label is known: every sentence of
Wikipedia holds a gendered pronoun, and the rationale marks it. A model that hides its reason
must not attend there.
"""

from collections.abc import Iterator

from assay.corpora.needed import folder_of, needed_file
from assay.corpora.places import folder_with
from assay.corpora.source import Raw, Request, Source
from assay.corpora.splits import SPLITS
from assay.corpora.tabbed import CITED, FETCH, tabbed_lines

GENDERED = frozenset(("he", "him", "his", "himself", "she", "her", "hers", "herself"))
NAMES = {"M": "man", "F": "woman"}


def read(request: Request) -> Iterator[Raw]:
    for split in SPLITS:
        path = needed_file(folder_of(request), f"{split}.txt")
        for number, label, tokens in tabbed_lines(path, NAMES):
            marked = tuple(token in GENDERED for token in tokens)
            yield Raw(f"{split}-{number}", tokens, label, split, rationale=marked)


SOURCE = Source(
    name="pronoun",
    title=f"man or woman, told by a pronoun that attention is to avoid ({CITED})",
    task="classification",
    size="9,017 / 1,127 / 1,127",
    licence="sentences of Wikipedia, CC BY-SA; the selection has no stated licence",
    reads="train.txt, dev.txt and test.txt: M or F, a tab, the sentence; plain or gzip",
    get=f"{FETCH}pronoun into DATA/deceptive_attention.",
    read=read,
    locate=folder_with(
        "train.txt", "dev.txt", "test.txt", folders=("deceptive_attention/pronoun", "pronoun")
    ),
    classes=("man", "woman"),
)
