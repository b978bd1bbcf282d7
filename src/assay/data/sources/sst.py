"""Stanford Sentiment Treebank: is a film sentence negative or positive? Whole sentences only.

Trees with root 0 or 1 are negative, those with root 3 or 4 positive. Neutral sentences are left out
and counted.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import read_lines
from assay.data.locate import data_path, folder_with, require_file
from assay.data.splits import SPLITS
from assay.data.text import plain_words
from assay.errors import UserError

_ROOT = re.compile(r"\s*\(([0-4])\s")
_LEAF = re.compile(r"\([0-4] ([^()]+)\)")
_BRACKETS = ("-LRB-", "-RRB-")
NEUTRAL = 2


def read(request: Request) -> Iterator[Raw]:
    """Yield the sentences of the three files."""
    for split in SPLITS:
        path = require_file(data_path(request), f"{split}.txt")
        for number, line in enumerate(read_lines(path), 1):
            if line.strip():
                root, leaves = _tree(line, path, number)
                if root == NEUTRAL:
                    request.dropped["neutral"] += 1
                    continue
                label = "positive" if root > NEUTRAL else "negative"
                yield Raw(f"{split}-{number}", _clean(leaves), label, split)


def _tree(line: str, path: Path, number: int) -> tuple[int, list[str]]:
    root, leaves = _ROOT.match(line), _LEAF.findall(line)
    if root is None or not leaves or line.count("(") != line.count(")"):
        raise UserError(
            f"{path}, line {number}: '{line[:40]}' is not a labeled tree such as "
            "(3 (2 a) (4 joy)): use the Treebank's train.txt, dev.txt and test.txt."
        )
    return int(root.group(1)), leaves


def _clean(leaves: list[str]) -> tuple[str, ...]:
    return plain_words(" ".join(leaf for leaf in leaves if leaf not in _BRACKETS))


SOURCE = Source(
    name="sst",
    title="Stanford Sentiment Treebank: negative or positive (Socher et al. 2013)",
    task="classification",
    size="6,920 train, 872 dev, 1,821 test",
    licence="research use with citation; no formal license",
    reads="train.txt, dev.txt and test.txt, one labeled tree per line, plain or gzip",
    get="Get trainDevTestTrees_PTB.zip at nlp.stanford.edu/sentiment and put the three files "
    "into DATA/sst.",
    read=read,
    locate=folder_with(
        "train.txt", "dev.txt", "test.txt", folders=("sst", "SST", "sst/trees", "trees")
    ),
    classes=("negative", "positive"),
    longer_than=5,
)
